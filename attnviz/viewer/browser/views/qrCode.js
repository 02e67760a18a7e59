// The QR code of the page's address, over everything else, for an audience to scan.
import { generate, mode } from "../vendor/leanQr.js";
import { shortened } from "../model/address.js";
import { button, h, svgElement } from "../dom/element.js";
import { isOfThisMachine, spelledOut } from "../dom/link.js";

export const MOST_BYTES = 300; // bytes: a code of more has modules too small for a phone at the back
const ONLY_HERE =
  "This address only works on this computer. To let others join, restart with “attnviz --address 0.0.0.0” and open the address it prints.";
const QUIET = 4; // modules that are white around a code, by the standard

// The address that a code holds, in ASCII, and the notice on it; no address where even the shortest is too long.
export function codedOf(link) {
  const url = new URL(link),
    notices = [];
  if (link.length > MOST_BYTES) {
    const { search, missing } = shortened(url.search);
    url.search = search;
    if (url.href.length > MOST_BYTES) {
      const tooLong = `No code: the address has ${url.href.length} bytes, more than the ${MOST_BYTES} that a phone reads across a room.`;
      return { address: "", notices: [`${tooLong} Shorten the sentence, or use Copy link.`] };
    }
    notices.push(`Left out, as a code has room for ${MOST_BYTES} bytes: ${missing.join(", ")}.`);
  }
  if (isOfThisMachine(url.hostname, url.protocol)) notices.push(ONLY_HERE);
  return { address: url.href, notices };
}

// One run of bytes, which every reader knows, with the strongest error correction that makes the code no larger.
export function modulesOf(text) {
  const { size, get } = generate(mode.ascii(text));
  return { size, isDark: get };
}

// open() shows the code of the current address, if it can be linked to; `openClass` opens a class that follows, if that is possible.
export function makeQrCode(window, isLinked = true, openClass = null) {
  const box = h("dialog", { class: "qr-code", "aria-label": "QR code of this page", onclick: () => box.close() });
  let parameters = /** @type {Record<string, string>} */ ({});
  return {
    element: box,
    open: () => {
      if (!isLinked) return;
      const { address, notices } = codedOf(spelledOut(window.location.href, parameters));
      box.replaceChildren(
        ...(address ? [drawCode(address), h("p", { class: "address" }, address)] : []),
        ...notices.map(text => h("p", {}, text)),
        ...(openClass ? [button("Open a class: phones follow you", openClass, "primary")] : []),
        button("Close"),
      );
      box.showModal();
    },
    close: () => {
      const wasOpen = box.open;
      box.close();
      return wasOpen;
    },
    update: ({ document: { link } }) => {
      parameters = link;
    },
  };
}

export function drawCode(text) {
  const { size, isDark } = modulesOf(text),
    all = size + 2 * QUIET,
    positions = [...Array(size).keys()],
    dark = positions.flatMap(y => positions.filter(x => isDark(x, y)).map(x => `M${x} ${y}h1v1h-1z`)),
    name = { role: "img", "aria-label": "QR code of the address below it" },
    frame = { viewBox: `${-QUIET} ${-QUIET} ${all} ${all}`, "shape-rendering": "crispEdges" };
  return svgElement("svg", { ...frame, ...name }, svgElement("path", { d: dark.join("") }));
}
