// Faces: what a cell of the sheet shows: its digits and their colours, the cell of the pass that it opens, and how it is heard.
import { background, css, mixed, textOn } from "../elements/colour.js";
import { digits, fraction, short } from "../pass/numeral.js";
import { faceAt, isHidden } from "../picture/face.js";
import { factorsAt, sumOfProducts } from "./bandParts.js";

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

// Whether any of the numbers that a part shows isn't computed from those before it.
export function isMarked(part, paint) {
  const isAt = (row, column) =>
    column !== null && /** @type {{ marked?: boolean }} */ (cellAt(part, paint, row, column)).marked;
  return part.cells.stage.overridden.size > 0 && part.rows.some(row => part.columns.some(column => isAt(row, column)));
}

// A number that is left to be written. That a key is hidden was not computed: it is there to be seen.
function toWrite(slot, pass, index) {
  return isHidden(slot, pass, index) ? HIDDEN_TO_COME : TO_COME;
}

// A number of the pass, and what it was before others were set by hand.
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

// A number that the stage's rule holds and no stage: it opens as the share that it becomes.
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

// A value is as strong as its share, once that is there.
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

// The products of all rows that stand together.
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

// One face for the words that have no column of their own: of shares the sum; of values their mean, weighted by
// their shares, so that share times value still adds up to the output; of other numbers from where to where they reach.
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
    const mean = added(numbers.map((number, place) => number * shares[place])) / share;
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
    text: paint.where.present || paint.isBare ? "…" : text,
    label: `${others}, from ${digits(low)} to ${digits(high)}`,
  };
}

function added(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0);
}
