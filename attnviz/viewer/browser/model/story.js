// The story of one number: its sentences, filled in from the pass, and how its row compares.
import { hasWords, positionAt } from "./axes.js";
import { setByHand } from "./changes.js";
import { counted, fraction, listed, ordinal, percent, pieces, short } from "./numeral.js";

const ERROR = 1e-9; // of the larger of two numbers: those that are nearer differ by rounding alone
const MAX_NAMED = 3;

/** The numbers of a row but for the keys that the mask hides, be they of a stage before the mask or after it. @returns {number[]} */
export const visibleRow = (/** @type {Pass} */ pass, /** @type {Cell} */ { name, index }) =>
  Array.from(pass.row(name, index)).filter((_, position) => !pass.isUnseen(name, [...index.slice(0, -1), position]));

/** The sum of the numbers of a cell's row, less scores of hidden keys. @param {Pass} pass @param {Cell} cell */
const sumOf = (pass, { name, index }) =>
  pass.row(name, index).reduce((sum, value) => (value === -Infinity ? sum : sum + value), 0);

// Whether two numbers are the same but for rounding; nothing is said of a row's other numbers, which may be far larger.
export function ties(/** @type {number} */ one, /** @type {number} */ other) {
  const apart = Math.abs(one - other);
  return one === other || (apart < Infinity && apart <= ERROR * Math.max(Math.abs(one), Math.abs(other)));
}

/** A number's position in its row; the only one has none. @param {number} value @param {number[]} row */
function rankOf(value, row) {
  if (row.length < 2) return undefined;
  const higher = row.filter(each => each > value && !ties(each, value)).length;
  const lower = row.filter(each => each < value && !ties(each, value)).length;
  const ends = row.length === 2 ? ["the higher", "the lower"] : ["the highest", "the lowest"];
  const position = higher === 0 ? ends[0] : lower === 0 ? ends[1] : `the ${ordinal(higher + 1)} highest`;
  return higher + lower + 1 < row.length ? `tied for ${position}` : position;
}

/** The words whose numbers are the largest of a cell's row, as pieces; undefined where no other has less. @param {Pass} pass @param {Cell} cell */
function bestOf(pass, cell) {
  const { taken, most } = takenOf(pass, cell);
  if (!most.length || most.length === taken.length) return undefined;
  const rest = most.length - MAX_NAMED;
  return listed([
    ...most.slice(0, MAX_NAMED).map(position => quoted(pass, cell, position)),
    ...(rest > 0 ? [[rest === 1 ? "1 other" : `${rest} others`]] : []),
  ]);
}

/** A word's ending where several words have the largest number of a cell's row: “share” is of one, “shares” of several. @param {string} one
 * @param {string} several @returns {Format} */
const endingOf = (one, several) => (pass, cell) => (takenOf(pass, cell).most.length > 1 ? several : one);

/** The words on a cell’s row, where all their numbers are the same. @param {Pass} pass @param {Cell} cell */
function alikeOf(pass, cell) {
  const { taken, most } = takenOf(pass, cell);
  if (!most.length || most.length < taken.length) return undefined;
  if (most.length === 1) return [...quoted(pass, cell, most[0]), " alone"];
  const many = lastAxis(pass, cell.name).name === "answer" ? "answers" : "keys";
  return most.length === 2 ? `both ${many} alike` : `all ${counted(most.length)} ${many} alike`;
}

/** The largest number of a cell's row, and whether it is that of several. @param {Pass} pass @param {Cell} cell */
function mostOf(pass, { name, index }) {
  const { most } = takenOf(pass, { name, index });
  if (!most.length) return undefined;
  const value = pass.row(name, index)[most[0]];
  const exact = pass.document.fractions ? fraction(value) : "",
    rounded = pass.stages.get(name).scale === "share" ? percent(value) : short(value),
    written = exact ? `${exact} (${rounded})` : rounded;
  return most.length > 1 ? `${written} each` : written;
}

/** The heads whose rows are the longest; undefined where all are equally long, and until all were sent. @param {Pass} pass @param {Cell} cell */
function longestOf(pass, cell) {
  const most = longestAt(pass, cell),
    { labels } = pass.stages.get(cell.name).axes[0];
  if (!most.length || most.length === labels.length) return undefined;
  return listed(most.map(head => [labels[head]])).join("");
}

function longestAt(/** @type {Pass} */ pass, /** @type {Cell} */ { name, index: [, ...index] }) {
  const { labels } = pass.stages.get(name).axes[0];
  const lengths = relativeLengths(labels.map((_, head) => pass.row(name, [head, ...index])));
  return topOf(lengths, [...lengths.keys()]);
}

/** The positions of a row that hold something for its query, and those of them with the largest number; none if some of the row was not sent.
 * What is hidden holds something only where it is a share that was set by hand. @param {Pass} pass @param {Cell} cell */
function takenOf(pass, { name, index }) {
  const row = Array.from(pass.row(name, index)),
    isShare = pass.stages.get(name).scale === "share";
  const isTaken = (/** @type {number} */ value, /** @type {number} */ position) =>
    (isShare && value !== 0) || !pass.isUnseen(name, [...index.slice(0, -1), position]);
  const taken = row.flatMap((value, position) => (isTaken(value, position) ? [position] : []));
  return { taken, most: topOf(row, taken) };
}

/** Those of some positions at which the largest number stands; none if a number is missing. @param {number[]} row @param {number[]} positions */
function topOf(row, positions) {
  const top = Math.max(...positions.map(position => row[position]));
  return positions.filter(position => ties(top, row[position]));
}

/** Over the largest of their numbers: the lengths themselves may be beyond a double. @param {Float64Array[]} rows */
function relativeLengths(rows) {
  const unit = Math.max(...rows.map(row => Math.max(...row.map(Math.abs)))) || 1;
  return rows.map(row => Math.hypot(...row.map(value => value / unit)));
}

/** @param {Pass} pass @param {{ name: string }} props @param {number} position @returns {any[]} */
function quoted(pass, { name }, position) {
  const axis = lastAxis(pass, name),
    text = axis.labels[position];
  return ["“", hasWords(axis) ? { text, style: "word" } : text, "”"];
}

/** @param {Pass} pass @param {string} name @returns {Axis} */
const lastAxis = (pass, name) => /** @type {Axis} */ (pass.stages.get(name).axes.at(-1));

const OF_ROW = ["rank", "positive", "sum", "best", "alike", "most"];

// The text of a slot for a cell, by its format; undefined where there is nothing to say.
/** @type {Record<string, Format>} */
const FORMATS = {
  "": (pass, cell) => numeral(pass, cell, short),
  percent: (pass, cell) => numeral(pass, cell, percent),
  rank: (pass, cell) => rankOf(/** @type {number} */ (pass.number(cell.name, cell.index)), visibleRow(pass, cell)),
  count: (pass, cell) => counted(visibleRow(pass, cell).length),
  positive: (pass, cell) => {
    const row = [...visibleRow(pass, cell)];
    return `${row.filter(value => value > 0).length} of ${row.length}`;
  },
  sum: (pass, cell) => short(sumOf(pass, cell)),
  part: (pass, cell) => {
    const line = largestLine(pass, cell);
    return line && short(line.value);
  },
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
  root: (pass, { name }) => short(Math.sqrt(Number(sizeAt(pass, name, -1)))),
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
  "longest.s": (pass, cell) => (longestAt(pass, cell).length > 1 ? "s" : ""), // ending of a word about them
};

/** The first of some stories that holds of a cell and whose slots can all be filled, as pieces {text, cell, style}: `cell` where a piece is the
 * number of one, style "word" where it is a person's. What `gapAt(cell)` gives, where that is something, stands in place of what the numbers of
 * a cell tell. @param {Pass} pass @param {StoryOf[]} stories @param {Cell} cell @param {Selected} selection @param {(cell: Cell) => any} gapAt
 * @returns {Piece[]} */
export function renderStory(pass, stories, cell, selection, gapAt = _cell => null) {
  const parts = firstStoryThatHolds(pass, stories, cell, selection, gapAt)?.parts ?? [];
  return parts.flat().map(piece => (typeof piece === "string" ? { text: piece } : piece));
}

/** What of a story is set by hand: {told, others}, `told` the cell whose story says so itself, and the `others` that it leans on.
 * @param {Pass} pass @param {StoryOf[]} stories @param {Cell} cell @param {Selected} selection @returns {{ told: Cell[], others: Cell[] }} */
export function handOf(pass, stories, cell, selection) {
  if (!pass.isChanged) return { told: [], others: [] };
  const story = firstStoryThatHolds(pass, stories, cell, selection, () => null);
  if (story?.when === "set") return { told: [cell], others: [] };
  return {
    told: [],
    others: setByHand(pass, story?.slots.flatMap(({ target, format }) => leanedOn(pass, target, format)) ?? []),
  };
}

/** The first story that holds of a cell: {when, parts, slots}, its parts and the numbers of its slots; undefined without one. @param {Pass} pass
 * @param {StoryOf[]} stories @param {Cell} cell @param {Selected} selection @param {(cell: Cell) => unknown} gapAt */
function firstStoryThatHolds(pass, stories, cell, selection, gapAt) {
  const here = pass.selectionAt(cell.name, cell.index, selection);
  for (const [when, template] of stories) {
    if (!holds(pass, when, cell, here)) continue;
    const slots = /** @type {{ target: Cell, format: string }[]} */ ([]);
    const parts = filledWhole(template, (name, format) => {
      if (name === "value" || pass.stages.has(name)) slots.push({ target: targetOf(pass, cell, here, name), format });
      return fillSlot(pass, cell, here, name, format, gapAt);
    });
    if (parts) return { when, parts, slots };
  }
  return undefined;
}

/** The cells that a slot's text follows from. @param {Pass} pass @param {Cell} cell @param {string} format */
function leanedOn(pass, { name, index }, format) {
  if (["", "percent"].includes(format)) return [{ name, index }];
  if (format.startsWith("part")) return pass.cellsOf(name, index);
  if (!OF_ROW.includes(format)) return [];
  return Array.from(pass.row(name, index), (_, position) => ({ name, index: [...index.slice(0, -1), position] }));
}

/** @param {Pass} pass @param {StoryOf[0]} when @param {Cell} cell @param {Selected} selection */
const holds = (pass, when, { name, index }, selection) =>
  ({
    hidden: () => pass.isUnseen(name, index),
    unseeing: () => pass.isUnseeing(name, selection),
    set: () => pass.isOverridden(name, index),
    given: () => !pass.stages.get(name).rule,
    "": () => true,
  })[when]();

// The pieces of a template; null if one of its slots can't be filled.
function filledWhole(/** @type {string} */ template, /** @type {(name: string, format: string) => any} */ fill) {
  let isWhole = true;
  const parts = pieces(template, (...slot) => {
    const filled = fill(...slot);
    isWhole &&= filled !== undefined;
    return filled;
  });
  return isWhole ? parts : null;
}

/** @param {Pass} pass @param {Cell} cell @param {Selected} selection @param {string} name @param {string} format
 * @param {(cell: Cell) => unknown} gapAt */
function fillSlot(pass, cell, selection, name, format, gapAt) {
  if (name !== "value" && !pass.stages.has(name)) return labelOf(pass, cell, selection, name);
  const target = targetOf(pass, cell, selection, name),
    text = FORMATS[format](pass, target);
  return text === undefined ? undefined : (gapAt(target) ?? text);
}

/** The cell that a slot is of: that of the story, or the one that is selected in a stage. @param {Pass} pass @param {Cell} cell
 * @param {Selected} selection @param {string} name */
const targetOf = (pass, cell, selection, name) =>
  pass.stages.has(name) ? { name, index: pass.indexAt(name, selection) } : cell;

/** The name of a position: on the last two axes of the cell's stage, or by a coordinate. @param {Pass} pass @param {Cell} cell
 * @param {Selected} selection @param {string} slot */
function labelOf(pass, { name, index }, selection, slot) {
  const fromEnd = { row: 2, column: 1 }[slot];
  const axis = fromEnd ? pass.stages.get(name).axes.at(-fromEnd) : pass.axisOf(slot, name);
  if (!axis) return undefined;
  const text = axis.labels[fromEnd ? index[index.length - fromEnd] : positionAt(axis, selection)];
  return hasWords(axis) ? { text, style: "word" } : { text };
}

/** @param {Pass} pass @param {Cell} cell @param {(value: number) => string} writing */
function numeral(pass, cell, writing) {
  const value = pass.number(cell.name, cell.index);
  if (value === undefined) return undefined;
  return { text: pass.stages.get(cell.name).scale === "flag" ? String(value) : writing(value), cell };
}

/** @param {Pass} pass @param {string} name @param {number} axis */
const sizeAt = (pass, name, axis) => String(pass.stages.get(name).shape.at(axis));
const largestLine = (/** @type {Pass} */ pass, /** @type {Cell} */ cell) => largestOf(linesOf(pass, cell));

const NO_LINE = /** @type {Line | undefined} */ (undefined);

const largestOf = (/** @type {Line[]} */ lines) =>
  lines.reduce((most, line) => (most && Math.abs(most.value) >= Math.abs(line.value) ? most : line), NO_LINE);

/** The lines of a cell; none if the numbers of some were not sent. @param {Pass} pass @param {Cell} cell @returns {Line[]} */
function linesOf(pass, { name, index }) {
  const lines = pass.terms(name, index)?.lines ?? [];
  return lines.some(({ value }) => Number.isNaN(value)) ? [] : lines;
}
