// Popovers: a panel that a button opens over the page. Escape and a click elsewhere close it.
import { element } from "./element.js";

let count = 0;

// The panel of a button, which says whether it is open.
export function makePopover(opener, className, label) {
  const panel = element("div", className);
  count += 1;
  panel.id = `${className}-${count}`;
  panel.popover = "auto";
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", label);
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", panel.id);
  opener.setAttribute("aria-expanded", "false");
  panel.addEventListener("toggle", ({ newState }) => opener.setAttribute("aria-expanded", String(newState === "open")));
  return panel;
}
