// The offer: at the end of a talk another sentence, which a press asks the model, too.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { offeredAt } from "../scene/route.js";

/** @returns {View} */
export function makeOffer({ send }) {
  const box = element("p", "offer"),
    act = button("", () => send(shown.event, shown.value), "link");
  let shown = null;
  box.append(act);
  return {
    element: box,
    update(pass, where) {
      shown = offeredAt(pass, where);
      box.hidden = !shown;
      if (shown) write(act, shown.label);
    },
  };
}
