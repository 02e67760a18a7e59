// The code with which another device of the speaker's joins a class.
import { h, memoLast, redraw } from "../dom/element.js";
import { codedOf, drawCode } from "../views/qrCode.js";

export function makeHandOver() {
  const box = h("div", { class: "class-hand", role: "status" });
  const draw = memoLast(([offer, instead]) => redraw(box, offer ? drawOffer(offer) : [instead && h("p", {}, instead)]));
  return {
    element: box,
    /** @param {{ site: string, code: string } | null} offer @param {string} instead the text to show without one */
    update: (offer, instead = "") => draw([offer, instead]),
  };
}

function drawOffer({ site, code }) {
  const base = new URL(".", site),
    { address, notices } = codedOf(`${base.href}${code}`);
  return [
    address && drawCode(address),
    h(
      "p",
      {},
      "Scan this with your other device, or open ",
      base.host,
      base.pathname,
      h("strong", {}, code),
      " there.",
    ),
    h("p", {}, ["It leads the class with one device, and for five minutes.", ...notices].join(" ")),
  ];
}
