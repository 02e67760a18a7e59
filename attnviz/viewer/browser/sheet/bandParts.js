// Parts: the bands of a page of the sheet with their slots in this pass, and the rows that stand alone in each.
import { makeSlot } from "../picture/slot.js";

const MOST_ROWS = 8, ALONE = 6; // of a matrix of more rows those with the largest products stand alone, the others together

// {..., key, selection, attention, cells, left, right, rows, others} of each band: `rows` stand alone, `others` together. A
// band whose key is in `opened` has all of its rows alone.
export function partsOf(pass, { selection, attention, opened }, bands) {
  return bands.map((each) => {
    const { band } = each, of = (slot) => slot && makeSlot(pass, slot, selection);
    const part = { ...each, key: `${band.cells.stage} ${band.array}`, selection, attention, cells: of(band.cells), left: of(band.left), right: of(band.right) };
    const all = Array.from({ length: part.cells.size[0] }, (_, row) => row), isLong = all.length > MOST_ROWS;
    const rows = isLong && !opened.has(part.key) ? largest(pass, part, all) : all;
    return { ...part, isLong, rows, others: all.filter((row) => !rows.includes(row)) };
  });
}

// The rows with the largest products under the selected column, in their order.
function largest(pass, part, all) {
  const column = selectedColumn(pass, part), sizes = all.map((row) => Math.abs(productAt(pass, part, row, column)));
  return [...all].sort((one, other) => sizes[other] - sizes[one]).slice(0, ALONE).sort((one, other) => one - other);
}

// Where the selection lies among the columns of a part.
export function selectedColumn(pass, { cells, selection }) {
  return cells.placeOf(pass.indexAt(cells.name, selection))[1];
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
