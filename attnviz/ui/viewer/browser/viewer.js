// The viewer: draws equations of matrices as real tables, and explains their cells under them. payload.schema.json says
// what it is given. Everything a person typed arrives as text and is only ever set as textContent.
import { channels } from "./colour.js";
import { describe } from "./description.js";
import { element, hasKeyboard } from "./element.js";
import { drawEquation } from "./equation.js";
import { explain, pick } from "./explanation.js";
import { fit } from "./fit.js";

// Root element -> what is there: {data, send, signature, equations, drawn, focused, selection, answer, shown, asked,
// complete, breakdowns, captions}. `focused` is the place of the cell that has the keyboard, [equation, matrix, row,
// column]; `shown` is the explanation on the screen, `asked` is when a prefetch was last asked for.
const states = new WeakMap();

// Shows `data` in `root`, on a page of that colour; `send(name, message)` reaches the server.
export function show(root, data, send, page) {
  const state = stateOf(root);
  Object.assign(state, { data, send, selection: data.selection });
  // Where only the selection is new, the tables stay: laying out new ones is what takes time.
  const signature = JSON.stringify([data.equations.map((equation) => equation.map((m) => ({ ...m, selected: 0 }))), page]);
  const isNew = state.signature !== signature;
  state.signature = signature;
  if (isNew) draw(root, state, page);
  else state.drawn.forEach((each, e) => { each.select(data.equations[e].map((matrix) => matrix.selected)); });
  const known = isNew || !data.equations.length ? {} : state;
  state.complete = known.complete || data.complete;
  state.breakdowns = { ...known.breakdowns, ...data.breakdowns };
  state.captions = { ...known.captions, ...data.captions };
  root.dataset.complete = Boolean(state.complete); // seen by nobody but the tests, which wait for it
  if (data.answer) explain(state, data.answer);
  root.onpointerover = root.onfocusin = () => prefetch(state);
}

// The data that is shown in `root`, if there is any.
export function shownIn(root) {
  return states.get(root)?.data;
}

// The boxes are put into the root once, as what moves in the page loses the keyboard.
function stateOf(root) {
  if (!states.has(root)) {
    const state = { drawn: [], equations: element("div", "equations"), answer: element("div", "answer") };
    root.append(state.equations, state.answer);
    states.set(root, state);
  }
  return states.get(root);
}

// Asks for how all cells of the picture were made, as someone comes near who may pick one; and again after a while, as
// Streamlit drops what is asked while it is about to run for another reason.
function prefetch(state) {
  const isNeeded = state.data.explained && state.drawn.length && !state.complete;
  if (!isNeeded || performance.now() - (state.asked ?? -Infinity) < 1000) return;
  state.asked = performance.now();
  state.send("prefetch", true);
}

function draw(root, state, page) {
  const { data } = state;
  const colours = data.colours && { ...data.colours, page: channels(page) };
  root.classList.toggle("small", Boolean(data.small));
  root.classList.toggle("flowing", Boolean(data.flowing));
  const status = element("p", "status");
  status.setAttribute("role", "status");
  const focused = hasKeyboard(state.equations) ? state.focused : null;
  state.drawn.forEach((each) => { each.player?.stop(); });
  state.drawn = data.equations.map((equation, e) =>
    drawEquation(equation, colours, data.small, {
      say: (text) => { status.textContent = text; },
      describe: (matrix, row, column) => describe(state.data.axes, matrix, row, column),
      pick: (cell) => pick(state, cell),
      remember: (m, row, column) => { state.focused = [e, m, row, column]; },
    }));
  state.equations.replaceChildren(...state.drawn.map((each) => each.element), ...(state.drawn.length ? [status] : []));
  state.drawn.forEach(fit);
  if (focused) {
    const [e, m, row, column] = focused;
    state.drawn[e]?.tables[m]?.cells[row]?.[column]?.focus({ preventScroll: true });
  }
}
