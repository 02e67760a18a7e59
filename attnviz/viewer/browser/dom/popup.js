// Dialogs and popovers.
import { element } from "./element.js";

// Shows a dialog, which is in the page only while it is open: closed, it is no second view of it.
export function openDialog(dialog, home) {
  if (dialog.open) return;
  home.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", leave); // which counts once, however often it is opened
}

// The close event fires late: the dialog may be open again.
function leave({ currentTarget: dialog }) {
  if (!dialog.open) dialog.remove();
}

let count = 0;

// A panel that a button opens over the page; Escape and a click elsewhere close it.
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
