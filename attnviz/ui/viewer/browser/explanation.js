// Explanations: captions, the trail and the breakdowns of cells. What the browser knows is shown at once; the server's
// own explanation, with what can be unfolded from there, replaces it.
import { drawBreakdown } from "./breakdown.js";
import { cellAt, indexAt, named, parts, selectionAt } from "./cells.js";
import { element, hasKeyboard } from "./element.js";
import { typeset } from "./formula.js";

export function pick(state, cell) {
  const { data } = state;
  state.send("pick", cell);
  if (!data.explained) return;
  state.selection = selectionAt(data.axes, cell, state.selection);
  const explanation = foresee(data, state, cell);
  if (!explanation) return;
  state.drawn.forEach((each) => { each.find(explanation.cells); });
  explain(state, explanation);
}

// What the server will say once `cell` is picked, or null if something of it has not been sent yet.
export function foresee(data, { selection, breakdowns, captions }, cell) {
  const cells = data.explained[parts(cell).stage].map((stage) => cellAt(data.axes, stage, selection));
  const texts = data.captioned.map((stage) => captionAt(captions[stage], indexAt(data.axes, stage, selection)));
  const isKnown = cells.every((each) => Object.hasOwn(breakdowns, each)) && !texts.includes(undefined);
  return isKnown ? { captions: texts, trail: [], cells } : null;
}

// A stage's captions are by the place on each of its axes but the last.
function captionAt(captions, index) {
  return index.slice(0, -1).reduce((part, place) => part?.[place], captions);
}

export function explain(state, explanation) {
  const { data } = state;
  const { captions, trail, cells } = explanation;
  const breakdowns = cells.map((cell) => state.breakdowns[cell]);
  const shown = JSON.stringify([explanation, data.axes, breakdowns]);
  if (state.shown === shown) return;
  state.shown = shown;
  const follow = (longer) => { // the whole of it is sent, as another click may come before the answer
    state.send("follow", longer.join("<"));
    const last = longer.at(-1);
    if (trail.length && Object.hasOwn(state.breakdowns, last)) explain(state, { captions: [], trail: longer, cells: [last] });
  };
  const box = element("div", "breakdowns");
  box.append(...cells.map((cell, i) => drawBreakdown(data.axes, cell, breakdowns[i], (next) => {
    follow([...(trail.length ? trail : [cell]), next]);
  })));
  const hadKeyboard = hasKeyboard(state.answer);
  state.answer.replaceChildren(
    ...captions.map((text) => element("p", "caption", text)),
    ...(trail.length ? [drawTrail(data.axes, trail, follow)] : []),
    ...breakdowns.map(({ formula }) => formula).filter(Boolean).map(drawFormula),
    box,
  );
  if (hadKeyboard) state.answer.querySelector("[aria-current]")?.focus({ preventScroll: true });
}

function drawTrail(axes, cells, follow) {
  const trail = element("nav", "trail");
  trail.setAttribute("aria-label", "The numbers that were taken apart");
  cells.forEach((cell, place) => {
    if (place) trail.append(element("span", "", " ← "));
    const crumb = element("button", "link", named(axes, cell));
    if (place === cells.length - 1) crumb.setAttribute("aria-current", "true");
    crumb.onclick = () => follow(cells.slice(0, place + 1));
    trail.append(crumb);
  });
  return trail;
}

function drawFormula(latex) {
  const line = element("p", "formula");
  line.append(typeset(latex));
  return line;
}
