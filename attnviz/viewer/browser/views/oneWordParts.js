// The parts of the One word view: the bands of its page with their slots in a pass, and the rows and columns that each shows.
import { hasWords, isOfHeads } from "../model/axes.js";
import { makeSlice } from "./slice.js";

const MAX_ROWS = 8;
export const ROWS_ALONE = 6; // of a matrix of more rows those with the largest products have a line each, the others share one
const MAX_POSITIONS = 16,
  POSITIONS_KEPT = 12; // of more dimensions the largest have a column
const MAX_ENDS = 8,
  ENDS_KEPT = 6; // the same of results at a row's right

// Each band with its slots in this pass; `rightColumns` are the columns of the results that have space.
export function slotted(pass, { selection, attention }, bands) {
  const slotOf = slot => slot && makeSlice(pass, slot, selection);
  return bands.map(each => {
    const { band } = each,
      cells = slotOf(band.cells),
      right = slotOf(band.right),
      kind = band.left ? ["times"] : band.right ? ["mixed"] : []; // latents stand alone, too
    return {
      ...each,
      key: [band.cells.stage, band.array, ...kind].join(" "),
      selection,
      attention,
      cells,
      left: slotOf(band.left),
      right,
      leftover: band.leftover && pass.stages.has(band.leftover.stage) ? slotOf(band.leftover) : null, // which A may lack
      isLong: cells.size[0] > MAX_ROWS,
      rightColumns: rightColumnsOf(pass, right, selection),
    };
  });
}

// Adds what each band shows: {..., isLong, rows, others, columns, rest}. `rows` have a line each, `others` share one; `columns` are the
// cells that have a column, `rest` are the words that share one. A band whose key is in `opened` has a line for every row. `space` counts
// the columns for words, answers and positions, and the rows of a matrix; `chosenWords` always have a column.
/** @param {Pass} pass */
export function partsOf(pass, { opened, space, chosenWords }, bands) {
  const keys = keysOf(pass, bands, space.words, chosenWords),
    answers = answersOf(pass, bands, space.answers);
  const parts = bands.map(part => {
    const [count] = part.cells.size,
      isLong = count > space.rows,
      isShort = isLong && !opened.has(part.key);
    return withRows(pass, { ...part, isLong }, isShort ? Math.min(ROWS_ALONE, space.rows - 1) : count);
  });
  return parts.map((part, nth) => {
    if (isOfKeys(part)) return { ...part, ...keys };
    if (isOfAnswers(part)) return { ...part, ...answers };
    return { ...part, columns: positionsOf(pass, parts, nth, space.places), rest: [] };
  });
}

export const amplyFor = words => ({ words, answers: Number.POSITIVE_INFINITY, places: MAX_POSITIONS, rows: MAX_ROWS });

// A part in which `count` rows have a line of their own: the largest products under the selected column, and the selected row.
export function withRows(pass, part, count) {
  const all = upTo(part.cells.size[0]),
    [selectedRow, column] = selectedPlace(pass, part);
  const alone = count < all.length ? largest(all, count, row => productAt(pass, part, row, column)) : all;
  const rows = all.filter(row => alone.includes(row) || row === selectedRow); // which the sentence names
  return { ...part, rows, others: all.filter(row => !rows.includes(row)) };
}

// The words that have a column: the selected one, then those chosen before, the last first, then those with the largest attention weights.
/** @param {Pass} pass */
function keysOf(pass, bands, space, chosenWords) {
  const part = bands.find(isOfKeys);
  if (!part) return { columns: [], rest: [] };
  const { attention, selection, cells } = part,
    all = upTo(cells.size[1]);
  if (all.length <= space) return { columns: all, rest: [] };
  const isOfAllHeads = bands.some(each => isOfHeads(each.cells.rows)),
    heads = isOfAllHeads ? upTo(pass.stages.get(attention).shape[0]) : [selection.head];
  const weightIn = (head, key) => pass.number(attention, pass.indexAt(attention, { ...selection, head, key })) ?? 0;
  const first = [selection.key, ...[...chosenWords].reverse()];
  const rank = key => {
    if (first.includes(key)) return first.length - first.indexOf(key) + 2;
    return Math.max(...heads.map(head => weightIn(head, key))) + isRival(pass, cells.columns.labels[key]);
  };
  const columns = largest(all, space - 1, rank);
  return { columns, rest: all.filter(key => !columns.includes(key)) };
}

/** The answers that have a column, the most probable and the words of the sentence, and those that share one. @param {Pass} pass */
function answersOf(pass, bands, space) {
  const part = bands.findLast(isOfAnswers);
  if (!part) return { columns: [], rest: [] };
  const { name, index, size, columns: axis } = part.cells,
    all = upTo(size[1]),
    [, selected] = selectedPlace(pass, part);
  const rank = answer =>
    answer === selected ? 3 : (pass.number(name, index(0, answer)) ?? 0) + isRival(pass, axis.labels[answer]);
  const columns = all.length > space ? largest(all, space - 1, rank) : all;
  return { columns, rest: all.filter(answer => !columns.includes(answer)) };
}

// 1 for a word of the sentence that the question may be about; 0 for all where the model writes on.
function isRival({ stages, document }, label) {
  const { model, words } = document;
  if (!model || model.isOpen || !words.key.includes(label)) return 0;
  return Number(stages.get(model.answers).axes[1].labels.includes(label));
}

const isOfAnswers = ({ cells }) => cells.columns.name === "answer";
const isOfKeys = ({ cells }) => cells.columns.name === "key";
const upTo = length => Array.from({ length }, (_, position) => position);

// Words all have a column. Of many dimensions those do that are largest in the last of the rows that follow each other, and of those
// alike there (neurons that don't fire) in the row before: all bands show the same.
/** @param {Pass} pass */
function positionsOf(pass, parts, nth, space) {
  const { columns, size } = parts[nth].cells,
    all = upTo(size[1]);
  if (hasWords(columns) || all.length <= space) return all;
  const isOther = ({ cells }) => cells.columns.name !== columns.name,
    after = parts.slice(nth + 1).findIndex(isOther),
    end = after < 0 ? parts.length : nth + 1 + after;
  const rows = parts.slice(parts.slice(0, nth).findLastIndex(isOther) + 1, end).reverse();
  const numbersAt = rows.map(
    ({ cells }) =>
      column =>
        pass.number(cells.name, cells.index(0, column)),
  );
  const kept = largest(all, Math.min(POSITIONS_KEPT, space), ...numbersAt),
    [, selected] = selectedPlace(pass, parts[nth]);
  return all.filter(column => kept.includes(column) || column === selected);
}

function rightColumnsOf(pass, right, selection) {
  const all = upTo(right?.size[1] ?? 0);
  if (all.length <= MAX_ENDS) return all;
  return largest(all, ENDS_KEPT, column => pass.number(right.name, right.index(selection.head, column)));
}

// The `count` positions with the largest numbers, in order; of equal ones those whose next numbers are larger.
function largest(positions, count, ...numbersAt) {
  const sizes = new Map(positions.map(position => [position, numbersAt.map(numberAt => Math.abs(numberAt(position)))]));
  const after = (one, other) =>
    numbersAt.reduce((order, _, nth) => order || sizes.get(other)[nth] - sizes.get(one)[nth], 0);
  const kept = [...positions].sort(after).slice(0, count);
  return kept.sort((one, other) => one - other);
}

export const isShownBy = (look, { cells, band }) => look.shown(cells.name, cells.index(0, 0), band.array);
/** @param {Pass} pass */
export const selectedPlace = (pass, { cells, selection }) => cells.positionOf(pass.indexAt(cells.name, selection));

// The numbers of `rightColumns`, or what the row leaves over; of two passes that differ only there, those of both.
export function endsOf({ rightColumns, right, leftover, ends }) {
  const alone = leftover ? [{ column: 0, slot: leftover, name: leftover.stage.one }] : [];
  return ends ?? [...rightColumns.map(column => ({ column, slot: right })), ...alone];
}

// The two factors of a product: the number at the row's left, or the column's attention weight, and the cell itself.
/** @param {Pass} pass @returns {number[]} */
export function factorsAt(pass, { cells, left, attention, selection }, row, column) {
  const one = left
    ? pass.number(left.name, left.index(row, 0))
    : pass.number(attention, pass.indexAt(attention, { ...selection, key: column }));
  return /** @type {number[]} */ ([one, pass.number(cells.name, cells.index(row, column))]);
}

export function productAt(pass, part, row, column) {
  const [one, other] = factorsAt(pass, part, row, column);
  return one * other;
}

export const sumOfProducts = (pass, part, rows, column) => added(rows.map(row => productAt(pass, part, row, column)));
export const added = numbers => numbers.reduce((sum, number) => sum + number, 0);
