// The controls of a form: switches, selects, sliders, pills and text boxes, each with a label and optimistic updates.
import { element, write, button } from "../dom/element.js";
import { whenOther } from "../dom/timing.js";
import { drawRuns } from "../dom/runs.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";

// `frame` is what stands beside the label: the box, or something that holds it.
function makeLabelled(kind, box, frame = box) {
  const line = element("label", `labelled ${kind}`),
    name = element("span", "name");
  line.append(name, frame);
  return {
    element: line,
    update({ label, quiet, help }) {
      write(name, label);
      name.hidden = Boolean(quiet);
      line.classList.toggle("quiet", Boolean(quiet));
      say(box, "aria-label", quiet && label);
      explain(line, box, help);
    },
  };
}

// Help that a pointer sees over the line, and is heard with the box.
export function explain(line, box, help) {
  say(line, "title", help);
  say(box, "aria-description", help);
}

function say(each, attribute, text) {
  if (text === each.getAttribute(attribute)) return; // which costs, even so
  if (text) each.setAttribute(attribute, text);
  else each.removeAttribute(attribute);
}

function makeOptimistic() {
  let picked = null;
  return {
    pick: value => {
      picked = { value };
      return value;
    },
    now: (value, isWaiting) => {
      if (!isWaiting) picked = null;
      return picked ? picked.value : value;
    },
  };
}

function makeChoice(act) {
  const select = element("select"),
    frame = element("span", "frame"),
    labelled = makeLabelled("choice", select, frame);
  const held = makeOptimistic(),
    draw = whenOther(options => select.replaceChildren(...drawOptions(options)));
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

function makePress(act) {
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

function makeNote() {
  const line = element("p", "note"),
    draw = whenOther(runs => line.replaceChildren(...drawRuns(runs)));
  return { element: line, update: ({ runs }) => draw(runs) };
}

function makePills(act) {
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

function isHalfTyped(text, known) {
  const unknown = text
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word && !known.includes(word));
  return unknown.length > 0 && unknown.every(word => known.some(each => each.startsWith(word)));
}

const PAUSE_MS = 150; // after the last key
const LONG_PAUSE_MS = 1500; // where a word is half typed: another pass, and back with its last letter, would be a flicker
const NEARLY_FULL = 0.75; // of the limit: from then on one sees how much there is

function makeTextbox(act) {
  const input = element("input", "typed"),
    counter = element("span", "counter"),
    frame = element("span", "frame");
  const labelled = makeLabelled("text", input, frame);
  let control = null,
    held = "",
    timer = null,
    isWaiting = false,
    isNews = false; // held: what was sent or said last
  input.type = "text";
  input.autocomplete = "off";
  input.spellcheck = false;
  counter.setAttribute("aria-hidden", "true");
  frame.append(input, counter);

  const count = () => {
    write(counter, `${input.value.length}/${control.limit}`);
    frame.style.setProperty("--counted", `${counter.textContent.length}ch`);
    frame.classList.toggle("nearly-full", input.value.length > NEARLY_FULL * control.limit);
  };
  const follow = () => {
    if (!isNews || isWaiting || input.value !== held) return;
    isNews = false;
    held = control.value;
    replace(input, held);
    count();
  };
  const send = () => {
    clearTimeout(timer);
    if (input.value === held) return follow();
    isNews = false; // what was said while somebody typed is older than this
    held = input.value;
    act(control.event, held);
  };
  const typed = ({ isComposing }) => {
    count();
    clearTimeout(timer);
    if (control.live && !isComposing)
      timer = setTimeout(send, isHalfTyped(input.value, control.words ?? []) ? LONG_PAUSE_MS : PAUSE_MS);
  };
  input.oninput = typed;
  input.addEventListener("compositionend", typed);
  input.onblur = send;
  input.onkeydown = ({ key, isComposing }) => {
    if (key !== "Enter" || isComposing) return;
    send();
    input.blur(); // keys are shortcuts again
  };
  return {
    element: labelled.element,
    update(next, waits) {
      const isNew = !control;
      isNews ||= isNew || next.value !== control.value;
      control = next;
      isWaiting = waits && !isNew; // what has just come has nothing to wait for
      labelled.update(next);
      labelled.element.classList.toggle("live", next.live);
      input.maxLength = next.limit;
      input.placeholder = next.placeholder ?? "";
      count();
      follow();
    },
    send,
  };
}

// Another text, with the selection where it was.
function replace(input, text) {
  if (input.value === text) return;
  const { selectionStart, selectionEnd } = input;
  input.value = text;
  input.setSelectionRange(selectionStart, selectionEnd);
}

const KINDS = {
  choice: makeChoice,
  text: makeTextbox,
  button: makePress,
  pills: makePills,
  switch: makeSwitch,
  note: makeNote,
};

// They stand before whatever else is in the box. Those that stay are never moved, as that would cost them the keyboard.
export function makeControls(box, act) {
  let made = new Map(); // key -> control
  return {
    update(controls, isWaiting) {
      const before = made,
        keys = keysOf(controls);
      made = new Map(keys.map((key, place) => [key, before.get(key) ?? KINDS[controls[place].kind](act)]));
      for (const [key, each] of before) if (!made.has(key)) takeAway(each);
      for (const [place, each] of [...made.values()].entries()) {
        const current = box.children[place] ?? null;
        if (current !== each.element) box.insertBefore(each.element, current);
        each.update(controls[place], isWaiting);
      }
    },
    // Text that was typed and not sent yet.
    send: () => {
      for (const each of made.values()) each.send?.();
    },
  };
}

function takeAway(control) {
  control.send?.();
  control.element.remove();
}

// The kind and the event of each, and how many of the same came before: words of all kinds have one event.
function keysOf(controls) {
  const counts = new Map();
  return controls.map(({ kind, event }) => {
    const name = `${kind} ${event}`,
      count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return `${name} ${count}`;
  });
}
