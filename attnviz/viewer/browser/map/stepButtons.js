// The step buttons: from step to step, with what lies between the first and the last in sight.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { destinationOf } from "../scene/present.js";
import { askedOnward, countedPlace } from "../scene/route.js";
import { isFirst } from "../scene/state.js";

// `between` is what stands between Previous and Next, on(by) leads so many steps on. Where there is a server (`alone` is not set),
// the end of a talk leads to another sentence.
export function makeStepButtons(between, { alone }, on) {
  const box = element("nav", "way");
  box.setAttribute("aria-label", "Steps");
  const back = button("‹ Previous", () => on(-1)),
    next = button("Next ›", () => on(1), "primary");
  const place = element("span", "place"),
    end = element("div", "end");
  end.append(next, place);
  box.append(back, between, end);
  /** @type {View["update"]} */
  const update = (pass, where) => {
    back.disabled = !destinationOf(pass, where, "back");
    next.disabled = !destinationOf(pass, where, "on") && (Boolean(alone) || !askedOnward(pass, where));
    write(next, isFirst(pass, where) && !where.present ? "Begin ›" : "Next ›");
    write(place, countedPlace(pass, where) || "\u00a0");
  };
  return { element: box, update };
}
