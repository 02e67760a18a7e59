// Stories: a sentence or two about one cell, filled with its words and numbers. attnviz/explain/story.py says what slots say.
import { hasWords, placeAt } from "./axes.js";
import { setByHand } from "./byHand.js";
import { counted, percent, short } from "./numeral.js";
import { alikeOf, bestOf, endingOf, endingOfLongest, longestOf, mostOf, rankOf, sumOf, visibleRow } from "./row.js";
import { pieces } from "./template.js";

const OF_ROW = ["rank", "positive", "sum", "best", "alike", "most"];

// The text of a slot for a cell, by its format; undefined where there is nothing to say.
const FORMATS = {
  "": (pass, cell) => numeral(pass, cell, short),
  percent: (pass, cell) => numeral(pass, cell, percent),
  rank: (pass, cell) => rankOf(pass.number(cell.name, cell.index), visibleRow(pass, cell)),
  count: (pass, cell) => counted(visibleRow(pass, cell).length),
  positive: (pass, cell) => {
    const row = [...visibleRow(pass, cell)];
    return `${row.filter(value => value > 0).length} of ${row.length}`;
  },
  sum: (pass, cell) => short(sumOf(pass, cell)),
  part: (pass, cell) => ifThere(largestLine(pass, cell), ({ value }) => short(value)),
  "part.place": (pass, cell) => largestLine(pass, cell)?.place,
  "part.rest": (pass, cell) => {
    const lines = linesOf(pass, cell),
      largest = largestOf(lines);
    return lines.length > 1
      ? short(lines.reduce((sum, line) => (line === largest ? sum : sum + line.value), 0))
      : undefined;
  },
  "part.sum": (pass, cell) =>
    largestLine(pass, cell)?.cells.flatMap((each, i) => [...(i ? ["\u00a0×\u00a0"] : []), numeral(pass, each, short)]),
  length: (pass, { name }) => sizeAt(pass, name, -1),
  rows: (pass, { name }) => sizeAt(pass, name, -2),
  first: (pass, { name }) => sizeAt(pass, name, 0),
  root: (pass, { name }) => short(Math.sqrt(pass.stages.get(name).shape.at(-1))),
  before: (pass, cell) =>
    Object.hasOwn(pass.document.before, cell.name)
      ? numeral(pass.with(pass.document.before), cell, short)?.text
      : undefined,
  best: bestOf,
  alike: alikeOf,
  most: mostOf,
  s: endingOf("", "s"),
  es: endingOf("", "es"),
  is: endingOf("is", "are"),
  longest: longestOf,
  "longest.s": endingOfLongest,
};

// The first of some stories that holds of a cell and whose slots can all be filled, as pieces {text, cell, style}: `cell`
// where a piece is the number of one, style "word" where it is a person's. What `gapAt(cell)` gives, where that is
// something, stands in place of what the numbers of a cell tell.
/** @param {Pass} pass */
export function tell(pass, stories, cell, selection, gapAt = () => null) {
  const parts = toldOf(pass, stories, cell, selection, gapAt)?.parts ?? [];
  return parts.flat().map(piece => (typeof piece === "string" ? { text: piece } : piece));
}

// What of a story is set by hand: {told, others}, `told` the cell whose story says so itself, and the `others` that it leans on.
/** @param {Pass} pass */
export function handOf(pass, stories, cell, selection) {
  if (!pass.isChanged) return { told: [], others: [] };
  const told = toldOf(pass, stories, cell, selection, () => null);
  if (told?.when === "set") return { told: [cell], others: [] };
  return {
    told: [],
    others: setByHand(pass, told?.slots.flatMap(({ target, format }) => leanedOn(pass, target, format)) ?? []),
  };
}

// The first story that holds of a cell: {when, parts, slots}, its parts and the numbers of its slots; undefined without one.
/** @param {Pass} pass */
function toldOf(pass, stories, cell, selection, gapAt) {
  const here = pass.selectionAt(cell.name, cell.index, selection);
  for (const [when, template] of stories) {
    if (!holds(pass, when, cell, here)) continue;
    const slots = [];
    const parts = filledWhole(template, (name, format) => {
      if (name === "value" || pass.stages.has(name)) slots.push({ target: targetOf(pass, cell, here, name), format });
      return fillSlot(pass, cell, here, name, format, gapAt);
    });
    if (parts) return { when, parts, slots };
  }
  return undefined;
}

// The cells that a slot's text follows from.
/** @param {Pass} pass */
function leanedOn(pass, { name, index }, format) {
  if (["", "percent"].includes(format)) return [{ name, index }];
  if (format.startsWith("part")) return pass.cellsOf(name, index);
  if (!OF_ROW.includes(format)) return [];
  return Array.from(pass.row(name, index), (_, place) => ({ name, index: [...index.slice(0, -1), place] }));
}

/** @param {Pass} pass */
function holds(pass, when, { name, index }, selection) {
  return {
    hidden: () => pass.isUnseen(name, index),
    unseeing: () => pass.isUnseeing(name, selection),
    set: () => pass.isOverridden(name, index),
    given: () => !pass.stages.get(name).rule,
    "": () => true,
  }[when]();
}

// The pieces of a template; null if one of its slots can't be filled.
function filledWhole(template, fill) {
  let isWhole = true;
  const parts = pieces(template, (...slot) => {
    const filled = fill(...slot);
    isWhole &&= filled !== undefined;
    return filled;
  });
  return isWhole ? parts : null;
}

/** @param {Pass} pass */
function fillSlot(pass, cell, selection, name, format, gapAt) {
  if (name !== "value" && !pass.stages.has(name)) return labelOf(pass, cell, selection, name);
  const target = targetOf(pass, cell, selection, name),
    text = FORMATS[format](pass, target);
  return text === undefined ? undefined : (gapAt(target) ?? text);
}

// The cell that a slot is of: that of the story, or the one that is selected in a stage.
/** @param {Pass} pass */
function targetOf(pass, cell, selection, name) {
  return pass.stages.has(name) ? { name, index: pass.indexAt(name, selection) } : cell;
}

// The name of a place: on the last two axes of the cell's stage, or by a coordinate.
/** @param {Pass} pass */
function labelOf(pass, { name, index }, selection, slot) {
  const fromEnd = { row: 2, column: 1 }[slot];
  const axis = fromEnd ? pass.stages.get(name).axes.at(-fromEnd) : pass.axisOf(slot, name);
  if (!axis) return undefined;
  const text = axis.labels[fromEnd ? index.at(-fromEnd) : placeAt(axis, selection)];
  return hasWords(axis) ? { text, style: "word" } : { text };
}

/** @param {Pass} pass */
function numeral(pass, cell, writing) {
  const value = pass.number(cell.name, cell.index);
  if (value === undefined) return undefined;
  return { text: pass.stages.get(cell.name).scale === "flag" ? String(value) : writing(value), cell };
}

function sizeAt(pass, name, axis) {
  return String(pass.stages.get(name).shape.at(axis));
}

function ifThere(value, of) {
  return value === undefined ? undefined : of(value);
}

function largestLine(pass, cell) {
  return largestOf(linesOf(pass, cell));
}

// The largest of a number's lines, by size.
function largestOf(lines) {
  return lines.reduce((most, line) => (most && Math.abs(most.value) >= Math.abs(line.value) ? most : line), undefined);
}

/** @param {Pass} pass */
function linesOf(pass, { name, index }) {
  return pass.terms(name, index)?.lines ?? [];
}
