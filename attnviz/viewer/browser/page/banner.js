// The banner of a changed pass: what is set by hand, and the way to change or reset it.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { drawRuns } from "../elements/runs.js";
import { whenOther } from "../elements/whenOther.js";

// act and run as for the page. Returns {element, update(answer)}.
export function makeBanner(act, run) {
  const box = element("div", "banner"),
    line = element("p"),
    draw = whenOther(runs => line.replaceChildren(...drawRuns(runs)));
  box.append(
    line,
    button("Change it", () => run("other numbers")),
    button("Reset", () => act("reset", true)),
  );
  return {
    element: box,
    update({ byHand }) {
      box.hidden = !byHand;
      if (byHand) draw(byHand);
    },
  };
}
