// Stories: one or two sentences about one cell, filled with its words and numbers.
import { hasWords } from "./axes.js";
import { counted, ordinal, percent, short } from "./numeral.js";
import { pieces } from "./template.js";

const ERROR = 1e-9; // of the largest number of a row: what is nearer than that differs by rounding alone
const FORMATS = {
  "": (told) => numberPiece(told, short),
  s: (told) => numberPiece(told, short),
  percent: (told) => numberPiece(told, percent),
  rank: ({ value, visible }) => rankOf(value, visible()),
  count: ({ visible }) => counted(visible().length),
  sum: ({ visible }) => short(visible().reduce((sum, value) => sum + value, 0)),
  part: ({ part }) => part((line) => short(line.value)),
  "part.place": ({ part }) => part(({ place }) => (place.isWord ? wordPiece(place.text) : place.text)),
  "part.sum": ({ part, pass }) => part(({ cells }) => cells.flatMap((cell, i) => [...(i ? [" × "] : []), linkedNumber(pass, cell)])),
};

// The first story that holds, as pieces {text, cell, style}: `cell` where a piece is the number of one, style "word" where
// it is a person's.
export function tell(pass, stories, cell, selection) {
  const place = pass.selectionAt(cell.name, cell.index, selection);
  const [, template] = stories.find(([when]) => holds(pass, when, cell, place)) ?? [];
  const filled = pieces(template ?? "", (name, format) => fillSlot(pass, cell, place, name, format));
  return filled.flat().map((piece) => (typeof piece === "string" ? { text: piece } : piece));
}

function holds(pass, when, { name, index }, selection) {
  return {
    hidden: () => pass.isHidden(name, index),
    unseeing: () => pass.isUnseeing(selection),
    set: () => pass.isOverridden(name, index),
    given: () => !pass.stages.get(name).rule,
    "": () => true,
  }[when]();
}

function fillSlot(pass, cell, selection, name, format) {
  const label = labelOf(pass, cell, selection, name);
  if (label) return label;
  if (!Object.hasOwn(FORMATS, format)) return undefined;
  if (name === "value") return FORMATS[format](toldOf(pass, cell));
  if (!pass.stages.has(name)) return undefined;
  return FORMATS[format](toldOf(pass, { name, index: pass.indexAt(name, selection) }));
}

// What a format may ask of a cell.
function toldOf(pass, cell) {
  const { name, index } = cell;
  const value = pass.number(name, index);
  const visible = () => Array.from(pass.row(name, index) ?? []).filter((_, i) => !pass.isHidden(name, [...index.slice(0, -1), i]));
  const part = (say) => {
    const line = largestLine(pass.terms(name, index)?.lines ?? [], value);
    return line ? say(line) : "…";
  };
  return { pass, cell, value, visible, part };
}

function numberPiece({ value, cell }, writing) {
  return value === undefined ? "…" : { text: writing(value), cell };
}

function linkedNumber(pass, cell) {
  return numberPiece({ value: pass.number(cell.name, cell.index), cell }, short);
}

function wordPiece(text) {
  return { text, style: "word" };
}

// The largest of the lines that have the number's own sign, which is what its size is from.
function largestLine(lines, value) {
  const size = (line) => (value < 0 ? -line.value : line.value);
  return lines.reduce((most, line) => (most && size(most) >= size(line) ? most : line), null);
}

function rankOf(value, visible) {
  const near = ERROR * visible.reduce((size, each) => Math.max(size, Math.abs(each)), 0);
  const higher = visible.filter((each) => each - value > near).length;
  const lower = visible.filter((each) => value - each > near).length;
  const place = higher === 0 ? "highest" : lower === 0 ? "lowest" : ordinal(higher + 1);
  return higher + lower + 1 < visible.length ? `tied for ${place}` : place;
}

// What a place is called: on the last two axes of the cell's stage, or by a coordinate, on any axis that has it alone.
function labelOf(pass, { name, index }, selection, slotName) {
  const { axes } = pass.stages.get(name);
  const fromEnd = { column: 1, row: 2 }[slotName];
  const axis = fromEnd ? axes.at(-fromEnd) : pass.axisOf(slotName, name);
  if (!axis) return undefined;
  const text = axis.labels[fromEnd ? index.at(-fromEnd) : selection[axis.coordinates[0][0]]];
  return hasWords(axis) ? wordPiece(text) : { text };
}
