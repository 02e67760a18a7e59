// State: where one is in a pass, and where each move leads. `where` is as in the document; nothing here changes it.

const MOVES = "what would move it";
export const QUESTIONS = ["what made it", MOVES, "what if"];
export const ORDERS = ["large ones first", "in order"];

export function stepAt(pass, where) {
  return pass.document.steps.find((step) => step.id === where.step);
}

export function isFirst(pass, where) {
  return pass.document.steps[0].id === where.step;
}

// Every slot of the pictures of a step.
export function slotsOf(step) {
  return step.pictures.flatMap((picture) => picture.grid.flat()).filter(Boolean);
}

// The cell that the panel is about: the last that was unfolded, else the selected one of the stage that was picked here.
export function focusOf(pass, where) {
  const unfolded = pass.read(where.trail.at(-1) ?? "");
  if (unfolded) return unfolded;
  const name = subjectOf(pass, where);
  return { name, index: pass.indexAt(name, where.cell) };
}

function subjectOf(pass, where) {
  const step = stepAt(pass, where);
  return where.picked && isShownIn(step, where.picked) ? where.picked : step.subject;
}

// A step without pictures shows the whole pass.
function isShownIn(step, name) {
  return !step.pictures.length || step.stages.includes(name) || slotsOf(step).some((slot) => slot.stage === name);
}

// The step that shows the cell in focus, where this one doesn't: one that was unfolded may be from far before.
export function homeOf(pass, where) {
  const { name } = focusOf(pass, where);
  return isShownIn(stepAt(pass, where), name) ? null : pass.stepOf(name);
}

// The same place in a pass, which may be another than the one it was in.
export function fitted(pass, where) {
  const there = {
    ...where,
    step: pass.nearestStep(where.step),
    cell: pass.within(where.cell),
    picked: pass.stages.has(where.picked) ? where.picked : "",
    trail: leading(pass, where.trail),
    ask: QUESTIONS.includes(where.ask) ? where.ask : QUESTIONS[0],
    order: ORDERS.includes(where.order) ? where.order : ORDERS[0],
  };
  return { ...there, trail: heldTrail(pass, there) };
}

// What would move a number is asked of one number, which stays the same while one looks at other steps and heads.
function heldTrail(pass, where) {
  if (where.ask !== MOVES || where.trail.length) return where.trail;
  const { name, index } = focusOf(pass, where);
  return [pass.address(name, index)];
}

// Where one was, for the pass that follows. Of other words it is what is seen first of them, if nobody picked other words or
// another answer than those first seen. The largest numbers, which come with them, are others at each checkpoint.
export function carried({ document: before, where }, now) {
  const isPicked = ["query", "key", "answer"].some((name) => where.cell[name] !== before.start[name]);
  const isOther = String(before.words.query) !== String(now.words.query);
  return isOther && !isPicked ? { ...where, cell: now.start } : where;
}

// A trail as far as each of its cells was computed from the next.
function leading(pass, trail) {
  const kept = [];
  for (const address of trail) {
    const cell = pass.read(address);
    const before = kept.length && pass.read(kept.at(-1));
    if (!cell || (before && !isAmong(pass, pass.cellsOf(before.name, before.index), address))) break;
    kept.push(address);
  }
  return kept;
}

function isAmong(pass, cells, address) {
  return cells.some(({ name, index }) => pass.address(name, index) === address);
}

// Another step, all of it there. The number whose slopes are shown stays the one that was asked about.
export function atStep(where, step) {
  return { step, reveal: null, ...(where.ask === MOVES ? {} : { trail: [] }) };
}

// The id of the step so many further on, or null where there is none.
export function besideStep(pass, where, by) {
  const ids = stepsOf(pass);
  return ids[ids.indexOf(where.step) + by] ?? null;
}

// The ids of the steps that this pass has.
export function stepsOf(pass) {
  return pass.document.steps.map(({ id }) => id);
}

// Another cell, in the step that shows its stage if this one doesn't.
export function atCell(pass, where, name, index) {
  const found = { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  return isShownIn(stepAt(pass, where), name) ? found : { ...found, step: pass.stepOf(name).id, reveal: null };
}

// One of the cells that the focus was computed from, unfolded in place.
export function unfolded(pass, where, name, index) {
  const from = focusOf(pass, where);
  return {
    cell: pass.selectionAt(name, index, where.cell),
    trail: [...(where.trail.length ? where.trail : [pass.address(from.name, from.index)]), pass.address(name, index)],
  };
}

// The head so many further on, round and round.
export function atHead(pass, where, by) {
  const heads = headsOf(pass);
  return withHead(where, (where.cell.head + by + heads) % heads);
}

export function withHead(where, head) {
  return { cell: { ...where.cell, head }, trail: where.ask === MOVES ? where.trail : [] };
}

function headsOf(pass) {
  const lengths = [...pass.stages.values()].flatMap(({ axes }) => axes.flatMap(({ coordinates }) => coordinates));
  return Math.max(1, ...lengths.filter(([name]) => name === "head").map(([, length]) => length));
}
