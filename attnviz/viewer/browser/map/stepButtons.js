// The step buttons: from step to step, with what lies between the first and the last in sight.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { destinationOf } from "../scene/present.js";
import { stepsOf } from "../scene/state.js";

// `between` is what stands between Previous and Next, on(by) leads so many steps on.
export function makeStepButtons(between, on) {
  const box = element("nav", "way");
  box.setAttribute("aria-label", "Steps");
  const back = button("‹ Previous", () => on(-1)), next = button("Next ›", () => on(1), "primary");
  const place = element("span", "place"), end = element("div", "end");
  end.append(next, place);
  box.append(back, between, end);
  const update = (pass, where) => {
    const steps = stepsOf(pass), at = steps.indexOf(where.step);
    back.disabled = destinationOf(pass, where, "back") === null;
    next.disabled = destinationOf(pass, where, "on") === null;
    write(next, at === 0 ? "Begin ›" : "Next ›");
    write(place, `step ${at + 1} of ${steps.length}`);
  };
  return { element: box, update };
}
