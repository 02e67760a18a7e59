// Draws equations of matrices as real tables, and what is said of their cells under them. All files of this folder are
// one script: Streamlit takes an inline component as one text.
//
// data = {
//   equations: [[{cells, symbol, title, counts, rows, columns, values, scale, limit, gap, moved, role, selected, sign,
//                 after, reads, shift, band, focusBand, hidden}]], the last of each being the result,
//   scene: when it is another than before, the page goes back to its top,
//   small: whether cells are dots without labels and digits; flowing: whether equations stand beside each other,
//   colours: {negative, positive, share}, needed by equations,
//   answer: {captions: [text], trail: [cell], cells: [cell]}, what is said: the trail is of those that were unfolded one
//     after the other, the cells are those whose breakdowns are shown,
//   breakdowns: {cell: {value, formula, between, lines: [[[cell], sum, value]], conclusion, total}}, these and perhaps more,
//   captions: {stage: [[text]]}, by head and row, if they were asked for,
//   complete: whether these are all that there will be of the picture, as someone came near it,
//   told: {stage: [stage]}, the stages whose cells in focus are told when one of that stage is picked,
//   focus: {coordinate: place}, where one looks on all of them,
//   axes: {stage: [axis]}, labels: {axis: [label]} and coordinates: {axis: [coordinate]}, to name and find cells.
// }
// A cell is its address, as in scores[0,1,2]. A null among the values is -inf: JSON has no such number.
// Everything a person typed arrives here as text and is only ever set as textContent.

// Root element -> what is there: {data, send, signature, equations, drawn, focused, focus, answer, said, asked, complete, breakdowns,
// captions}. `focused` is the place of the cell that has the keyboard, [equation, matrix, row, column]; `asked` is when.
const states = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".picture");
  const page = getComputedStyle(root).getPropertyValue("--st-background-color");
  const state = states.get(root) ?? { drawn: [], equations: element("div", "equations"), answer: element("div", "answer") };
  if (!states.has(root)) root.append(state.equations, state.answer); // and never again: what moves loses the keyboard
  states.set(root, state);
  if (data.scene && state.data && state.data.scene !== data.scene) turnPage();
  state.data = data;
  state.send = setTriggerValue;
  // Where only the selection is new, the tables stay: laying them out again is what takes time.
  const signature = JSON.stringify([data.equations.map((equation) => equation.map((m) => ({ ...m, selected: 0 }))), page]);
  const isNew = state.signature !== signature;
  if (isNew) draw(root, state, page);
  else state.drawn.forEach((each, e) => each.select(data.equations[e].map((matrix) => matrix.selected)));
  state.signature = signature;
  state.focus = data.focus;
  const known = isNew || !data.equations.length ? {} : state;
  state.complete = known.complete || data.complete;
  state.breakdowns = { ...known.breakdowns, ...data.breakdowns };
  state.captions = { ...known.captions, ...data.captions };
  if (data.answer) say(state, data.answer);
  root.onpointerover = root.onfocusin = () => ask(state);
}

function draw(root, state, page) {
  const { data } = state;
  const colours = data.colours && readable(data.colours, page);
  root.classList.toggle("small", Boolean(data.small));
  root.classList.toggle("flowing", Boolean(data.flowing));
  const status = element("p", "status");
  status.setAttribute("role", "status");
  const hadFocus = keyboardIn(state.equations) ? state.focused : null;
  state.drawn.forEach((each) => each.player?.stop());
  state.drawn = data.equations.map((equation, e) =>
    drawEquation(equation, colours, data.small, {
      tell: (text) => { status.textContent = text; },
      tells: (matrix, row, column) => tells(state.data, matrix, row, column),
      pick: (cell) => pick(state, cell),
      remember: (m, row, column) => { state.focused = [e, m, row, column]; },
    }));
  state.equations.replaceChildren(...state.drawn.map((each) => each.element), ...(state.drawn.length ? [status] : []));
  state.drawn.forEach(fit);
  if (hadFocus) {
    const [e, m, row, column] = hadFocus;
    state.drawn[e]?.tables[m]?.cells[row]?.[column]?.focus({ preventScroll: true });
  }
}

// A new step is read from its top. And a step that was clicked in the row of steps must not keep the keyboard, or the
// arrow keys would move inside the row; one that was reached by keyboard keeps it.
function turnPage() {
  document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
  const held = document.activeElement;
  if (held?.closest(".st-key-step") && !held.matches(":focus-visible")) held.blur();
}

function keyboardIn(box) {
  return box.contains(box.getRootNode().activeElement);
}

function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className.trim();
  if (text !== null) made.textContent = text;
  return made;
}
