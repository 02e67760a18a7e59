// Pills: a few words side by side, one of which may be pressed. Tab leads to one of them, arrow keys to the others.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { makeOptimistic } from "./optimistic.js";
import { explain } from "./labelled.js";
import { setTabStop, rovingFocus } from "../elements/roving.js";
import { whenOther } from "../elements/whenOther.js";

export function makePills(act) {
  const line = element("div", "labelled pills"),
    name = element("span", "name"),
    box = element("div", "choices"),
    held = makeOptimistic();
  let control = { options: [] },
    shown = null;
  line.append(name, box);
  box.setAttribute("role", "toolbar"); // which keeps its arrow keys: on the page they lead to another step
  rovingFocus(box, () => [[...box.children]]);
  const press = value => {
    if (value === shown) return;
    // Where none is pressed each press is another act: a word may be added twice.
    if (control.value !== null) show(held.pick(value));
    act(control.event, value);
  };
  const show = value => {
    shown = value;
    for (const [place, each] of [...box.children].entries())
      each.setAttribute("aria-pressed", control.options[place].value === value);
  };
  const draw = whenOther(options => {
    box.replaceChildren(...options.map(({ label, value }) => button(label, () => press(value))));
    setTabStop([...box.children], box.firstChild);
  });
  return {
    element: line,
    update(next, isWaiting) {
      control = next;
      draw(next.options);
      write(name, next.label);
      name.hidden = Boolean(next.quiet);
      box.setAttribute("aria-label", next.label);
      explain(line, box, next.help);
      show(held.now(next.value, isWaiting));
    },
  };
}
