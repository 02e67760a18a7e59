// The way: from step to step, with what lies between the first and the last in sight.
import { button } from "./button.js";
import { element } from "./element.js";
import { besideStep } from "./state.js";

// `between` is what stands between Previous and Next, on(by) leads so many steps on.
export function makeWay(between, on) {
  const box = element("nav", "way");
  box.setAttribute("aria-label", "Steps");
  const back = button("‹ Previous", () => on(-1)), next = button("Next ›", () => on(1), "primary");
  const place = element("span", "place"), end = element("div", "end");
  end.append(next, place);
  box.append(back, between, end);
  const update = (pass, where) => {
    const { order } = pass.document;
    back.disabled = besideStep(pass, where, -1) === null;
    next.disabled = besideStep(pass, where, 1) === null;
    next.textContent = order[0] === where.step ? "Begin ›" : "Next ›";
    place.textContent = `step ${order.indexOf(where.step) + 1} of ${order.length}`;
  };
  return { element: box, update };
}
