// Rows: how the numbers of a row stand to each other, in words.
import { hasWords } from "./axes.js";
import { counted, fraction, listed, ordinal, percent, short } from "./numeral.js";

const ERROR = 1e-9; // of the larger of two numbers: those that are nearer differ by rounding alone
const MAX_NAMED = 3;

// The numbers of a row but for the keys that the mask hides, be they of a stage before the mask or after it.
/** @param {Pass} pass */
export function visibleRow(pass, { name, index }) {
  return Array.from(pass.row(name, index)).filter((_, place) => !pass.isUnseen(name, [...index.slice(0, -1), place]));
}

// The sum of the numbers of a cell's row: those of hidden keys are shares of 0, or set by hand; their scores are none.
/** @param {Pass} pass */
export function sumOf(pass, { name, index }) {
  return pass.row(name, index).reduce((sum, value) => (value === -Infinity ? sum : sum + value), 0);
}

// Whether two numbers are the same but for rounding; nothing is said of a row's other numbers, which may be far larger.
export function ties(one, other) {
  const apart = Math.abs(one - other);
  return one === other || (apart < Infinity && apart <= ERROR * Math.max(Math.abs(one), Math.abs(other)));
}

// A number's place in its row; the only one has none.
export function rankOf(value, row) {
  if (row.length < 2) return undefined;
  const higher = row.filter(each => each > value && !ties(each, value)).length;
  const lower = row.filter(each => each < value && !ties(each, value)).length;
  const place = higher === 0 ? "highest" : lower === 0 ? "lowest" : ordinal(higher + 1);
  return higher + lower + 1 < row.length ? `tied for ${place}` : place;
}

// The words whose numbers are the largest of a cell's row, as pieces; undefined where no other has less.
export function bestOf(pass, cell) {
  const { taken, most } = takenOf(pass, cell);
  if (!most.length || most.length === taken.length) return undefined;
  const rest = most.length - MAX_NAMED;
  return listed([
    ...most.slice(0, MAX_NAMED).map(place => quoted(pass, cell, place)),
    ...(rest > 0 ? [others(rest)] : []),
  ]);
}

// A word's ending where several words have the largest number of a cell's row: “share” is of one, “shares” of several.
export function endingOf(one, several) {
  return (pass, cell) => (takenOf(pass, cell).most.length > 1 ? several : one);
}

// The words on a cell’s row, where all their numbers are the same.
/** @param {Pass} pass */
export function alikeOf(pass, cell) {
  const { taken, most } = takenOf(pass, cell);
  if (!most.length || most.length < taken.length) return undefined;
  if (most.length === 1) return [...quoted(pass, cell, most[0]), " alone"];
  const many = pass.stages.get(cell.name).axes.at(-1).name === "answer" ? "answers" : "keys";
  return most.length === 2 ? `both ${many} alike` : `all ${counted(most.length)} ${many} alike`;
}

// The largest number of a cell's row, and whether it is that of several.
/** @param {Pass} pass */
export function mostOf(pass, { name, index }) {
  const { most } = takenOf(pass, { name, index });
  if (!most.length) return undefined;
  const value = pass.row(name, index)[most[0]];
  const exact = pass.document.fractions ? fraction(value) : "",
    rounded = pass.stages.get(name).scale === "share" ? percent(value) : short(value),
    written = exact ? `${exact} (${rounded})` : rounded;
  return most.length > 1 ? `${written} each` : written;
}

// The heads whose rows are the longest; undefined where all are equally long, and until all were sent.
/** @param {Pass} pass */
export function longestOf(pass, cell) {
  const most = longestAt(pass, cell),
    { labels } = pass.stages.get(cell.name).axes[0];
  if (!most.length || most.length === labels.length) return undefined;
  return listed(most.map(head => [labels[head]])).join("");
}

// A word's ending where several heads have the longest rows.
/** @param {Pass} pass */
export function endingOfLongest(pass, cell) {
  return longestAt(pass, cell).length > 1 ? "s" : "";
}

/** @param {Pass} pass */
function longestAt(pass, { name, index: [, ...index] }) {
  const { labels } = pass.stages.get(name).axes[0];
  const lengths = relativeLengths(labels.map((_, head) => pass.row(name, [head, ...index])));
  return topOf(
    lengths,
    lengths.map((_, head) => head),
  );
}

// The places of a row that hold something for its query, and those of them with the largest number; none if some of the row
// was not sent. What is hidden holds something only where it is a share that was set by hand.
/** @param {Pass} pass */
function takenOf(pass, { name, index }) {
  const row = Array.from(pass.row(name, index)),
    isShare = pass.stages.get(name).scale === "share";
  const isTaken = (value, place) => (isShare && value !== 0) || !pass.isUnseen(name, [...index.slice(0, -1), place]);
  const taken = row.flatMap((value, place) => (isTaken(value, place) ? [place] : []));
  return { taken, most: topOf(row, taken) };
}

// Those of some places at which the largest number stands; none if a number is missing.
function topOf(row, places) {
  const top = Math.max(...places.map(place => row[place]));
  return places.filter(place => ties(top, row[place]));
}

// Over the largest of their numbers: the lengths themselves may be beyond a double.
function relativeLengths(rows) {
  const unit = Math.max(...rows.map(row => Math.max(...row.map(Math.abs)))) || 1;
  return rows.map(row => Math.hypot(...row.map(value => value / unit)));
}

/** @param {Pass} pass */
function quoted(pass, { name }, place) {
  const axis = pass.stages.get(name).axes.at(-1),
    text = axis.labels[place];
  return ["“", hasWords(axis) ? { text, style: "word" } : text, "”"];
}

function others(n) {
  return n === 1 ? ["1 other"] : [`${n} others`];
}
