// More: a button that opens a panel with the controls that are changed seldom.
import { button } from "./button.js";
import { makeControls } from "./controls.js";
import { element } from "./element.js";

let count = 0;

export function makeMore(act) {
  const opener = button("More", null, "more"), panel = element("div", "more-settings"), controls = makeControls(panel, act);
  count += 1;
  panel.id = `more-settings-${count}`;
  panel.popover = "auto"; // Escape and a click elsewhere close it
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "More settings");
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", panel.id);
  opener.setAttribute("aria-expanded", "false");
  panel.ontoggle = ({ newState }) => opener.setAttribute("aria-expanded", newState === "open");
  return {
    button: opener,
    panel,
    update(listed, isWaiting) {
      controls.update(listed, isWaiting);
      opener.hidden = listed.length === 0;
      if (opener.hidden) panel.hidePopover();
    },
    send: controls.send,
  };
}
