// The compare menu: this pass pinned beside what is shown next, and pairs that mean something.
import { button } from "../elements/button.js";
import { element, redraw } from "../elements/element.js";
import { areLettersOn } from "../scene/letters.js";

let count = 0;

// act(name, message) reaches the server.
export function makeCompareMenu(act) {
  const opener = button("Compare"),
    panel = element("div", "compare");
  count += 1;
  panel.id = `compare-${count}`;
  panel.popover = "auto"; // Escape and a click elsewhere close it
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "Compare");
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", panel.id);
  opener.setAttribute("aria-expanded", "false");
  panel.onbeforetoggle = () => {
    const { left, top } = opener.getBoundingClientRect();
    Object.assign(panel.style, { left: `${left}px`, bottom: `${globalThis.innerHeight - top + 6}px` });
  };
  panel.ontoggle = ({ newState }) => {
    opener.setAttribute("aria-expanded", newState === "open");
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
    update({ document: { pairs, beside } }) {
      const now = JSON.stringify([pairs, beside !== null]);
      if (now === shown) return;
      shown = now;
      opener.title = areLettersOn() ? "Key C" : "";
      redraw(panel, [
        button("Pin this pass, then change anything", doing("pin", true), "primary"),
        ...pairs.map(({ id, label }) => button(label, doing("pair", id))),
        ...(beside ? [button("Unpin", doing("unpin", true))] : []),
      ]);
    },
  };
}
