// Notices: what was mended, refused or followed, a line each, and what is offered instead.
import { button } from "../elements/button.js";
import { element, redraw } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";

export function makeNotices(act) {
  const box = element("div", "notices"),
    lines = element("div"),
    buttons = element("div", "offers");
  const draw = whenOther(notices => lines.replaceChildren(...notices.map(each => element("p", "", each)))), // again, it would be heard again
    offer = whenOther(offers =>
      redraw(
        buttons,
        offers.map(({ event, value, label }) => button(label, () => act(event, value))),
      ),
    );
  box.setAttribute("role", "alert");
  box.hidden = true;
  box.append(lines, buttons);
  return {
    element: box,
    update({ notices, offers }) {
      box.hidden = offers.length + notices.length === 0;
      offer(offers);
      draw(notices);
    },
  };
}
