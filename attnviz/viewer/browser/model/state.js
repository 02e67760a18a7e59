// The state of the viewer: the bands of a step and of the sheet, and the selection, as pure functions.
import { CHOICES } from "../../generated/where.js";
import { isHeaded } from "./axes.js";
import { hasOneText, haveSameWords, wordsAt } from "./words.js";

/** Whether the sheet is shown. A step that adds nothing to it is shown as for all words. @param {Pass} pass @param {Where} where */
export const isSheet = (pass, where) => isOfSheet(pass, where) && stepAt(pass, where).bands.length > 0;

/** The step that is shown to who presents the sheet: the next of the walk, or its last. @param {Pass} pass @param {Where} where @returns {string} */
export function presentedStep(pass, where) {
  const ids = stepsOf(pass),
    walk = walkOf(pass, where);
  if (!where.present || !isOfSheet(pass, where)) return where.step;
  return ids.slice(ids.indexOf(where.step)).find(id => walk.includes(id)) ?? walk[walk.length - 1];
}

export const hasSheet = (/** @type {Pass} */ { document: { steps } }) => steps.some(({ bands }) => bands.length);
/** Whether the view is of the sheet, in whatever step. @param {Pass} pass @param {{ view: string }} props */
export const isOfSheet = (pass, { view }) => view === "sheet" && hasSheet(pass);

/** The attention weights that have come by a step, layer by layer, where the view is of all heads; none on a step without pictures.
 * @param {Pass} pass @param {Where} where @returns {string[]} */
export function headsAt(pass, where) {
  const { layers } = pass.document,
    now = stepsOf(pass).indexOf(where.step);
  if (where.view !== "heads" || !slotsOf(stepAt(pass, where)).length) return [];
  const hasCome = (/** @type {string} */ name) => stepsOf(pass).indexOf(pass.stepOf(name).id) <= now;
  return layers.map(({ attention }) => attention).filter(name => isHeaded(pass.stages.get(name)) && hasCome(name));
}

/** Whether all heads are shown. A step before their attention weights is shown as for all words. @param {Pass} pass @param {Where} where */
export const isHeads = (pass, where) => headsAt(pass, where).length > 0;

/** All heads, in this step or else in that of the attention weights that it leads to. @param {Pass} pass @param {Where} where */
export function atHeads(pass, where) {
  const here = { view: /** @type {const} */ ("heads"), reveal: null },
    isHere = isHeads(pass, { ...where, ...here });
  return isHere ? here : { ...here, step: pass.stepOf(stepAt(pass, where).attention).id };
}

// The ids of the steps of a walk: on the sheet the first of all, those with bands, and unless it is presented the last of all.
export function walkOf(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const { steps } = pass.document,
    isOfBands = isOfSheet(pass, where),
    ends = where.present ? [steps[0]] : [steps[0], steps.at(-1)];
  return steps.filter(step => !isOfBands || step.bands.length || ends.includes(step)).map(({ id }) => id);
}

/** The pages of the sheet in their order, each by the last step with bands on it: by then all of them are shown. The page on how the
 * first query is computed is left out: on paper queries, keys and values are given. @param {Pass} pass */
export function pagesOf({ document: { steps } }) {
  const onPages = steps.filter(({ bands, page }) => bands.length && !page.startsWith("query"));
  return [...new Map(onPages.map(step => [step.page, step])).values()];
}

/** The number of a page's layer, counted from 1. @param {string} page */
export const layerOfPage = page => Number(page.split("-").at(-1));

/** The number of reveals of a step, and those in which each of its bands is shown: its rows in `first`, what they add up to in `last`. Numbers
 * that are multiplied are shown before their sum, and a band without a sentence comes with the next. @param {Step} step */
export function revealsOfBands({ bands }) {
  let count = 0;
  const reveals = bands.map((band, nth) => {
    const first = band.factors && nth === 0 ? count + 1 : count,
      last = isSummed(band) ? first + 1 : first;
    if (band.sentence.length) count = last + 1;
    return { first, last };
  });
  return { count, reveals };
}

/** Whether each of its rows adds up to a number at its right. @param {Band} band */
const isSummed = ({ right }) => right !== null && right.columns === null;

/** The bands on the current page of the sheet in order, and how far each has come: {step, band, isThere, isWhole, isLit, multiplies}. `isThere`
 * are its rows, `isWhole` is what they add up to; if it `multiplies`, its products are written. @param {Pass} pass @param {Where} where
 * @returns {BandState[]} */
export function visibleRows(pass, where) {
  const { steps } = pass.document,
    now = steps.findIndex(({ id }) => id === where.step);
  const onPage = steps.flatMap((step, nth) => {
    if (step.page !== steps[now].page) return [];
    const { count, reveals } = revealsOfBands(step),
      reached = nth < now ? count : nth > now ? -1 : (where.reveal ?? count);
    return step.bands.map((band, nth) => {
      const { first, last } = reveals[nth];
      return { step, band, isThere: reached >= first, isWhole: reached >= last };
    });
  });
  const isNow = (/** @type {Partial<BandState> | undefined} */ each) => each?.step?.id === where.step;
  // Until its sum is shown. Keys have had their sentence by then: their products stay while the step is about the scores.
  const isMultiplied = (/** @type {Omit<BandState, "isLit" | "multiplies">} */ each, /** @type {any} */ next) =>
    next?.band.factors
      ? isNow(next) && (!isNow(each) || !next.isWhole)
      : isSummed(each.band) && isNow(each) && !each.isWhole;
  const lit = onPage.findLast(({ isThere }) => isThere);
  return onPage.map((each, nth) => ({ ...each, isLit: each === lit, multiplies: isMultiplied(each, onPage[nth + 1]) }));
}

/** The stages of that page that are not shown yet. One with several bands is shown with the first. @param {Pass} pass @param {Where} where */
export function toCome(pass, where) {
  const onPage = visibleRows(pass, where),
    drawn = new Set(onPage.filter(({ isThere, band }) => isThere && !band.array).map(({ band }) => band.cells.stage));
  return new Set(
    onPage.flatMap(({ band: { cells, array, right }, isThere, isWhole }) => [
      ...(isThere || array || drawn.has(cells.stage) ? [] : [cells.stage]),
      ...(isWhole || !right ? [] : [right.stage]),
    ]),
  );
}

/** The stages on that page, and those that are unfolded there. @param {Pass} pass @param {Where} where @returns {Set<string | undefined>} */
function stagesOn(pass, where) {
  const source = sourceAt(pass, where),
    bands = [...visibleRows(pass, where), ...(source ? sourceBands(pass, where, source) : [])].map(({ band }) => band);
  return new Set(
    bands.flatMap(({ left, cells, right, leftover }) => [left, cells, right, leftover]).map(slot => slot?.stage),
  );
}

// Where the numbers of a band of that page come from, if where.from names it: {name, word, heading, formula, bands}; else null.
export const sourceAt = (/** @type {Pass} */ pass, /** @type {Where} */ where) =>
  (isSheet(pass, where) && sourcesOn(pass, where).sources.find(({ name }) => name === where.from)) || null;

/** @param {Pass} pass @param {Where} where @param {{ bands: Band[] }} props @returns {BandState[]} */
export function sourceBands(pass, where, { bands }) {
  const state = { step: sourcesOn(pass, where), isThere: true, isWhole: true, isLit: false };
  return bands.map(band => ({ ...state, band, multiplies: band.left !== null }));
}

function sourcesOn(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const { page } = stepAt(pass, where);
  return pass.document.steps.find(step => step.page === page && step.sources.length) ?? { sources: [] };
}

export const QUESTIONS = CHOICES.ask;
export const ORDERS = CHOICES.order;
export const VIEWS = CHOICES.view;
export const COMPARISONS = CHOICES.compare;
export const ROUTES = CHOICES.route;
export const MOVES = QUESTIONS[1];

/** @param {Pass} pass @param {Where} where @returns {Step} */
export const stepAt = (pass, where) => /** @type {Step} */ (pass.document.steps.find(({ id }) => id === where.step));
/** @param {Pass} pass @param {Where} where */
export const isFirst = (pass, where) => pass.document.steps[0].id === where.step;
/** @param {{ pictures: ContractPicture[] }} step @returns {Matrix[]} */
export const slotsOf = step => step.pictures.flatMap(({ grid }) => grid.flat()).filter(slot => slot !== null);

// The cell that the panel is about: the last that was unfolded, else the selected one of the stage that was picked here.
export function focusOf(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const unfolded = pass.read(where.trail.at(-1) ?? "");
  if (unfolded) return unfolded;
  const name = subjectOf(pass, where);
  return { name, index: pass.indexAt(name, where.cell) };
}

export function focusAddress(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const { name, index } = focusOf(pass, where);
  return pass.address(name, index);
}

function subjectOf(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  if (where.picked && isShown(pass, where, where.picked)) return where.picked;
  const heads = headsAt(pass, where);
  if (heads.length) return heads.find(name => name === stepAt(pass, where).attention) ?? heads[heads.length - 1];
  const { subject, bands } = stepAt(pass, where),
    isOnSheet = bands.some(({ left, cells, right }) => [left, cells, right].some(slot => slot?.stage === subject));
  if (!isSheet(pass, where) || isOnSheet) return subject;
  const { left, cells, right } = bands[bands.length - 1]; // the step has computed more than the sheet shows yet
  return (right ?? left ?? cells).stage;
}

/** A step without pictures shows the whole pass. @param {Pass} pass @param {Where} where @param {string} name */
function isShown(pass, where, name) {
  if (isSheet(pass, where)) return stagesOn(pass, where).has(name);
  if (isHeads(pass, where)) return headsAt(pass, where).includes(name);
  const step = stepAt(pass, where);
  return !step.pictures.length || step.stages.includes(name) || slotsOf(step).some(slot => slot.stage === name);
}

/** The step that shows the cell in focus, if this one doesn't: an unfolded one may be from far before. @param {Pass} pass @param {Where} where */
export function homeOf(pass, where) {
  const { name } = focusOf(pass, where);
  return isShown(pass, where, name) ? null : pass.stepOf(name);
}

/** `where` fitted to a pass, which may be another than the one it was in. @param {Pass} pass @param {Where} where @returns {Where} */
export function fitted(pass, where) {
  const at = {
    ...where,
    step: pass.nearestStep(where.step),
    cell: pass.within(where.cell),
    picked: pass.stages.has(where.picked) ? where.picked : "",
    trail: validTrail(pass, where.trail),
    ...choicesFrom((name, all) => all.find(each => each === Object(where)[name])),
  };
  at.step = presentedStep(pass, at);
  at.cell = pass.carried(at.cell, pass.layerAt(at.step));
  // The question “what would move it” is about one number, which stays the same in other steps and heads.
  const isHeld = at.ask === MOVES && !at.trail.length;
  return { ...at, trail: isHeld ? [focusAddress(pass, at)] : at.trail };
}

/** For each choice the value that `find(name, all)` returns; the first if that is undefined. @returns {Pick<Where, keyof typeof CHOICES>} */
export function choicesFrom(/** @type {(name: string, all: readonly string[]) => string | undefined} */ find) {
  const values = Object.entries(CHOICES).map(([name, all]) => [name, find(name, all) ?? all[0]]);
  return Object.fromEntries(values);
}

/** The selected cell of a step before the user picks any. @param {{ steps: Step[], starts: Selected[] }} props @param {string} id */
export const startAt = ({ steps, starts }, id) =>
  starts[/** @type {Step} */ (steps.find(step => step.id === id)).layer];

/** Whether the user picked other words, or another answer, than those shown first. The dimensions of the largest numbers, which come with these,
 * differ at each checkpoint. @param {Selected} cell @param {Selected} first */
const hasPicked = (cell, first) =>
  /** @type {const} */ (["query", "key", "answer"]).some(name => cell[name] !== first[name]);

/** The user's `where` carried over to a pass that may be of other words. The selection follows its words. If the user picked none, a model's
 * question decides what is selected, and so does the start of a sentence that was too short for it.
 * @param {{ document: ContractDocument, where: Where }} props @param {ContractDocument} now @returns {Where} */
export function carried({ document: before, where }, now) {
  const first = startAt(before, where.step),
    next = startAt(now, now.nearest[where.step]),
    words = wordsAt(before, where.step),
    wordsNow = wordsAt(now, now.nearest[where.step]),
    kept = keptIn(before, now, where.kept);
  if (haveSameWords(words, wordsNow)) {
    const isPicked = now.model || where.picked || where.trail.length || hasPicked(where.cell, first);
    // as for who opens the address, which has no number that nobody picked
    return isPicked ? { ...where, ...kept } : { ...where, cell: { ...where.cell, query: next.query, key: next.key } };
  }
  // Two words that were swapped stay selected, so that the same button swaps them back.
  const { query, key } = where.cell,
    typed = words.query,
    isSwapped =
      words.shared && String(typed.with(query, typed[key]).with(key, typed[query])) === String(wordsNow.query),
    isFirst = !isSwapped && !hasPicked(where.cell, where.landed ?? first) && (now.model || hasPicked(next, first)),
    cell = isFirst ? { ...where.cell, ...next } : followed(words, wordsNow, where.cell);
  return { ...where, ...kept, cell, trail: hasPicked(cell, where.cell) ? [] : where.trail };
}

/** A place whose answer goes with its row, if it went with the row before: each word of a text that is written has the most probable one next.
 * @param {{ pass: Pass, where: Where }} before @param {Pass} pass @param {Where} where @returns {Where} */
export function withAnswerOfRow(before, pass, where) {
  const { answers } = pass.document.model ?? {},
    { answer } = where.cell;
  /** @type {(pass: Pass, at: Where) => number | null} */
  const mostAt = (pass, { step, cell: { query } }) => {
    const { document } = pass,
      isOfAnswers = String(pass.wordsAt(step).query) === String(document.words.query);
    if (!isOfAnswers || query >= document.words.query.length) return null; // the rows of another text have no answers
    const row = [...pass.row(/** @type {string} */ (answers), [query, 0])];
    return row.indexOf(Math.max(...row));
  };
  if (!answers || hasOneText(pass.document) || hasOneText(before.pass.document)) return where;
  const [was, now] = [mostAt(before.pass, before.where), mostAt(pass, where)],
    isKept = was === null ? where.kept?.[pass.layerAt(where.step)] : was !== answer;
  return now === null || isKept || answer !== before.where.cell.answer
    ? where
    : { ...where, cell: { ...where.cell, answer: now } };
}

/** The cells that were picked in other layers, followed in theirs. @param {ContractDocument} before @param {ContractDocument} now
 * @param {Where["kept"]} kept @returns {Pick<Where, "kept">} */
function keptIn(before, now, kept = {}) {
  const cells = Object.entries(kept).filter(([layer]) => Number(layer) <= now.layers.length),
    wordsOf = (/** @type {ContractDocument} */ { layers }, /** @type {string} */ layer) =>
      layers[Number(layer) - 1].words;
  return cells.length
    ? {
        kept: Object.fromEntries(
          cells.map(([layer, cell]) => [layer, followed(wordsOf(before, layer), wordsOf(now, layer), cell)]),
        ),
      }
    : {};
}

// The same two words if both are still in the sentence, as often before as they were; else the same positions. Of two sentences each has its own.
function followed(/** @type {Words} */ before, /** @type {Words} */ now, /** @type {Selected} */ cell) {
  const query = now.query.indexOf(before.query[cell.query]),
    key = now.key.indexOf(before.key[cell.key]);
  if (before.shared && (query < 0 || key < 0)) return cell;
  return { ...cell, query: query < 0 ? cell.query : query, key: key < 0 ? cell.key : key };
}

/** A trail as far as each of its cells was computed from the next. @param {Pass} pass @param {string[]} trail */
function validTrail(pass, trail) {
  const end = trail.findIndex((address, nth) => {
    const cell = pass.read(address),
      before = nth > 0 && pass.read(trail[nth - 1]),
      isSource = (/** @type {Cell} */ { name, index }) => pass.address(name, index) === address;
    return !cell || (before && !pass.cellsOf(before.name, before.index).some(isSource));
  });
  return end < 0 ? trail : trail.slice(0, end);
}

/** Another step, complete. The number whose slopes are shown stays the one that was asked about. A layer has its own start: a user who
 * has picked nothing sees that. @param {Pass} pass @param {Where} where @param {string} step */
export function atStep(pass, where, step) {
  const { document } = pass,
    first = startAt(document, where.step),
    next = startAt(document, step),
    rest = { step, reveal: null, from: "", ...(where.ask === MOVES ? {} : { trail: [] }) };
  if (!haveSameWords(pass.wordsAt(where.step), pass.wordsAt(step)))
    return { ...rest, ...atOtherWords(pass, where, step) };
  const isPicked = where.picked || hasPicked(where.cell, first),
    moved = Object.entries(where.cell).map(([name, at]) => [
      name,
      at === Object(first)[name] ? Object(next)[name] : at,
    ]),
    cell = isPicked ? where.cell : Object.fromEntries(moved);
  return { ...rest, cell };
}

/** The cell in a layer of other words: the one that the user picked there, else what the picked one leads to, else the layer's start.
 * @param {Pass} pass @param {Where} where @param {string} step */
function atOtherWords(pass, where, step) {
  const layer = pass.layerAt(step),
    entered = where.landed ?? startAt(pass.document, where.step),
    isPicked = hasPicked(where.cell, entered),
    kept = isPicked ? { ...where.kept, [pass.layerAt(where.step)]: where.cell } : (where.kept ?? {}),
    start = { ...where.cell, ...startAt(pass.document, step) },
    cell = { ...(kept[layer] ?? (isPicked ? pass.carried(where.cell, layer) : start)), layer };
  return { cell, kept, landed: cell };
}

// The id of the step `by` further on in the walk, or null. A step that is not on the walk stands before the next that is.
export function besideStep(/** @type {Pass} */ pass, /** @type {Where} */ where, /** @type {number} */ by) {
  const ids = stepsOf(pass),
    now = ids.indexOf(where.step),
    walk = walkOf(pass, where),
    further = by > 0 ? walk.filter(id => ids.indexOf(id) > now) : walk.filter(id => ids.indexOf(id) < now).reverse();
  return further[Math.abs(by) - 1] ?? null;
}

export const stepsOf = (/** @type {Pass} */ pass) => pass.document.steps.map(({ id }) => id);

/** A cell, in the step that shows its stage if this one doesn't. @param {Pass} pass @param {Where} where @param {string} name
 * @param {number[]} index */
export function atCell(pass, where, name, index) {
  const { id } = isShown(pass, where, name) ? stepAt(pass, where) : pass.stepOf(name),
    layer = pass.layerAt(id),
    other = id === where.step ? {} : { step: id, reveal: null };
  // The words of a layer among others, as in the whole pass: its cell is unfolded there.
  if (!pass.canSelect(name, layer)) return { ...other, picked: "", trail: [pass.address(name, index)] };
  return { cell: pass.selectionAt(name, index, pass.carried(where.cell, layer)), picked: name, trail: [], ...other };
}

/** A cell, in the step that computes it: the first step shows only results. @param {Pass} pass @param {Where} where @param {string} name
 * @param {number[]} index */
export function inspected(pass, where, name, index) {
  const step = isFirst(pass, where) ? { step: pass.stepOf(name).id, reveal: null } : {};
  return { ...step, ...atCell(pass, where, name, index) };
}

/** One of the cells that the focus was computed from, unfolded in place. @param {Pass} pass @param {Where} where @param {string} name
 * @param {number[]} index */
export function unfolded(pass, where, name, index) {
  const trail = where.trail.length ? where.trail : [focusAddress(pass, where)];
  const cell = pass.canSelect(name, pass.layerAt(where.step)) ? pass.selectionAt(name, index, where.cell) : where.cell;
  return { cell, trail: [...trail, pass.address(name, index)] };
}

/** The head `by` further on in its layer, round and round. @param {Pass} pass @param {Where} where @param {number} by */
export function atHead(pass, where, by) {
  const [heads] = pass.stages.get(stepAt(pass, where).attention).shape;
  return withHead(where, (where.cell.head + by + heads) % heads);
}

export const withHead = (/** @type {Where} */ where, /** @type {number} */ head) => ({
  cell: { ...where.cell, head },
  trail: where.ask === MOVES ? where.trail : [],
});
