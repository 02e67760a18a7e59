// A pass on a page without a server: its place lives behind the # of the address, and actions that need a server are
// refused.
import { element } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { readPlace } from "../model/address.js";
import { mount } from "../views/viewer.js";

const START = "start"; // of a place that needs no parameters: an empty hash is one that nobody has written

// The address of a viewer, as mount() takes it; where the page may write none, as in a notebook's frame, it holds until that
// is closed.
export function hashOf(window) {
  let fallback = null;
  return {
    read: () => {
      const text = fallback ?? window.location.hash.slice(1);
      return text && `?${text}`;
    },
    write: (search, isNewPlace) => {
      const text = search.slice(1) || START;
      try {
        window.history[isNewPlace ? "pushState" : "replaceState"](null, "", `#${text}`);
      } catch {
        fallback = text;
      }
    },
    onArrival: listener => {
      window.addEventListener("hashchange", listener);
      return () => window.removeEventListener("hashchange", listener);
    },
  };
}

const SAID_MS = 6000;

// Returns a function that says it in a `line` of the page, and gives false, as nothing was sent.
export function makeRefusal(line, text) {
  let timer = null;
  return () => {
    line.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      line.textContent = "";
    }, SAID_MS);
    return false;
  };
}

const ALONE = "That needs the app itself, as this page computes nothing: see “Your own sentence”.";

// Shows it where the address says, else where the document does. Returns {end()}.
export function showPass(main, document, address) {
  const root = element("div", "viewer"),
    place = address.read();
  const host = {
    alone: ALONE,
    send: makeRefusal(main.ownerDocument.querySelector("#refused"), ALONE),
    type: () => {},
    address,
  };
  main.replaceChildren(root);
  const shown = mount(root, host);
  shown.show(place ? { ...document, where: readPlace(readPass(document), place) } : document);
  return shown;
}
