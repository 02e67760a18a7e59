// Settings: a button that opens a panel with the controls that are changed seldom, and beside a viewer with its keys.
import { button } from "../elements/button.js";
import { makeControls } from "./controls.js";
import { makePopover } from "../elements/popover.js";
import { makeKeys } from "./keys.js";

export function makeMore(act) {
  const opener = button("Settings", null, "more"),
    panel = makePopover(opener, "more-settings", "More settings"),
    controls = makeControls(panel, act);
  const keys = makeKeys();
  panel.append(keys.element);
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
