// The QR code of the page's address, over all else: for those in the room to open it too.
import { generate, mode } from "../vendor/leanQr.js";
import { shortened } from "../model/address.js";
import { button, element, svgElement } from "../dom/element.js";
import { isOfThisMachine, spelledOut } from "../dom/link.js";

export const MOST_BYTES = 300; // bytes: a code of more has modules too small for a phone at the back
const OWN =
  "No one else can open it: it is this machine’s own address. To let others in, start it by attnviz --address 0.0.0.0 and open the address that this prints.";
const QUIET = 4; // modules that are white around a code, by the standard

// The address that a code holds, and the notice on it: {address, notices}; no address where even the shortest is too long.
// An address is ASCII.
export function codedOf(link) {
  const url = new URL(link),
    notices = [];
  if (link.length > MOST_BYTES) {
    const { search, missing } = shortened(url.search);
    url.search = search;
    if (url.href.length > MOST_BYTES) return { address: "", notices: [tooLong(url.href.length)] };
    notices.push(`Left out, as a code has room for ${MOST_BYTES} bytes: ${missing.join(", ")}.`);
  }
  if (isOfThisMachine(url.hostname, url.protocol)) notices.push(OWN);
  return { address: url.href, notices };
}

function tooLong(bytes) {
  return `No code: the address has ${bytes} bytes, more than the ${MOST_BYTES} that a phone reads across a room. Shorten the sentence, or use Copy link.`;
}

// The dark modules of a text's code: {size, isDark(x, y)}. As one run of bytes, which every reader knows; of the corrections
// that leave the code as small, the strongest.
export function modulesOf(text) {
  const { size, get } = generate(mode.ascii(text));
  return { size, isDark: get };
}

// open() shows the code of the address that there is then, if one leads here; close() says whether it was shown. A click closes
// it too. `openClass` opens a class that follows, where that can be.
export function makeQrCode(window, isLinked = true, openClass = null) {
  const box = element("dialog", "qr-code");
  let parameters = {};
  box.setAttribute("aria-label", "QR code of this page");
  box.onclick = () => box.close();
  return {
    element: box,
    open: () => {
      if (!isLinked) return;
      const { address, notices } = codedOf(spelledOut(window.location.href, parameters));
      box.replaceChildren(
        ...(address ? [drawCode(address), element("p", "address", address)] : []),
        ...notices.map(text => element("p", "", text)),
        ...(openClass ? [button("Open a class: phones follow you", openClass, "primary")] : []),
        button("Close", () => {}),
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

// The code of a text, as a picture.
export function drawCode(text) {
  const { size, isDark } = modulesOf(text),
    all = size + 2 * QUIET;
  const positions = Array.from({ length: size }, (_, position) => position);
  const dark = positions.flatMap(y => positions.filter(x => isDark(x, y)).map(x => `M${x} ${y}h1v1h-1z`));
  const code = svgElement("svg", {
    viewBox: `${-QUIET} ${-QUIET} ${all} ${all}`,
    role: "img",
    "aria-label": "QR code of the address below it",
    "shape-rendering": "crispEdges",
  });
  code.append(svgElement("path", { d: dark.join("") }));
  return code;
}
