// A matrix as a table, with its caption and labels.
import { background, css, textOn } from "./colour.js";
import { isHidden, written } from "./description.js";
import { element } from "./element.js";
import { typeset } from "./formula.js";
import { plain } from "./latex.js";

export function drawMatrix(matrix, colours, small) {
  const figure = element("figure", `matrix ${matrix.role}`);
  const grid = element("table");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", `${matrix.title} ${plain(matrix.symbol)}, ${shape(matrix)}`);
  const cells = matrix.values.map((line, row) => line.map((_, column) => drawCell(matrix, row, column, colours, small)));
  const body = element("tbody");
  body.append(...cells.map((line, row) => drawRow(small ? [] : [header("row", matrix.rows[row])], line)));
  grid.append(drawHead(matrix, small), body);
  const scroller = element("div", "scroller");
  scroller.append(grid);
  figure.append(drawCaption(matrix, small), scroller);
  return { figure, grid, cells, mark: (reads, row, column) => mark(cells, reads, row, column) };
}

// Whether a cell is read where `reads` ("row", "column", "cell" or "") is read of the one at `row` and `column`.
export function isRead(reads, row, column, r, c) {
  return (reads === "row" && r === row) || (reads === "column" && c === column)
    || (reads === "cell" && r === row && c === column);
}

function mark(cells, reads, row, column) {
  cells.forEach((line, r) => {
    line.forEach((cell, c) => {
      const read = isRead(reads, row, column, r, c);
      cell.classList.toggle("read", read);
      if (reads === "cell") cell.setAttribute("aria-selected", read);
    });
  });
}

function lengths({ rows, columns }) {
  return `${rows.length} × ${columns.length}`;
}

function shape(matrix) {
  return `${lengths(matrix)}: ${matrix.counts}`;
}

function drawCaption(matrix, small) {
  const symbol = element("span", "symbol");
  symbol.append(typeset(matrix.symbol));
  const caption = element("figcaption");
  const counted = element("span", "shape", small ? lengths(matrix) : shape(matrix));
  caption.append(symbol, element("span", "title", ` ${matrix.title}`), counted);
  return caption;
}

function drawHead(matrix, small) {
  const head = element("thead");
  if (small) return head;
  const upright = matrix.columns.some((label) => [...label].length > 4) ? "upright" : "";
  const corner = element("td", "corner");
  if (matrix.band) head.append(drawBands(matrix));
  head.append(drawRow([corner], matrix.columns.map((label) => header("col", label, upright))));
  return head;
}

function drawBands(matrix) {
  const bands = Array.from({ length: matrix.columns.length / matrix.band }, (_, band) => {
    const cell = header("colgroup", `head ${band + 1}`, "band");
    cell.colSpan = matrix.band;
    cell.classList.toggle("other-band", isOther(matrix, band));
    return cell;
  });
  return drawRow([element("td", "corner")], bands);
}

function drawRow(first, cells) {
  const row = element("tr");
  row.append(...first, ...cells);
  return row;
}

function drawCell(matrix, row, column, colours, small) {
  const value = matrix.values[row][column];
  const number = written(value, matrix);
  const cell = element("td", "", small ? "" : number);
  cell.setAttribute("role", "gridcell");
  if (small) cell.setAttribute("aria-label", number);
  cell.dataset.row = row;
  cell.dataset.column = column;
  const [selectedRow, selectedColumn] = matrix.selected ?? [0, 0];
  cell.tabIndex = row === selectedRow && column === selectedColumn ? 0 : -1;
  cell.classList.toggle("hidden", isHidden(value, matrix));
  cell.classList.toggle("marked", Boolean(matrix.marked?.[row][column]));
  if (matrix.band) {
    cell.classList.toggle("new-band", column > 0 && column % matrix.band === 0);
    cell.classList.toggle("other-band", isOther(matrix, Math.floor(column / matrix.band)));
  }
  if (matrix.scale !== "flag" && value !== null) {
    const colour = background(value, matrix, colours);
    cell.style.backgroundColor = css(colour);
    cell.style.color = css(textOn(colour));
  }
  return cell;
}

function isOther(matrix, band) {
  return matrix.selectedBand !== null && band !== matrix.selectedBand;
}

function header(scope, label, className = "") {
  const cell = element("th", className);
  cell.scope = scope;
  cell.title = label;
  cell.append(element("span", "", label));
  return cell;
}
