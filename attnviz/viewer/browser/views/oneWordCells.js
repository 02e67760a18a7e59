// What stands in the cells and sentences of the One word view, on a wide screen and on a phone.
import { noteOn, setInSlot } from "../model/changes.js";
import { digits, fraction, short } from "../model/numeral.js";
import { layerOfKeys, shortLayerName } from "../model/words.js";
import { background, css, textOn } from "../dom/colour.js";
import { button, h } from "../dom/element.js";
import { drawRuns, runsAt } from "../dom/runs.js";
import { added, endsOf, factorsAt, isShownBy, productAt, selectedPlace, sumOfProducts } from "./oneWordParts.js";
import { faceAt, isHidden } from "./slice.js";

// A face is what a cell shows; `label` is for screen readers, `cell` {name, index} is where a click leads.
const TO_COME = { kind: "to-come", text: "" };
const HIDDEN_TO_COME = { kind: "to-come hidden", text: "" };
export const NOTHING = { kind: "blank", text: "" };

// The row model: the faces of a part's row, of the row that the others share if `row` is null. `cellsAt` are those under the columns,
// `leftAt` stands before them, `restAt` is the one of all words without a column, `endsAt` are those at the right.
export const cellsAt = (part, paint, row) =>
  part.columns.map(column => {
    if (column === null) return NOTHING;
    return row === null ? othersAt(part, paint, [column]) : labelled(part, cellAt(part, paint, row, column));
  });

export function leftAt(part, paint, row) {
  if (row === null) return NOTHING;
  return part.isThere ? labelled(part, numberAt(part.left, paint, row, 0)) : TO_COME;
}

export const endsAt = (part, paint, row) =>
  endsOf(part).map(({ column, slot, paint: ownPaint = paint, side = part.side, name }) => {
    if (row === null) return NOTHING;
    if (!part.isWhole) return TO_COME;
    const face = numberAt(slot, ownPaint, row, column);
    return labelled({ side, band: part.band }, name && face.cell ? { ...face, name } : face); // a name where no heading stands over it
  });

// Of two passes a cell says which it is of, and in which band.
const labelled = ({ side, band }, face) =>
  side && face.label ? { ...face, label: `${side}, ${band.label}: ${face.label}` } : face;

/** @returns {any} a face */
function cellAt(part, paint, row, column) {
  if (!part.isThere) return TO_COME;
  if (part.band.array) return { ...arrayAt(part, paint, column), apart: Boolean(part.apart?.has(column)) };
  return numberAt(part.cells, paint, row, column);
}

/** A number of the pass, and its value before any was set by hand. @returns {any} a face */
export function numberAt(slot, paint, row, column) {
  const { name } = slot,
    index = slot.index(row, column),
    old = paint.before(name, index),
    value = paint.pass.number(name, index),
    face = faceAt(slot, paint, row, column);
  if (face.kind === "to-come") return { ...toComeAt(slot, paint.pass, index), place: { name, index } };
  const exact = slot.stage.scale === "share" && paint.pass.document.fractions ? fraction(value) : "";
  return {
    ...face,
    text: exact ? `${exact} = ${face.text}` : face.text,
    isExact: exact !== "",
    cell: { name, index },
    label: `${paint.look.nameOf(name, index)} = ${digits(paint.look.pass.number(name, index) ?? 0)}`,
    was: old !== undefined && old !== value ? short(old) : "",
  };
}

// A hidden key is shown at once, because the mask is given, not computed.
const toComeAt = (slot, pass, index) => (isHidden(slot, pass, index) ? HIDDEN_TO_COME : TO_COME);

// A number of the rule's own array, which is in no stage: clicking it opens the attention weight computed from it.
function arrayAt({ cells, band: { array, label } }, { pass, look, colours }, column) {
  const { name } = cells,
    index = cells.index(0, column);
  if (!look.shown(name, index, array)) return toComeAt(cells, pass, index);
  const value = pass.named(name, array, index)[column],
    colour = background(value, { scale: "share", limit: 1 }, colours);
  const face = { kind: "number", text: short(value), label: `${label} = ${digits(value)}`, ...coloured(colour) };
  return { ...face, array, cell: { name, index } };
}

const coloured = colour => ({ colour: css(colour), ink: css(textOn(colour)) });

// Whether any number that a part shows is not computed from the numbers before it.
export function isMarked(part, paint) {
  const isAt = (row, column) => column !== null && cellAt(part, paint, row, column).marked;
  return part.cells.stage.overridden.size > 0 && part.rows.some(row => part.columns.some(column => isAt(row, column)));
}

const areWeightsShown = ({ attention, selection }, { look, pass }) =>
  look.shown(attention, pass.indexAt(attention, selection));

// The products of all rows that share one line.
function othersAt(part, { pass, look }, columns) {
  if (!part.isThere || !part.left) return NOTHING;
  if (!look.shown(part.left.name, part.left.index(0, 0))) return TO_COME;
  const sum = added(columns.map(column => sumOfProducts(pass, part, part.others, column)));
  const label = `${part.others.length} other products together = ${digits(sum)}`;
  return { kind: "together", text: short(sum), label };
}

// One face for the words without a column: the sum of attention weights; the mean of values, weighted by them, so that the products
// still add up to the output; the range of other numbers.
export function restAt(part, paint, row) {
  if (row === null) return othersAt(part, paint, part.rest);
  if (!part.isThere) return TO_COME;
  const { cells, band, left, right, rest } = part,
    { pass, look, colours } = paint,
    { array } = band;
  if (left) return NOTHING;
  const isToCome = !look.shown(cells.name, cells.index(row, 0), array);
  if (isToCome || (right && look.isWorksheet && !areWeightsShown(part, paint))) return TO_COME;
  const numbers = array
    ? rest.map(column => pass.named(cells.name, array, cells.index(0, column))[column])
    : rest.map(column => look.pass.number(cells.name, cells.index(row, column)));
  if (numbers.includes(undefined)) return { kind: "waiting", text: "" };
  const words = `${rest.length} other ${pass.document.words.unit}s`,
    together = (what, number) => ({
      kind: "together",
      text: short(number),
      label: `${words}, ${what} ${digits(number)}`,
    });
  if (array || cells.stage.scale === "share") {
    const sum = added(numbers),
      colour = background(sum, { scale: "share", limit: array ? 1 : cells.stage.limit }, colours);
    return { ...together("together", sum), ...coloured(colour) };
  }
  if (right) {
    const weights = rest.map(column => factorsAt(pass, part, row, column)[0]),
      weight = added(weights);
    if (!weight) return { kind: "together", text: "–", label: `${words} have no share` };
    const mean = added(numbers.map((number, nth) => number * weights[nth])) / weight;
    return together("weighted by their shares, on average", mean);
  }
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)],
    text = low === high ? short(low) : `${short(low)} to ${short(high)}`;
  return {
    kind: "together range",
    text: paint.where.present || paint.withoutText ? "…" : text,
    label: `${words}, from ${digits(low)} to ${digits(high)}`,
  };
}

export function sumOf({ cells, band }, { pass, look }) {
  const index = cells.index(0, 0);
  return short(added(band.array ? pass.named(cells.name, band.array, index) : look.pass.row(cells.name, index)));
}

const GAP = "\u00a0_______\u00a0"; // in place of a number that is left to be written

// The sentence of a part, or its products under the selected column; the title of slopes or moves where these replace its numbers.
export function drawWords(part, paint, actions) {
  if (!part.isThere || paint.withoutText) return [];
  if (paint.where.present) return showsProducts(part) ? [drawProducts(part, paint)] : [];
  const fold = drawFold(part, actions);
  if (part.side !== undefined) return [drawComparison(part), ...fold];
  if (showsProducts(part) && !titleOf(part, paint)) return [drawProducts(part, paint), ...fold];
  return [drawSentence(part, paint), ...drawWays(part, paint, actions), ...fold];
}

// The sentence above the table in a talk: the lit band's.
export function drawSentences(parts, paint, actions) {
  const lit = parts.filter(({ isLit }) => isLit),
    isOnePass = lit.every(({ side }) => side === undefined);
  return lit.flatMap(part =>
    isOnePass ? [drawSentence(part, paint), ...drawFold(part, actions)] : [drawComparison(part)],
  );
}

export const showsProducts = ({ multiplies, isTraced, isThere, side }) =>
  isThere && multiplies && !isTraced && side === undefined;

const drawFold = ({ isLong, others, key }, actions) =>
  isLong && !others.length ? [button("the largest alone", () => actions.open(key), "link")] : [];

const titleOf = ({ cells }, { look }) => look.titleOf(cells.name);

function drawSentence(part, paint) {
  const title = titleOf(part, paint);
  return h("p", {}, ...(title ? [title] : drawRuns(runsOf(part, paint, gapsIn(part, paint.look)))));
}

/** The sentence of a band, or about the marks in it. @returns {Run[]} */
export function runsOf(part, paint, gapAt) {
  const { marks } = part.cells.stage;
  if (marks && isMarked(part, paint)) return [["", marks]];
  return runsAt(paint.pass, part.band.sentence, part.selection, gapAt, setIn(part, paint));
}

// The hand-set numbers of a part: in it, at its left and at its right.
export const setIn = ({ cells, left, right, leftover, band }, { pass }) =>
  [...(band.array ? [] : [cells]), left, right, leftover].flatMap(slot => (slot ? setInSlot(pass, slot) : []));

// The gaps in a sentence: the numbers of a row that is still blank, and on a worksheet those of other blank rows.
function gapsIn(part, look) {
  if (!isShownBy(look, part)) return () => GAP;
  return look.isWorksheet ? ({ name, index }) => (look.shown(name, index) ? null : GAP) : undefined;
}

// The text beside a part of two passes: its name, and how far they differ.
function drawComparison({ cells: { stage }, band: { array, label }, side, note, isFirst, isAlone }) {
  if (side === "B" && !isAlone) return h("p", {}, note);
  const name = h("strong", {}, array ? label : stage.title),
    noteLines = note ? [h("br"), note] : [""];
  return h("p", {}, name, ...(isFirst ? [": here they part"] : []), ...noteLines);
}

// The buttons from a step's first band to the source of its numbers, and back.
export function drawWays({ isTraced, step: { sources, layer, bands }, band }, { pass }, actions) {
  if (!sources.length || !(isTraced ? band.left : band === bands[0])) return [];
  const way = (name, act) => button(name, act, "link"),
    toSources = () => ["from: ", ...sources.map(({ name }) => way(name, () => actions.trace(name)))],
    of = band.left ? layerOfKeys(pass.document, layer) : 0,
    before = of ? [way(shortLayerName(pass.document, of).replace("Layer", "layer"), () => actions.follow(of))] : [];
  const ways = isTraced ? [way("back to the sheet", () => actions.trace(""))] : toSources();
  return [h("p", { class: "ways" }, ...ways, ...before)];
}

function drawProducts(part, paint) {
  const { pass } = paint,
    { rows, others, left } = part,
    [, column] = selectedPlace(pass, part);
  const lines = rows.map(row => {
    const [one, other] = factorsAt(pass, part, row, column);
    return `${short(one)} × ${short(other)} = ${short(productAt(pass, part, row, column))}`;
  });
  const together = () => `other ${others.length} together: ${short(sumOfProducts(pass, part, others, column))}`;
  if (others.length) lines.push(left ? together() : ""); // each stands beside its row
  const note = noteOn(pass, setIn(part, paint));
  if (note.length) lines.push(note.map(({ text }) => text).join(""));
  return h("div", { class: "products" }, ...lines.map(text => h("span", {}, text)));
}

// The sentence about the keys and values kept for the query; null for the first word, and without a model that writes on.
/** @param {Pass} pass @returns {any} */
export function cacheNoteAt({ document: { next } }, { cell }) {
  const note = next?.kept[cell.query];
  return note?.text ? note : null;
}
