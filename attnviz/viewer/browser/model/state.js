// The state of the viewer: the bands of a step and of the sheet, and the selection, as pure functions.
import { CHOICES } from "../../generated/where.js";
import { lengthsOf } from "./axes.js";

// Whether the sheet is there. A step that adds nothing to it is shown as it is for all words.
/** @param {Pass} pass @param {Where} where */
export function isSheet(pass, where) {
  return isOfSheet(pass, where) && pass.document.steps.find(({ id }) => id === where.step).bands.length > 0;
}

// The step that one sees who presents the sheet: the next of the walk, or its last.
/** @param {Pass} pass @param {Where} where */
export function presentedStep(pass, where) {
  const { steps } = pass.document,
    at = steps.findIndex(({ id }) => id === where.step);
  if (!where.present || !isOfSheet(pass, where)) return where.step;
  const walk = walkOf(pass, where);
  return steps.slice(at).find(({ id }) => walk.includes(id))?.id ?? walk.at(-1);
}

// Whether a pass has a sheet.
/** @param {Pass} pass */
export function hasSheet({ document: { steps } }) {
  return steps.some(({ bands }) => bands.length);
}

// Whether one looks at the sheet of a pass, in whatever step.
export function isOfSheet(pass, { view }) {
  return view === "sheet" && hasSheet(pass);
}

// The ids of the steps that one walks through: on the sheet the first of all, those with bands, and where nobody presents the
// last of all.
/** @param {Pass} pass @param {Where} where */
export function walkOf(pass, where) {
  const { steps } = pass.document,
    isOfBands = isOfSheet(pass, where),
    ends = where.present ? [steps[0]] : [steps[0], steps.at(-1)];
  return steps.filter(step => !isOfBands || step.bands.length || ends.includes(step)).map(({ id }) => id);
}

// The pages of the sheet in their order, each by the last step with bands on it: by then all of them are there. How the first
// query is made is none of them: on paper queries, keys and values are given.
/** @param {Pass} pass */
export function pagesOf({ document: { steps } }) {
  return [
    ...new Map(
      steps.filter(({ bands, page }) => bands.length && !page.startsWith("query")).map(step => [step.page, step]),
    ).values(),
  ];
}

// The number of the layer that a page is of, as it is named.
export function layerOfPage(page) {
  return Number(page.split("-").at(-1));
}

// The number of reveals of a step, and the one in which each of its bands comes to light: its rows in the first, what they add
// up to in the last. Numbers that are multiplied stand there before their sum, and what has no sentence comes with the next.
export function revealsOfBands({ bands }) {
  let count = 0;
  const places = bands.map((band, place) => {
    const isAfterProducts = band.factors && place === 0,
      first = isAfterProducts ? count + 1 : count;
    const last = isSummed(band) ? first + 1 : first;
    if (band.sentence.length) count = last + 1;
    return { first, last };
  });
  return { count, places };
}

// Whether each of its rows adds up to a number at its right.
function isSummed({ right }) {
  return right !== null && right.columns === null;
}

// The page of the sheet that one is on: its bands in order, and how far each has come: {step, band, isThere, isWhole, isLit,
// multiplies}. `isThere` are its rows, `isWhole` is what they add up to; where it `multiplies`, its products are written.
/** @param {Pass} pass @param {Where} where */
export function standing(pass, where) {
  const { steps } = pass.document,
    now = steps.findIndex(({ id }) => id === where.step);
  const onPage = steps.flatMap((step, at) => {
    if (step.page !== steps[now].page) return [];
    const { count, places } = revealsOfBands(step),
      reached = at < now ? count : at > now ? -1 : (where.reveal ?? count);
    return step.bands.map((band, place) => ({
      step,
      band,
      isThere: reached >= places[place].first,
      isWhole: reached >= places[place].last,
    }));
  });
  const isNow = each => each?.step.id === where.step;
  // Until its sum is there. Keys have had their sentence by then: their products stay as long as one looks at the scores.
  const isMultiplied = (each, next) =>
    next?.band.factors
      ? isNow(next) && (!isNow(each) || !next.isWhole)
      : isSummed(each.band) && isNow(each) && !each.isWhole;
  const lit = onPage.findLast(({ isThere }) => isThere);
  return onPage.map((each, place) => ({
    ...each,
    isLit: each === lit,
    multiplies: isMultiplied(each, onPage[place + 1]),
  }));
}

// The stages of that page that are still to come. One that stands in several bands is there with the first of them.
export function toCome(pass, where) {
  const onPage = standing(pass, where),
    drawn = new Set(onPage.filter(({ isThere, band }) => isThere && !band.array).map(({ band }) => band.cells.stage));
  return new Set(
    onPage.flatMap(({ band: { cells, array, right }, isThere, isWhole }) => [
      ...(isThere || array || drawn.has(cells.stage) ? [] : [cells.stage]),
      ...(isWhole || !right ? [] : [right.stage]),
    ]),
  );
}

// The stages that one sees on it, and where what stands there is from, as far as it is unfolded.
function stagesOn(pass, where) {
  const source = sourceAt(pass, where);
  return new Set(
    [...standing(pass, where), ...(source ? sourceBands(pass, where, source) : [])].flatMap(
      ({ band: { left, cells, right, leftover } }) => [left, cells, right, leftover].flatMap(slot => slot?.stage ?? []),
    ),
  );
}

// Where the numbers of a band of that page are from, which one asks as where.from: {name, word, heading, formula, bands}; null if
// nobody asks.
/** @param {Pass} pass @param {Where} where */
export function sourceAt(pass, where) {
  return (isSheet(pass, where) && sourcesOn(pass, where).sources.find(({ name }) => name === where.from)) || null;
}

// Its bands, all there.
export function sourceBands(pass, where, { bands }) {
  const step = sourcesOn(pass, where);
  return bands.map(band => ({
    step,
    band,
    isThere: true,
    isWhole: true,
    isLit: false,
    multiplies: band.left !== null,
  }));
}

/** @param {Pass} pass */
function sourcesOn({ document: { steps } }, where) {
  const { page } = steps.find(({ id }) => id === where.step);
  return steps.find(step => step.page === page && step.sources.length) ?? { sources: [] };
}

export const QUESTIONS = CHOICES.ask;
export const ORDERS = CHOICES.order;
export const VIEWS = CHOICES.view;
export const COMPARISONS = CHOICES.compare;
export const ROUTES = CHOICES.route;
export const MOVES = QUESTIONS[1];

/** @param {Pass} pass @param {Where} where */
export function stepAt(pass, where) {
  return pass.document.steps.find(step => step.id === where.step);
}

/** @param {Pass} pass @param {Where} where */
export function isFirst(pass, where) {
  return pass.document.steps[0].id === where.step;
}

// Every slot of the pictures of a step.
export function slotsOf(step) {
  return step.pictures.flatMap(picture => picture.grid.flat()).filter(Boolean);
}

// The cell that the panel is about: the last that was unfolded, else the selected one of the stage that was picked here.
/** @param {Pass} pass @param {Where} where */
export function focusOf(pass, where) {
  const unfolded = pass.read(where.trail.at(-1) ?? "");
  if (unfolded) return unfolded;
  const name = subjectOf(pass, where);
  return { name, index: pass.indexAt(name, where.cell) };
}

/** @param {Pass} pass @param {Where} where */
function subjectOf(pass, where) {
  if (where.picked && isShown(pass, where, where.picked)) return where.picked;
  const { subject, bands } = stepAt(pass, where);
  if (
    !isSheet(pass, where) ||
    bands.some(({ left, cells, right }) => [left, cells, right].some(slot => slot?.stage === subject))
  )
    return subject;
  const { left, cells, right } = bands.at(-1); // the step has made more than the sheet shows yet
  return (right ?? left ?? cells).stage;
}

// A step without pictures shows the whole pass.
/** @param {Pass} pass @param {Where} where */
function isShown(pass, where, name) {
  if (isSheet(pass, where)) return stagesOn(pass, where).has(name);
  const step = stepAt(pass, where);
  return !step.pictures.length || step.stages.includes(name) || slotsOf(step).some(slot => slot.stage === name);
}

// The step that shows the cell in focus, where this one doesn't: one that was unfolded may be from far before.
/** @param {Pass} pass @param {Where} where */
export function homeOf(pass, where) {
  const { name } = focusOf(pass, where);
  return isShown(pass, where, name) ? null : pass.stepOf(name);
}

// The same place in a pass, which may be another than the one it was in.
/** @param {Pass} pass @param {Where} where */
export function fitted(pass, where) {
  const place = {
    ...where,
    step: pass.nearestStep(where.step),
    cell: pass.within(where.cell),
    picked: pass.stages.has(where.picked) ? where.picked : "",
    trail: leading(pass, where.trail),
    ...chosen((name, all) => all.find(each => each === where[name])),
  };
  return { ...place, step: presentedStep(pass, place), trail: heldTrail(pass, place) };
}

// For each choice the value that `find(name, all)` finds; the first where it finds none.
/** @returns {Pick<Where, keyof typeof CHOICES>} */
export function chosen(find) {
  const values = Object.entries(CHOICES).map(([name, all]) => [name, find(name, all) ?? all[0]]);
  return Object.fromEntries(values);
}

// The question “what would move it” is asked of one number, which stays the same while one looks at other steps and heads.
/** @param {Pass} pass @param {Where} where */
function heldTrail(pass, where) {
  if (where.ask !== MOVES || where.trail.length) return where.trail;
  const { name, index } = focusOf(pass, where);
  return [pass.address(name, index)];
}

// The cell that one looks at in a step before picking any.
export function startAt({ steps, starts }, id) {
  return starts[steps.find(step => step.id === id).layer];
}

// Whether somebody picked other words, or another answer, than those seen first. The largest numbers, which come with them,
// are others at each checkpoint.
function hasPicked(cell, first) {
  return ["query", "key", "answer"].some(name => cell[name] !== first[name]);
}

// Where somebody chose to look, in a pass that may be of other words. The selection follows its words. Where nobody picked
// any, a model's question decides what is seen of others, and so does the start of a sentence that was too short for it.
export function carried({ document: before, where }, now) {
  const first = startAt(before, where.step),
    next = startAt(now, now.nearest[where.step]);
  const areSame = ["query", "key"].every(role => String(before.words[role]) === String(now.words[role]));
  // Nor does who opens the address begin elsewhere: it has no number that nobody picked.
  if (areSame)
    return now.model || where.picked || where.trail.length || hasPicked(where.cell, first)
      ? where
      : { ...where, cell: { ...where.cell, query: next.query, key: next.key } };
  const isFirst = !hasPicked(where.cell, first) && (now.model || hasPicked(next, first));
  const cell = isFirst ? next : followed(before.words, now.words, where.cell);
  return { ...where, cell, trail: hasPicked(cell, where.cell) ? [] : where.trail };
}

// The same two words where both are still there, as often before as they were; else the same places.
function followed(before, now, cell) {
  const query = now.query.indexOf(before.query[cell.query]),
    key = now.key.indexOf(before.key[cell.key]);
  return query < 0 || key < 0 ? cell : { ...cell, query, key };
}

// A trail as far as each of its cells was computed from the next.
/** @param {Pass} pass */
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

/** @param {Pass} pass */
function isAmong(pass, cells, address) {
  return cells.some(({ name, index }) => pass.address(name, index) === address);
}

// Another step, all of it there. The number whose slopes are shown stays the one that was asked about. A layer has a start of
// its own: who has picked nothing sees that.
/** @param {Pass} pass */
export function atStep({ document }, where, step) {
  const first = startAt(document, where.step),
    next = startAt(document, step);
  const moved = Object.entries(where.cell).map(([name, place]) => [name, place === first[name] ? next[name] : place]);
  const cell = where.picked || hasPicked(where.cell, first) ? where.cell : Object.fromEntries(moved);
  return { step, cell, reveal: null, from: "", ...(where.ask === MOVES ? {} : { trail: [] }) };
}

// The id of the step so many further on in one's walk, or null where there is none. A step beside the walk stands before
// the next that is on it.
/** @param {Pass} pass @param {Where} where */
export function besideStep(pass, where, by) {
  const ids = stepsOf(pass),
    walk = walkOf(pass, where),
    at = ids.indexOf(where.step);
  const further = by > 0 ? walk.filter(id => ids.indexOf(id) > at) : walk.filter(id => ids.indexOf(id) < at).reverse();
  return further[Math.abs(by) - 1] ?? null;
}

// The ids of the steps that this pass has.
/** @param {Pass} pass */
export function stepsOf(pass) {
  return pass.document.steps.map(({ id }) => id);
}

// Another cell, in the step that shows its stage if this one doesn't.
/** @param {Pass} pass @param {Where} where */
export function atCell(pass, where, name, index) {
  const focus = { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  return isShown(pass, where, name) ? focus : { ...focus, step: pass.stepOf(name).id, reveal: null };
}

// A cell, where one sees how it was computed: the first step says only what comes out.
/** @param {Pass} pass @param {Where} where */
export function inspected(pass, where, name, index) {
  return {
    ...(isFirst(pass, where) ? { step: pass.stepOf(name).id, reveal: null } : {}),
    ...atCell(pass, where, name, index),
  };
}

// One of the cells that the focus was computed from, unfolded in place.
/** @param {Pass} pass @param {Where} where */
export function unfolded(pass, where, name, index) {
  const from = focusOf(pass, where);
  return {
    cell: pass.selectionAt(name, index, where.cell),
    trail: [...(where.trail.length ? where.trail : [pass.address(from.name, from.index)]), pass.address(name, index)],
  };
}

// The head so many further on, round and round.
/** @param {Pass} pass @param {Where} where */
export function atHead(pass, where, by) {
  const heads = headsOf(pass);
  return withHead(where, (where.cell.head + by + heads) % heads);
}

export function withHead(where, head) {
  return { cell: { ...where.cell, head }, trail: where.ask === MOVES ? where.trail : [] };
}

/** @param {Pass} pass */
function headsOf(pass) {
  return lengthsOf(pass.stages.values()).head ?? 1;
}
