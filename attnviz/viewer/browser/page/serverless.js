// A pass on a page without a server: its position is stored in the hash of the address, and actions that need a server show a notice.
import { h, makeFlash } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { readWhere } from "../model/address.js";
import { makeTemplates } from "../shell/templates.js";
import { mount } from "../views/viewer.js";

const START = "start"; // stands for a position without parameters: an empty hash means that none was written

// The address of a viewer, for mount(), in the hash. Where the page may not write that, as in a notebook, it is kept in memory.
export function hashOf(window) {
  let fallback = /** @type {string | null} */ (null);
  return {
    read() {
      const text = fallback ?? window.location.hash.slice(1);
      return text && `?${text}`;
    },
    write(search, isNewPlace) {
      const text = search.slice(1) || START;
      try {
        window.history[isNewPlace ? "pushState" : "replaceState"](null, "", `#${text}`);
      } catch {
        fallback = text;
      }
    },
    onNavigate(listener) {
      window.addEventListener("hashchange", listener);
      return () => window.removeEventListener("hashchange", listener);
    },
  };
}

export const find = selector => /** @type {HTMLElement} */ (document.querySelector(selector));

/** Reads the pass in a file's page, before anything is drawn. `page` is what a download needs, as in viewer.js. */
export function readFile() {
  const shell = /** @type {Document} */ (document.cloneNode(true)),
    json = find("#document").textContent ?? "",
    bytes = shell.documentElement.outerHTML.length - json.length;
  return {
    pass: makeTemplates().completeDocument(JSON.parse(json)),
    page: { bytes, shell: () => shell.cloneNode(true) },
  };
}

const NOTICE_MS = 6000;

// Returns a send() for mount() that only shows a notice, in the element `line`, and returns false, as nothing was sent.
export function makeRefusal(line, text) {
  const show = makeFlash(line, NOTICE_MS);
  return () => {
    show(text);
    return false;
  };
}

const ALONE = "That needs the app itself, as this page computes nothing: see “Your own sentence”.";

// Shows a pass where the address says, else where the document does. Returns {end()}.
export function showPass(main, document, address) {
  const root = h("div", { class: "viewer" }),
    search = address.read(),
    send = makeRefusal(main.ownerDocument.querySelector("#refused"), ALONE);
  main.replaceChildren(root);
  const shown = mount(root, { alone: ALONE, send, type: () => {}, address }),
    alone = { ...document, door: null, offer: null }; // which lead to other sentences
  shown.show(search ? { ...alone, where: readWhere(readPass(document), search) } : alone);
  return shown;
}
