// Control: a choice from a list, a switch, a button, a note. Each is {element, update(control, isWaiting)}.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";
import { makeOptimistic } from "./optimistic.js";
import { explain, makeLabelled } from "./labelled.js";
import { drawRuns } from "../elements/runs.js";

export function makeChoice(act) {
  const select = element("select"),
    frame = element("span", "frame"),
    labelled = makeLabelled("choice", select, frame);
  const held = makeOptimistic(),
    draw = whenOther(given => select.replaceChildren(...drawOptions(given)));
  let options = [],
    event = "";
  frame.append(select);
  select.onchange = () => act(event, held.pick(options[select.selectedIndex].value));
  return {
    element: labelled.element,
    update(control, isWaiting) {
      labelled.update(control);
      draw(control.options);
      ({ options, event } = control);
      const shown = held.now(control.value, isWaiting);
      select.selectedIndex = options.findIndex(({ value }) => value === shown);
    },
  };
}

// The options of one group stand under its name.
function drawOptions(options) {
  const groups = new Map(),
    drawn = [];
  for (const { label, group } of options) {
    const option = element("option", "", label);
    if (group && !groups.has(group)) {
      groups.set(group, element("optgroup"));
      groups.get(group).label = group;
      drawn.push(groups.get(group));
    }
    if (group) groups.get(group).append(option);
    else drawn.push(option);
  }
  return drawn;
}

export function makeSwitch(act) {
  const line = element("label", "switch"),
    box = element("input"),
    name = element("span"),
    held = makeOptimistic();
  let event = "";
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.onchange = () => act(event, held.pick(box.checked));
  line.append(box, name);
  return {
    element: line,
    update(control, isWaiting) {
      ({ event } = control);
      write(name, control.label);
      box.checked = held.now(control.value, isWaiting);
      explain(line, box, control.help);
    },
  };
}

export function makePress(act) {
  let event = "";
  const made = button("", () => act(event, true), "press");
  return {
    element: made,
    update(control) {
      ({ event } = control);
      write(made, control.sign);
      made.setAttribute("aria-label", control.label);
      explain(made, made, control.help);
    },
  };
}

export function makeNote() {
  const line = element("p", "note"),
    draw = whenOther(runs => line.replaceChildren(...drawRuns(runs)));
  return { element: line, update: ({ runs }) => draw(runs) };
}
