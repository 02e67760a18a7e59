// Descriptions: what one cell of a matrix is and holds, as it is written in it and as it is said in full.
import { named } from "./cells.js";
import { short } from "./numeral.js";

export function isHidden(value, { scale }) {
  return value === null || (scale === "flag" && !value);
}

export function written(value, { scale, gap }) {
  if (value === null) return gap;
  return scale === "flag" ? String(Number(value)) : short(value);
}

// What a cell is, and its number in all digits; of a hidden one, why it is hidden.
export function describe(axes, matrix, row, column) {
  const value = matrix.values[row][column];
  const number = matrix.scale === "flag" ? (value ? "visible" : "hidden") : value === null ? matrix.gap : String(value);
  return `${named(axes, matrix.cells[row][column])} = ${number}${isHidden(value, matrix) ? `: ${matrix.whyHidden}` : ""}`;
}
