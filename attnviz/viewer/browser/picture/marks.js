// Marks: what is outlined in the matrices of a picture, for the cell that one looks at.
import { rectangles } from "./frames.js";

// The cell itself, the cells it was computed from (`sources`), those of the term that is just computed, and lightly its row and column.
export function marksOf(slot, cell, sources, term) {
  const place = cell.name === slot.name ? slot.placeOf(cell.index) : null;
  const places = cells =>
    cells
      .filter(({ name }) => name === slot.name)
      .map(({ index }) => slot.placeOf(index))
      .filter(Boolean);
  const framed = (cells, kind) => rectangles(places(cells)).map(each => ({ ...each, kind }));
  return [
    ...(place ? crossOf(slot, place) : []),
    ...framed(sources, "source"),
    ...framed(term, "term"),
    ...(place ? [{ row: place[0], column: place[1], rows: 1, columns: 1, kind: "focus" }] : []),
  ];
}

function crossOf({ size: [rows, columns] }, [row, column]) {
  return [
    { row, column: 0, rows: 1, columns, kind: "cross" },
    { row: 0, column, rows, columns: 1, kind: "cross" },
  ];
}
