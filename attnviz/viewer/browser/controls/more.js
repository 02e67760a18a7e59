// Settings: a button that opens a panel with the controls that are changed seldom, and beside a viewer with its keys.
import { button } from "../elements/button.js";
import { makeControls } from "./controls.js";
import { element } from "../elements/element.js";
import { makeKeys } from "./keys.js";

let count = 0;

export function makeMore(act) {
  const opener = button("Settings", null, "more"),
    panel = element("div", "more-settings"),
    controls = makeControls(panel, act);
  const keys = makeKeys();
  count += 1;
  panel.id = `more-settings-${count}`;
  panel.popover = "auto"; // Escape and a click elsewhere close it
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "More settings");
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", panel.id);
  opener.setAttribute("aria-expanded", "false");
  panel.append(keys.element);
  panel.ontoggle = ({ newState }) => opener.setAttribute("aria-expanded", newState === "open");
  panel.onbeforetoggle = keys.update; // another tab may have switched them
  return {
    button: opener,
    panel,
    update(listed, hasKeys, isWaiting) {
      controls.update(listed, isWaiting);
      keys.element.hidden = !hasKeys;
      opener.hidden = listed.length === 0 && !hasKeys;
      if (opener.hidden) panel.hidePopover();
    },
    send: controls.send,
  };
}
