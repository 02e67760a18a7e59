// Dialogs and popovers.
import { h } from "./element.js";

// Shows a dialog, which is in the page only while it is open.
export function openDialog(dialog, parent) {
  if (dialog.open) return;
  parent.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", removeIfClosed); // added once, however often it is opened
}

// The close event fires late: the dialog may be open again.
function removeIfClosed({ currentTarget: dialog }) {
  if (!dialog.open) dialog.remove();
}

let count = 0;

// A panel that a button opens over the page; Escape and a click elsewhere close it.
export function makePopover(opener, className, label) {
  count += 1;
  const id = `${className}-${count}`,
    panel = h("div", { class: className, id, popover: "auto", role: "group", "aria-label": label });
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", id);
  opener.setAttribute("aria-expanded", "false");
  panel.addEventListener("toggle", ({ newState }) => opener.setAttribute("aria-expanded", String(newState === "open")));
  return panel;
}
