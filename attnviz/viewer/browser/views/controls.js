// The controls of a form: switches, selects, sliders, pills and text boxes, each with a label and optimistic updates.
import { button, h, memoLast, rovingFocus, setTabStop, write } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";

// `frame` stands beside the label: the box, or something that holds it. The help is text in a panel (settings.css), else a tooltip.
function makeLabelled(kind, box, frame = box) {
  const name = h("span", { class: "name" }),
    why = makeWhy(),
    line = h("label", { class: `labelled ${kind}` }, name, frame, why);
  return {
    element: line,
    update({ label, quiet, help }, value) {
      write(name, label);
      name.hidden = Boolean(quiet);
      line.classList.toggle("quiet", Boolean(quiet));
      setAttribute(box, "aria-label", quiet && label);
      explain(line, box, help, value);
    },
  };
}

const makeWhy = () => h("span", { class: "why", "aria-hidden": "true" });

// Help that a pointer sees over the line, everybody below it in a panel, and a screen reader announces with the box. What is seen
// below is about the option and the picked value alone: help that names each value ("causal: ...") would be a wall of text.
function explain(line, box, help, value) {
  setAttribute(line, "title", help);
  setAttribute(box, "aria-description", help);
  const sentences = help?.split(/(?<=\.) (?=[a-z\d][a-z\d ]*: )/) ?? [],
    seen = sentences.filter(each => !/^[a-z\d][a-z\d ]*: /.test(each) || each.startsWith(`${value}: `));
  for (const why of line.querySelectorAll(".why")) write(why, seen.join(" "));
}

function setAttribute(node, name, text) {
  if (text === node.getAttribute(name)) return; // setting it costs time even so
  if (text) node.setAttribute(name, text);
  else node.removeAttribute(name);
}

// The picked value, until the server's reply is there.
function makeOptimistic() {
  let picked;
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
  const select = h("select"),
    labelled = makeLabelled("choice", select, h("span", { class: "frame" }, select)),
    optimistic = makeOptimistic(),
    draw = memoLast(options => select.replaceChildren(...drawOptions(options)));
  let options, event;
  select.onchange = () => act(event, optimistic.pick(options[select.selectedIndex].value));
  return {
    element: labelled.element,
    update(control, isWaiting) {
      draw(control.options);
      ({ options, event } = control);
      const shown = optimistic.now(control.value, isWaiting);
      labelled.update(control, shown);
      select.selectedIndex = options.findIndex(({ value }) => value === shown);
    },
  };
}

function drawOptions(options) {
  const groups = Map.groupBy(options, ({ group }, nth) => group || nth);
  return [...groups.values()].flatMap(members => {
    const drawn = members.map(({ label }) => h("option", {}, label)),
      [{ group }] = members;
    return group ? [h("optgroup", { label: group }, drawn)] : drawn;
  });
}

export function makeSwitch(act) {
  const name = h("span"),
    box = h("input", { type: "checkbox", role: "switch", onchange: () => act(event, optimistic.pick(box.checked)) }),
    line = h("label", { class: "switch" }, box, name, makeWhy()),
    optimistic = makeOptimistic();
  let event;
  return {
    element: line,
    update(control, isWaiting) {
      ({ event } = control);
      write(name, control.label);
      box.checked = optimistic.now(control.value, isWaiting);
      explain(line, box, control.help);
    },
  };
}

function makeButton(act) {
  const node = button("", () => act(event, true), "press");
  let event;
  return {
    element: node,
    update(control) {
      ({ event } = control);
      write(node, control.sign);
      node.setAttribute("aria-label", control.label);
      explain(node, node, control.help);
    },
  };
}

function makeNote() {
  const line = h("p", { class: "note" }),
    draw = memoLast(runs => line.replaceChildren(...drawRuns(runs)));
  return { element: line, update: ({ runs }) => draw(runs) };
}

function makeHeading() {
  const line = h("h2");
  return { element: line, update: ({ text }) => write(line, text) };
}

function makePills(act) {
  const name = h("span", { class: "name" }),
    box = h("div", { class: "choices", role: "toolbar" }), // which keeps its arrow keys: on the page they lead to another step
    line = h("div", { class: "labelled pills" }, name, box, makeWhy()),
    optimistic = makeOptimistic();
  let control, shown;
  rovingFocus(box, () => [[...box.children]]);
  const press = value => {
    if (value === shown) return;
    // Where none is pressed each press is a new action: a word may be added twice.
    if (control.value !== null) show(optimistic.pick(value));
    act(control.event, value);
  };
  const show = value => {
    shown = value;
    for (const [nth, each] of [...box.children].entries())
      each.setAttribute("aria-pressed", control.options[nth].value === value);
  };
  const draw = memoLast(options => {
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
      show(optimistic.now(next.value, isWaiting));
    },
  };
}

// Whether each word that is not known begins one that is.
function isHalfTyped(text, known) {
  const words = text.toLowerCase().split(/\s+/),
    unknown = words.filter(word => word && !known.includes(word));
  return unknown.length > 0 && unknown.every(word => known.some(each => each.startsWith(word)));
}

const PAUSE_MS = 150; // after the last key
const LONG_PAUSE_MS = 1500; // where a word is half typed: another pass, and back with its last letter, would flicker
const NEARLY_FULL = 0.75; // of the limit: from then on the counter is shown

function makeTextbox(act) {
  const input = h("input", { class: "typed", type: "text", autocomplete: "off", spellcheck: false }),
    counter = h("span", { class: "counter", "aria-hidden": "true" }),
    frame = h("span", { class: "frame" }, input, counter),
    labelled = makeLabelled("text", input, frame);
  let control, timer;
  let known = "", // the text that was sent or received last
    isWaiting = false,
    isNews = false; // whether the server's text may replace the known one
  const count = () => {
    write(counter, `${input.value.length}/${control.limit}`);
    frame.style.setProperty("--counted", `${counter.textContent.length}ch`);
    frame.classList.toggle("nearly-full", input.value.length > NEARLY_FULL * control.limit);
  };
  const follow = () => {
    if (!isNews || isWaiting || input.value !== known) return;
    isNews = false;
    known = control.value;
    replace(input, known);
    count();
  };
  const send = () => {
    clearTimeout(timer);
    if (input.value === known) return follow();
    isNews = false; // a text that came while the user typed is older than this
    known = input.value;
    act(control.event, known);
  };
  const onInput = ({ isComposing }) => {
    count();
    clearTimeout(timer);
    const pause = isHalfTyped(input.value, control.words ?? []) ? LONG_PAUSE_MS : PAUSE_MS;
    if (control.live && !isComposing) timer = setTimeout(send, pause);
  };
  input.oninput = onInput;
  input.addEventListener("compositionend", onInput);
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
      isWaiting = waits && !isNew; // a new box has nothing to wait for
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
  button: makeButton,
  pills: makePills,
  switch: makeSwitch,
  note: makeNote,
  heading: makeHeading,
};

// They stand before whatever else is in the box. Those that stay are never moved, as they would lose the keyboard.
export function makeControls(box, act) {
  let shown = new Map(); // key -> control
  return {
    update(controls, isWaiting) {
      const before = shown,
        keys = keysOf(controls);
      shown = new Map(keys.map((key, nth) => [key, before.get(key) ?? KINDS[controls[nth].kind](act)]));
      for (const [key, control] of before) {
        if (shown.has(key)) continue;
        control.send?.();
        control.element.remove();
      }
      for (const [nth, control] of [...shown.values()].entries()) {
        const current = box.children[nth] ?? null;
        if (current !== control.element) box.insertBefore(control.element, current);
        control.update(controls[nth], isWaiting);
      }
    },
    // Sends what was typed and not sent yet.
    send: () => {
      for (const control of shown.values()) control.send?.();
    },
  };
}

// The kind and the event of each, and how many of the same came before: words of all kinds have one event.
function keysOf(controls) {
  const names = controls.map(({ kind, event }) => `${kind} ${event}`);
  return names.map((name, nth) => `${name} ${names.slice(0, nth).filter(each => each === name).length}`);
}
