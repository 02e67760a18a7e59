// The compare menu: this pass pinned beside what is shown next, and pairs that mean something.
import { button } from "../elements/button.js";
import { redraw } from "../elements/element.js";
import { makePopover } from "../elements/popover.js";
import { whenOther } from "../elements/whenOther.js";
import { areLettersOn } from "../scene/shortcuts.js";

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
  const draw = whenOther(([pairs, isPinned]) => {
    opener.title = areLettersOn() ? "Key C" : "";
    redraw(panel, [
      button("Pin this pass, then change anything", doing("pin", true), "primary"),
      ...pairs.map(({ id, label }) => button(label, doing("pair", id))),
      ...(isPinned ? [button("Unpin", doing("unpin", true))] : []),
    ]);
  });
  return { button: opener, panel, update: ({ document: { pairs, other } }) => draw([pairs, other !== null]) };
}
