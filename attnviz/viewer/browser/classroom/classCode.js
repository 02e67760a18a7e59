// The code of a class on all of the screen: the letters to type, and the QR code that lets in without.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { codedOf, drawCode } from "../viewer/qrCode.js";

const CLOSING = new Set(["Escape", "PageDown", "PageUp", "ArrowRight", "ArrowLeft", "q", "Q"]);

// Where one joins: {shown, typed, coded} of a site; `typed` is what people type, `coded` what a phone's camera reads.
export function doorsOf(site, { code, link }) {
  const base = new URL(".", site);
  return { typed: `${base.host}${base.pathname}${code}`, coded: `${base.href}${code}${link ? `#${link}` : ""}` };
}

// Returns {element, open(room)}; a click or Escape closes it.
export function makeClassCode(site) {
  const box = element("dialog", "qr-code class-code asks"); // a remote's button closes it
  box.setAttribute("aria-label", "The code of the class");
  box.onclick = () => box.close();
  box.onkeydown = event => {
    if (!CLOSING.has(event.key)) return;
    event.preventDefault();
    box.close();
  };
  return {
    element: box,
    open: room => {
      const { typed, coded } = doorsOf(site, room),
        { address, notices } = codedOf(coded),
        line = element("p", "typed-code");
      line.append(typed.slice(0, -room.code.length), element("strong", "", room.code));
      box.replaceChildren(
        ...(address ? [drawCode(address)] : []),
        line,
        element("p", "", "Scan it, or type the address. Nobody sees who says what."),
        ...notices.map(text => element("p", "", text)),
        button("Close", () => {}),
      );
      box.showModal();
    },
  };
}
