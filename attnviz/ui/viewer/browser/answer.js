// Answers: captions, the trail and the breakdowns of cells. What has come already is shown at once; the server's answer,
// with what can be seen from there, replaces it.

// Asks for how all cells of the picture were made, as someone comes near who may pick one; and again after a while, as
// Streamlit drops what is asked while it is about to run for another reason.
function ask(state) {
  if (!state.data.told || !state.drawn.length || state.complete || performance.now() - (state.asked ?? -Infinity) < 1000) return;
  state.asked = performance.now();
  state.send("near", true);
}

function pick(state, cell) {
  const { data } = state;
  state.send("pick", cell);
  if (!data.told) return;
  state.focus = moved(data, state.focus, cell);
  const cells = data.told[parts(cell).stage].map((stage) => inFocus(data, stage, state.focus));
  if (!cells.every((each) => state.breakdowns[each])) return;
  state.drawn.forEach((each) => each.find(cells));
  const captions = Object.entries(state.captions).map(([stage, byHead]) =>
    (byHead[state.focus.head] ?? byHead[0])[inRow(data, stage, state.focus)]);
  say(state, { captions: captions.length ? captions : data.answer.captions, trail: [], cells });
}

// The focus is one place on each coordinate, such as the query; a cell of the concatenation has two on one axis.
function moved(data, focus, cell) {
  const { stage, index } = parts(cell);
  const moves = index.flatMap((place, i) => {
    const [coordinate, inner] = data.coordinates[data.axes[stage][i]];
    const width = inner ? data.labels.d_v.length : 1;
    return [[coordinate, Math.floor(place / width)], ...(inner ? [[inner, place % width]] : [])];
  });
  return { ...focus, ...Object.fromEntries(moves) };
}

function inFocus(data, stage, focus) {
  const place = (axis) => data.coordinates[axis].reduce((sum, each) => sum * data.labels.d_v.length + focus[each], 0);
  return `${stage}[${data.axes[stage].map(place).join(",")}]`;
}

function inRow(data, stage, focus) {
  return focus[data.coordinates[data.axes[stage].at(-2)][0]];
}

function say(state, answer) {
  const { data } = state;
  const said = JSON.stringify([answer, data.labels, answer.cells.map((cell) => state.breakdowns[cell])]);
  if (state.said === said) return;
  state.said = said;
  const follow = (trail) => { // the server is told the whole of it, as another click may come before
    state.send("follow", trail.join("<"));
    const last = trail.at(-1);
    if (answer.trail.length && state.breakdowns[last]) say(state, { captions: [], trail, cells: [last] });
  };
  const box = element("div", "breakdowns");
  box.append(...answer.cells.map((cell) => drawBreakdown(data, cell, state.breakdowns[cell], (next) => {
    follow([...(answer.trail.length ? answer.trail : [cell]), next]);
  })));
  const hadFocus = keyboardIn(state.answer);
  state.answer.replaceChildren(
    ...answer.captions.map((text) => element("p", "caption", text)),
    ...(answer.trail.length ? [drawTrail(data, answer.trail, follow)] : []),
    ...answer.cells.map((cell) => state.breakdowns[cell].formula).filter(Boolean).map(drawFormula),
    box,
  );
  if (hadFocus) state.answer.querySelector("[aria-current]")?.focus({ preventScroll: true });
}

function drawTrail(data, cells, follow) {
  const trail = element("nav", "trail");
  trail.setAttribute("aria-label", "The numbers that were taken apart");
  cells.forEach((cell, place) => {
    if (place) trail.append(element("span", "", " ← "));
    const crumb = element("button", "link", named(data, cell));
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

function drawBreakdown(data, cell, { value, between, lines, conclusion, total }, unfold) {
  const box = element("section", "terms");
  box.append(element("h4", "", `${named(data, cell)} = ${value}`));
  const scroller = element("div", "scroller long");
  const table = element("table");
  const body = element("tbody");
  lines.forEach(([cells, sum, value]) => {
    const line = element("tr");
    const name = element("td", "name");
    cells.forEach((each, place) => {
      if (place) name.append(between);
      const link = element("button", "link", named(data, each));
      link.onclick = () => unfold(each);
      name.append(link);
    });
    line.append(name, element("td", "sum", sum), element("td", "value", value));
    body.append(line);
  });
  const last = element("tr", "total");
  const sum = element("td", "sum", conclusion);
  sum.colSpan = 2;
  last.append(sum, element("td", "value", total));
  const foot = element("tfoot");
  if (conclusion) foot.append(last);
  table.append(body, foot);
  scroller.append(table);
  box.append(scroller);
  return box;
}

// A cell as a person says it: scores[0,1,2] is scores[head 1, cat, sat].
function named(data, cell) {
  const { stage, index } = parts(cell);
  return `${stage}[${index.map((place, i) => data.labels[data.axes[stage][i]][place]).join(", ")}]`;
}

function parts(cell) {
  const [, stage, index] = cell.match(/^(\w+)\[(.*)\]$/);
  return { stage, index: index.split(",").map(Number) };
}
