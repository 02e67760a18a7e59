// The compare menu: this pass pinned beside what is shown next, and pairs that mean something.
import { button } from "../elements/button.js";
import { redraw } from "../elements/element.js";
import { makePopover } from "../elements/popover.js";
import { areLettersOn } from "../scene/letters.js";

// act(name, message) reaches the server.
export function makeCompareMenu(act) {
  const opener = button("Compare"),
    panel = makePopover(opener, "compare", "Compare");
  panel.onbeforetoggle = () => {
    const { left, top } = opener.getBoundingClientRect();
    Object.assign(panel.style, { left: `${left}px`, bottom: `${globalThis.innerHeight - top + 6}px` });
  };
  panel.ontoggle = ({ newState }) => {
    if (newState === "open") panel.querySelector("button")?.focus();
  };
  const doing = (name, message) => () => {
    panel.hidePopover();
    act(name, message);
  };
  let shown = "";
  return {
    button: opener,
    panel,
    update({ document: { pairs, other } }) {
      const now = JSON.stringify([pairs, other !== null]);
      if (now === shown) return;
      shown = now;
      opener.title = areLettersOn() ? "Key C" : "";
      redraw(panel, [
        button("Pin this pass, then change anything", doing("pin", true), "primary"),
        ...pairs.map(({ id, label }) => button(label, doing("pair", id))),
        ...(other ? [button("Unpin", doing("unpin", true))] : []),
      ]);
    },
  };
}
