// Notices: what was mended, refused or followed, a line each, and what is offered instead.
import { button } from "./button.js";
import { element, write } from "./element.js";

export function makeNotices(act) {
  const box = element("div", "notices"), lines = element("div");
  let offered = null, said = "";
  const offer = button("", () => act(offered.event, offered.value));
  box.setAttribute("role", "alert");
  box.hidden = true;
  box.append(lines, offer);
  return {
    element: box,
    update(shown) {
      offered = shown.offer;
      offer.hidden = !offered;
      write(offer, offered?.label ?? "");
      box.hidden = !offered && shown.notices.length === 0;
      if (shown.notices.join("\n") === said) return; // it would be heard again
      said = shown.notices.join("\n");
      lines.replaceChildren(...shown.notices.map((each) => element("p", "", each)));
    },
  };
}
