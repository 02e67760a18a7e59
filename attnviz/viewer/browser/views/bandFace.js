// The cells, words and notes of a band of the One word view, drawn.
import { noteOn, setInSlot } from "../model/changes.js";
import { digits, fraction, short } from "../model/numeral.js";
import { background, css, mixed, textOn } from "../dom/colour.js";
import { button, element, h, write } from "../dom/element.js";
import { drawRuns, runsAt } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { faceAt, isHidden } from "./slot.js";
import { factorsAt, isShownBy, productAt, selectedColumn, sumOfProducts } from "./bandParts.js";

export function blanks(count) {
  return Array.from({ length: Math.max(count, 0) }, () => element("td", "blank"));
}

const FAINTEST = 0.12; // of a value's colour, where its share is nothing
export const TO_COME = { kind: "to-come", text: "" };
const HIDDEN_TO_COME = { kind: "to-come hidden", text: "" };
export const NOTHING = { kind: "blank", text: "" };

export function cellAt(part, paint, row, column) {
  if (!part.isThere) return TO_COME;
  if (part.band.array) return { ...arrayAt(part, paint, column), apart: Boolean(part.apart?.has(column)) };
  const face = numberAt(part.cells, paint, row, column);
  return part.right?.columns.name === "" && face.kind === "number"
    ? { ...face, ...faded(part, paint, row, column) }
    : face;
}

// Whether any number that a part shows is not computed from the numbers before it.
export function isMarked(part, paint) {
  const isAt = (row, column) =>
    column !== null && /** @type {{ marked?: boolean }} */ (cellAt(part, paint, row, column)).marked;
  return part.cells.stage.overridden.size > 0 && part.rows.some(row => part.columns.some(column => isAt(row, column)));
}

// A number still to come. A hidden key is shown at once, because the mask is given, not computed.
function toWrite(slot, pass, index) {
  return isHidden(slot, pass, index) ? HIDDEN_TO_COME : TO_COME;
}

// A number of the pass, and its value before any was set by hand.
export function numberAt(slot, paint, row, column) {
  const { name } = slot,
    index = slot.index(row, column),
    old = paint.before(name, index);
  const value = paint.pass.number(name, index),
    face = faceAt(slot, paint, row, column);
  if (face.kind === "to-come") return { ...toWrite(slot, paint.pass, index), place: { name, index } };
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

// A number of the rule's own array, which is in no stage: clicking it opens the attention weight computed from it.
function arrayAt({ cells, band: { array, label } }, { pass, look, colours }, column) {
  const index = cells.index(0, column);
  if (!look.shown(cells.name, index, array)) return toWrite(cells, pass, index);
  const value = pass.named(cells.name, array, index)[column];
  const colour = background(value, { scale: "share", limit: 1 }, colours);
  return {
    kind: "number",
    text: short(value),
    colour: css(colour),
    ink: css(textOn(colour)),
    array,
    cell: { name: cells.name, index },
    label: `${label} = ${digits(value)}`,
  };
}

// A value is coloured as strongly as its attention weight, once that is shown.
function faded(part, paint, row, column) {
  const { look, pass } = paint;
  if (!areSharesShown(part, paint)) return {};
  const value = look.pass.number(part.cells.name, part.cells.index(row, column));
  return asStrongAs(factorsAt(pass, part, row, column)[0], value, part, paint);
}

function areSharesShown({ attention, selection }, { look, pass }) {
  return look.shown(attention, pass.indexAt(attention, selection));
}

function asStrongAs(share, value, { cells, attention, selection }, { pass, colours }) {
  const most = Math.max(...pass.row(attention, pass.indexAt(attention, selection))) || 1;
  const colour = mixed(
    background(value, cells.stage, colours),
    colours.page,
    FAINTEST + (1 - FAINTEST) * Math.min(1, Math.max(0, share / most)),
  );
  return { colour: css(colour), ink: css(textOn(colour)) };
}

// The products of all rows that share one line.
export function togetherAt(part, { pass, look }, columns) {
  if (!part.isThere || !part.left) return NOTHING;
  if (!look.shown(part.left.name, part.left.index(0, 0))) return TO_COME; // the others of what is left to be written
  const sum = added(columns.map(column => sumOfProducts(pass, part, part.others, column)));
  return {
    kind: "together",
    text: short(sum),
    label: `${part.others.length} other products together = ${digits(sum)}`,
  };
}

// One face for the words without a column: the sum of attention weights; the mean of values, weighted by them, so that the products
// still add up to the output; the range of other numbers.
export function restAt(part, paint, row) {
  if (!part.isThere) return TO_COME;
  const {
      cells,
      band: { array },
      left,
      right,
      rest,
    } = part,
    { pass, look, colours } = paint;
  if (left) return NOTHING;
  if (
    !look.shown(cells.name, cells.index(row, 0), array) ||
    (right && look.isWorksheet && !areSharesShown(part, paint))
  )
    return TO_COME;
  const numbers = array
    ? rest.map(column => pass.named(cells.name, array, cells.index(0, column))[column])
    : rest.map(column => look.pass.number(cells.name, cells.index(row, column)));
  if (numbers.includes(undefined)) return { kind: "waiting", text: "" };
  const others = `${rest.length} other ${pass.document.words.unit}s`,
    labelled = (what, number) => `${others}, ${what} ${digits(number)}`;
  if (array || cells.stage.scale === "share") {
    const sum = added(numbers),
      colour = background(sum, { scale: "share", limit: array ? 1 : cells.stage.limit }, colours);
    return {
      kind: "together",
      text: short(sum),
      label: labelled("together", sum),
      colour: css(colour),
      ink: css(textOn(colour)),
    };
  }
  if (right) {
    const shares = rest.map(column => factorsAt(pass, part, row, column)[0]),
      share = added(shares);
    if (!share) return { kind: "together", text: "–", label: `${others} have no share` };
    const mean = added(numbers.map((number, position) => number * shares[position])) / share;
    return {
      kind: "together",
      text: short(mean),
      label: labelled("weighted by their shares, on average", mean),
      ...(areSharesShown(part, paint) ? asStrongAs(share, mean, part, paint) : {}),
    };
  }
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const text = low === high ? short(low) : `${short(low)} to ${short(high)}`;
  return {
    kind: "together range",
    text: paint.where.present || paint.withoutText ? "…" : text,
    label: `${others}, from ${digits(low)} to ${digits(high)}`,
  };
}

function added(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0);
}

const GAP = "\u00a0_______\u00a0"; // in place of a number that is left to be written

// The sentence of a part, or its products under the selected column, row by row; the title of slopes or moves where these replace
// its numbers.
export function drawWords(part, paint, acts) {
  if (!part.isThere || paint.withoutText) return [];
  if (paint.where.present) return showsProducts(part) ? [drawProducts(part, paint)] : [];
  return drawAll(part, paint, acts);
}

// The sentence above the sheet in a talk: the lit band's.
export function drawSentences(parts, paint, acts) {
  const lit = parts.filter(({ isLit }) => isLit),
    isOne = lit.every(({ side }) => side === undefined);
  return lit.flatMap(part => (isOne ? [drawSentence(part, paint), ...foldOf(part, acts)] : drawApart(part)));
}

// Whether a part's products are shown beside its rows.
export function showsProducts({ multiplies, isTraced, isThere, side }) {
  return isThere && multiplies && !isTraced && side === undefined;
}

function drawAll(part, paint, acts) {
  const fold = foldOf(part, acts);
  if (part.side !== undefined) return [...drawApart(part), ...fold];
  if (showsProducts(part) && !titleOf(part, paint)) return [drawProducts(part, paint), ...fold];
  return [drawSentence(part, paint), ...drawWays(part, acts), ...fold];
}

function foldOf({ isLong, others, key }, acts) {
  return isLong && !others.length ? [button("the largest alone", () => acts.open(key), "link")] : [];
}

// The title of the numbers that replace those that the sentence is about.
function titleOf({ cells }, { look }) {
  return look.titleOf(cells.name);
}

function drawSentence(part, paint) {
  const title = titleOf(part, paint),
    line = element("p", "", title || null);
  if (!title) line.append(...drawRuns(runsOf(part, paint, gapsIn(part, paint.look))));
  return line;
}

// The sentence of a band, or about the marks in it.
export function runsOf(part, paint, gapAt) {
  const { marks } = part.cells.stage;
  if (marks && isMarked(part, paint)) return [["", marks]];
  return runsAt(paint.pass, part.band.sentence, part.selection, gapAt, setIn(part, paint));
}

// The hand-set numbers of a part: in it, at its left and at its right.
export function setIn({ cells, left, right, leftover, band: { array } }, { pass }) {
  return [...(array ? [] : [cells]), left, right, leftover].flatMap(slot => (slot ? setInSlot(pass, slot) : []));
}

// The gaps in a sentence: the numbers of a row that is still blank, and on a worksheet those of other blank rows.
function gapsIn(part, look) {
  if (!isShownBy(look, part)) return () => GAP;
  return look.isWorksheet ? ({ name, index }) => (look.shown(name, index) ? null : GAP) : undefined;
}

// The text beside a part of two passes: its name, and how far they differ.
function drawApart({ cells: { stage }, band: { array, label }, side, note, isFirst, isAlone }) {
  const line = element("p");
  if (side !== "B" || isAlone)
    line.append(
      element("strong", "", array ? label : stage.title),
      ...(isFirst ? [": here they part"] : []),
      ...(note ? [element("br")] : []),
    );
  line.append(note);
  return [line];
}

// The buttons from a step's first band to the source of its numbers, and back.
export function drawWays({ isTraced, step: { sources, layer, bands }, band }, acts) {
  if (!sources.length || !(isTraced ? band.left : band === bands[0])) return [];
  const line = element("p", "ways");
  if (isTraced) line.append(button("back to the sheet", () => acts.trace(""), "link"));
  else line.append("from: ", ...sources.map(({ name }) => button(name, () => acts.trace(name), "link")));
  if (layer > 1 && band.left) line.append(button(`layer ${layer - 1}`, () => acts.follow(layer - 1), "link"));
  return [line];
}

function drawProducts(part, paint) {
  const { pass } = paint,
    column = selectedColumn(pass, part);
  const box = h(
    "div",
    { class: "products" },
    ...part.rows.map(row => {
      const [one, other] = factorsAt(pass, part, row, column);
      return element("span", "", `${short(one)} × ${short(other)} = ${short(productAt(pass, part, row, column))}`);
    }),
  );
  const together = () =>
    `other ${part.others.length} together: ${short(sumOfProducts(pass, part, part.others, column))}`;
  if (part.others.length) box.append(element("span", "", part.left ? together() : "")); // each stands beside its row
  const note = noteOn(pass, setIn(part, paint));
  if (note.length) box.append(element("span", "", note.map(({ text }) => text).join("")));
  return box;
}

// The sum of a part's row.
export function sumOf({ cells, band }, { pass, look }) {
  const index = cells.index(0, 0),
    numbers = band.array ? pass.named(cells.name, band.array, index) : look.pass.row(cells.name, index);
  return numbers.reduce((sum, each) => sum + each, 0);
}

const HIGH_PX = 17,
  IN_A_TALK = 1.45; // of its line, with what is between it and the next (sheet.css): pixels, and rem

// The sentence about the keys and values kept for the query; null for the first word, and without a model that writes on.
/** @param {Pass} pass */
export function keptIn({ document: { next } }, { cell }) {
  const kept = next?.kept[cell.query];
  return kept?.text ? kept : null;
}

export function makeKeptLine(place, width) {
  const line = element("tr", "kept"),
    saved = element("td", "saved");
  saved.colSpan = 2;
  const draw = whenOther(texts => {
    const names = texts.map(([text, count, name]) => {
      const cell = element("td", name, text);
      cell.colSpan = count;
      return cell;
    });
    line.replaceChildren(saved, ...names, ...blanks(width + 1 - texts.reduce((sum, [, count]) => sum + count, 0)));
  });
  return {
    element: line,
    place,
    fixed: HIGH_PX,
    cells: () => [],
    mark: () => {},
    update(part, paint) {
      this.fixed = paint.where.present
        ? IN_A_TALK * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
        : HIGH_PX;
      const { text, saved: short } = keptIn(paint.pass, paint.where);
      write(saved, short);
      saved.title = text;
      draw(textsOf(part, paint.where.cell));
    },
  };
}

// The texts over its columns: [text, number of columns, class].
function textsOf({ columns }, { query }) {
  const before = columns.filter(column => column !== null && column < query).length;
  return [
    ...(before ? [["keys and values kept", before, "before"]] : []),
    ...(columns.includes(query) ? [["new", 1, "new"]] : []),
  ];
}
