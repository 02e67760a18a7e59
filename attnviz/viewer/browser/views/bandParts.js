// Parts: the bands of a page of the sheet with their slots in this pass, and the rows that stand alone in each.
import { hasWords, isOfHeads } from "../model/axes.js";
import { makeSlot } from "./slot.js";

const MOST_ROWS = 8,
  ALONE = 6,
  LEAST_ALONE = 1; // of a matrix of more rows those with the largest products stand alone, the others together
const MOST_PLACES = 16,
  MOST_BESIDE = 8,
  KEPT = 12,
  KEPT_BESIDE = 6; // of more positions that are columns, the largest are there

// Each band with its slots in this pass: {..., key, selection, attention, cells, left, right, leftover, isLong, rightColumns};
// `rightColumns` are the columns of the results that have space.
export function slotted(pass, { selection, attention }, bands) {
  const of = slot => slot && makeSlot(pass, slot, selection);
  return bands.map(each => {
    const { band } = each,
      cells = of(band.cells),
      right = of(band.right);
    return {
      ...each,
      key: [band.cells.stage, band.array, ...(band.left ? ["times"] : band.right ? ["mixed"] : [])].join(" "), // latents stand alone, too
      selection,
      attention,
      cells,
      left: of(band.left),
      right,
      leftover: band.leftover && pass.stages.has(band.leftover.stage) ? of(band.leftover) : null, // which another pass may lack
      isLong: cells.size[0] > MOST_ROWS,
      rightColumns: rightColumnsOf(pass, right, selection),
    };
  });
}

// Adds what each band shows: {..., isLong, rows, others, columns, rest}. `rows` have a line each, `others` share one; `columns` are the
// cells that have a column, `rest` are the words that share one. A band whose key is in `opened` has a line for every row. `space` counts
// the columns for words, answers and positions, and the rows of a matrix; the words `brought` in always have a column.
export function partsOf(pass, { opened, space, brought }, bands) {
  const keys = keysOf(pass, bands, space.words, brought),
    answers = answersOf(pass, bands, space.answers);
  const parts = bands.map(part => {
    const isLong = part.cells.size[0] > space.rows;
    return withRows(
      pass,
      { ...part, isLong },
      isLong && !opened.has(part.key) ? Math.min(ALONE, space.rows - 1) : part.cells.size[0],
    );
  });
  return parts.map((part, position) => ({
    ...part,
    ...(isOfKeys(part)
      ? keys
      : isOfAnswers(part)
        ? answers
        : { columns: placesOf(pass, parts, position, space.places), rest: [] }),
  }));
}

// The space where letters may be small.
export function amplyFor(words) {
  return { words, answers: Number.POSITIVE_INFINITY, places: MOST_PLACES, rows: MOST_ROWS };
}

// The space with one row less at a time, until fits(space).
export function narrowed(space, fits) {
  return space.rows <= LEAST_ALONE + 1 || fits(space)
    ? space
    : narrowed({ ...space, rows: Math.min(space.rows, ALONE + 1) - 1 }, fits);
}

// A part in which `alone` rows have a line of their own: the largest products under the selected column, and the selected row.
export function withRows(pass, part, count) {
  const all = upTo(part.cells.size[0]),
    column = selectedColumn(pass, part);
  const alone = count < all.length ? largest(all, count, row => productAt(pass, part, row, column)) : all;
  const rows = all.filter(row => alone.includes(row) || row === selectedRow(pass, part)); // which the sentence names
  return { ...part, rows, others: all.filter(row => !rows.includes(row)) };
}

// The words that have a column, in order, and those that share one. First come the selected word, then those brought in, the last first,
// then those with the largest attention weights, in any of the heads shown.
/** @param {Pass} pass */
function keysOf(pass, bands, space, brought) {
  const part = bands.find(isOfKeys);
  if (!part) return { columns: [], rest: [] };
  const {
      attention,
      selection,
      cells: {
        size: [, length],
      },
    } = part,
    all = upTo(length);
  if (length <= space) return { columns: all, rest: [] };
  const heads = bands.some(({ cells }) => isOfHeads(cells.rows))
    ? upTo(pass.stages.get(attention).shape[0])
    : [selection.head];
  const shareOf = key =>
    Math.max(...heads.map(head => pass.number(attention, pass.indexAt(attention, { ...selection, head, key })) ?? 0));
  const first = [selection.key, ...[...brought].reverse()],
    rank = key =>
      first.includes(key)
        ? first.length - first.indexOf(key) + 2
        : shareOf(key) + isRival(pass, part.cells.columns.labels[key]);
  const columns = largest(all, space - 1, rank);
  return { columns, rest: all.filter(key => !columns.includes(key)) };
}

// The answers that have a column, the most probable and the words of the sentence, and those that share one.
/** @param {Pass} pass */
function answersOf(pass, bands, space) {
  const part = bands.findLast(isOfAnswers);
  if (!part) return { columns: [], rest: [] };
  const {
      cells: {
        name,
        index,
        size: [, length],
        columns: { labels },
      },
    } = part,
    all = upTo(length),
    selected = selectedColumn(pass, part);
  const rank = answer =>
    answer === selected ? 3 : pass.number(name, index(0, answer)) + isRival(pass, labels[answer]);
  const columns = length > space ? largest(all, space - 1, rank) : all;
  return { columns, rest: all.filter(answer => !columns.includes(answer)) };
}

// 1 for a word of the sentence that the question may be about; 0 for all where the model writes on.
function isRival({ stages, document: { model, words } }, label) {
  const isOne =
    model && !model.isOpen && words.key.includes(label) && stages.get(model.answers).axes[1].labels.includes(label);
  return isOne ? 1 : 0;
}

function isOfAnswers({ cells }) {
  return cells.columns.name === "answer";
}

function isOfKeys({ cells }) {
  return cells.columns.name === "key";
}

function upTo(length) {
  return Array.from({ length }, (_, position) => position);
}

// Words all have a column. Of many positions those do that are largest in the last row of them, and of those alike there (neurons
// that don't fire) in the row before: all bands show the same.
/** @param {Pass} pass */
function placesOf(pass, parts, position, space) {
  const {
      columns,
      size: [, length],
    } = parts[position].cells,
    all = upTo(length);
  if (hasWords(columns) || length <= space) return all;
  const isOther = ({ cells }) => cells.columns.name !== columns.name,
    end = parts.findIndex((part, at) => at > position && isOther(part));
  const rows = parts.slice(parts.slice(0, position).findLastIndex(isOther) + 1, end < 0 ? parts.length : end).reverse();
  const selected = selectedColumn(pass, parts[position]);
  const kept = largest(
    all,
    Math.min(KEPT, space),
    ...rows.map(
      ({ cells }) =>
        column =>
          pass.number(cells.name, cells.index(0, column)),
    ),
  );
  return all.filter(column => kept.includes(column) || column === selected);
}

/** @param {Pass} pass */
function rightColumnsOf(pass, right, selection) {
  const all = upTo(right?.size[1] ?? 0);
  return all.length > MOST_BESIDE
    ? largest(all, KEPT_BESIDE, column => pass.number(right.name, right.index(selection.head, column)))
    : all;
}

// So many positions with the largest numbers, in their order; of equal ones those whose next numbers are larger.
function largest(positions, count, ...numbersAt) {
  const sizes = new Map(positions.map(position => [position, numbersAt.map(numberAt => Math.abs(numberAt(position)))]));
  const after = (one, other) =>
    numbersAt.reduce((order, _, nth) => order || sizes.get(other)[nth] - sizes.get(one)[nth], 0);
  return [...positions]
    .sort(after)
    .slice(0, count)
    .sort((one, other) => one - other);
}

// Whether a word's row is shown, or still to come.
export function isShownBy(look, { cells, band: { array } }) {
  return look.shown(cells.name, cells.index(0, 0), array);
}

// The selected column of a part.
/** @param {Pass} pass */
export function selectedColumn(pass, { cells, selection }) {
  return cells.placeOf(pass.indexAt(cells.name, selection))[1];
}

/** @param {Pass} pass */
function selectedRow(pass, { cells, selection }) {
  return cells.placeOf(pass.indexAt(cells.name, selection))[0];
}

// The ends of a row, at its right: the numbers of `rightColumns`, or what it leaves over; of two passes that part only there,
// those of both.
export function endsOf({ rightColumns, right, leftover, ends }) {
  const alone = leftover ? [{ column: 0, slot: leftover, name: leftover.stage.one }] : [];
  return ends ?? [...rightColumns.map(column => ({ column, slot: right })), ...alone];
}

// The two factors of a product: the number at the row's left, or the column's attention weight, and the cell itself.
/** @param {Pass} pass */
export function factorsAt(pass, { cells, left, attention, selection }, row, column) {
  const number = ({ name, index }, ...position) => pass.number(name, index(...position));
  const one = left
    ? number(left, row, 0)
    : pass.number(attention, pass.indexAt(attention, { ...selection, key: column }));
  return [one, number(cells, row, column)];
}

export function productAt(pass, part, row, column) {
  const [one, other] = factorsAt(pass, part, row, column);
  return one * other;
}

// The sum of some rows' products under a column.
export function sumOfProducts(pass, part, rows, column) {
  return rows.reduce((sum, row) => sum + productAt(pass, part, row, column), 0);
}
