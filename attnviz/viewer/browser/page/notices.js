// Notices: what was mended, refused or followed, a line each, and what is offered instead.
import { button } from "../elements/button.js";
import { isOther } from "../controls/control.js";
import { element, redraw } from "../elements/element.js";

export function makeNotices(act) {
  const box = element("div", "notices"),
    lines = element("div"),
    buttons = element("div", "offers");
  let offered = [],
    heard = "";
  box.setAttribute("role", "alert");
  box.hidden = true;
  box.append(lines, buttons);
  return {
    element: box,
    update({ notices, offers }) {
      box.hidden = offers.length + notices.length === 0;
      if (isOther(offered, offers))
        redraw(
          buttons,
          offers.map(({ event, value, label }) => button(label, () => act(event, value))),
        );
      offered = offers;
      if (notices.join("\n") === heard) return; // it would be heard again
      heard = notices.join("\n");
      lines.replaceChildren(...notices.map(each => element("p", "", each)));
    },
  };
}
