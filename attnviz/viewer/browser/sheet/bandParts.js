// Parts: the bands of a page of the sheet with their slots in this pass, and the rows that stand alone in each.
import { hasWords } from "../pass/axes.js";
import { makeSlot } from "../picture/slot.js";

const MOST_ROWS = 8, ALONE = 6; // of a matrix of more rows those with the largest products stand alone, the others together
const MOST_PLACES = 16, MOST_BESIDE = 8, KEPT = 12, KEPT_BESIDE = 6; // of more places that are columns, the largest are there

// {..., key, selection, attention, cells, left, right, rows, others, columns, beside} of each band: `rows` stand alone, `others`
// together; `columns` are those of its cells that there is room for, `beside` those of what each row gives. A band whose key
// is in `opened` has all of its rows alone.
export function partsOf(pass, { selection, attention, opened }, bands) {
  const parts = bands.map((each) => {
    const { band } = each, of = (slot) => slot && makeSlot(pass, slot, selection);
    const part = { ...each, key: `${band.cells.stage} ${band.array}`, selection, attention, cells: of(band.cells), left: of(band.left), right: of(band.right) };
    const all = upTo(part.cells.size[0]), isLong = all.length > MOST_ROWS, column = selectedColumn(pass, part);
    const size = (row) => (part.right && row === selectedRow(pass, part) ? Number.POSITIVE_INFINITY : productAt(pass, part, row, column)); // what is told of is there
    const rows = isLong && !opened.has(part.key) ? largest(all, ALONE, size) : all;
    return { ...part, isLong, rows, others: all.filter((row) => !rows.includes(row)) };
  });
  return parts.map((part, place) => ({ ...part, columns: columnsOf(pass, parts, place), beside: besideOf(pass, part) }));
}

function upTo(length) {
  return Array.from({ length }, (_, place) => place);
}

// Words all have a column. Of many places those do that are largest in the last row of them: all bands show the same.
function columnsOf(pass, parts, place) {
  const { columns, size: [, length] } = parts[place].cells, all = upTo(length);
  if (hasWords(columns) || length <= MOST_PLACES) return all;
  const end = parts.findIndex(({ cells }, at) => at > place && cells.columns.name !== columns.name);
  const { cells } = parts.slice(place, end < 0 ? parts.length : end).at(-1);
  return largest(all, KEPT, (column) => pass.number(cells.name, cells.index(0, column)));
}

function besideOf(pass, { right, selection }) {
  const all = upTo(right?.size[1] ?? 0);
  return all.length > MOST_BESIDE ? largest(all, KEPT_BESIDE, (column) => pass.number(right.name, right.index(selection.head, column))) : all;
}

// Those places, so many of them, whose numbers are largest, in their order.
function largest(places, count, numberAt) {
  const sizes = new Map(places.map((place) => [place, Math.abs(numberAt(place))]));
  return [...places].sort((one, other) => sizes.get(other) - sizes.get(one)).slice(0, count).sort((one, other) => one - other);
}

// Where the selection lies among the columns of a part.
export function selectedColumn(pass, { cells, selection }) {
  return cells.placeOf(pass.indexAt(cells.name, selection))[1];
}

function selectedRow(pass, { right, selection }) {
  return right.placeOf(pass.indexAt(right.name, selection))[0];
}

// What is multiplied in a row under a column: the number at its left, or the column's share, and the cell itself.
export function factorsAt(pass, { cells, left, attention, selection }, row, column) {
  const number = ({ name, index }, ...place) => pass.number(name, index(...place));
  const one = left ? number(left, row, 0) : pass.number(attention, pass.indexAt(attention, { ...selection, key: column }));
  return [one, number(cells, row, column)];
}

export function productAt(pass, part, row, column) {
  const [one, other] = factorsAt(pass, part, row, column);
  return one * other;
}

// What some rows add up to under a column.
export function sumOfProducts(pass, part, rows, column) {
  return rows.reduce((sum, row) => sum + productAt(pass, part, row, column), 0);
}
