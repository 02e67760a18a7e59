// A matrix as a table, with its caption and labels.

function drawMatrix(matrix, colours, small) {
  const figure = element("figure", `matrix ${matrix.role}`);
  const caption = element("figcaption");
  const lengths = `${matrix.rows.length} × ${matrix.columns.length}`;
  const shape = `${lengths}: ${matrix.counts}`;
  const symbol = element("span", "symbol");
  symbol.append(typeset(matrix.symbol));
  caption.append(symbol, element("span", "title", ` ${matrix.title}`), element("span", "shape", small ? lengths : shape));
  const grid = element("table");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", `${matrix.title} ${plain(matrix.symbol)}, ${shape}`);
  const upright = matrix.columns.some((label) => [...label].length > 4) ? "upright" : "";
  const head = element("thead");
  if (matrix.band && !small) head.append(bandRow(matrix));
  const labels = element("tr");
  labels.append(element("td", "corner"));
  matrix.columns.forEach((label) => labels.append(header("col", label, upright)));
  if (!small) head.append(labels);
  const body = element("tbody");
  const selected = matrix.selected ?? [0, 0];
  const cells = matrix.values.map((numbers, row) => {
    const line = element("tr");
    if (!small) line.append(header("row", matrix.rows[row], ""));
    const drawn = numbers.map((value, column) => {
      const number = written(value, matrix.scale, matrix.gap);
      const cell = element("td", value === null || (matrix.scale === "flag" && !value) ? "hidden" : "", small ? "" : number);
      cell.setAttribute("role", "gridcell");
      if (small) cell.setAttribute("aria-label", number);
      cell.dataset.row = row;
      cell.dataset.column = column;
      cell.tabIndex = row === selected[0] && column === selected[1] ? 0 : -1;
      if (matrix.band && column && column % matrix.band === 0) cell.classList.add("new-band");
      if (matrix.focusBand !== null && matrix.band && Math.floor(column / matrix.band) !== matrix.focusBand) cell.classList.add("other-band");
      if (matrix.moved?.[row][column]) cell.classList.add("moved");
      paint(cell, value, matrix, colours);
      return cell;
    });
    line.append(...drawn);
    body.append(line);
    return drawn;
  });
  grid.append(head, body);
  const scroller = element("div", "scroller");
  scroller.append(grid);
  figure.append(caption, scroller);
  const mark = (reads, row, column) => {
    cells.forEach((line, r) => line.forEach((cell, c) => {
      const read = reads === "row" ? r === row : reads === "column" ? c === column : reads === "cell" ? r === row && c === column : false;
      cell.classList.toggle("read", read);
      if (reads === "cell") cell.setAttribute("aria-selected", read);
    }));
  };
  return { figure, grid, cells, mark };
}

function bandRow(matrix) {
  const row = element("tr");
  row.append(element("td", "corner"));
  for (let band = 0; band * matrix.band < matrix.columns.length; band += 1) {
    const cell = header("colgroup", `head ${band + 1}`, "band");
    cell.colSpan = matrix.band;
    if (matrix.focusBand !== null && band !== matrix.focusBand) cell.classList.add("other-band");
    row.append(cell);
  }
  return row;
}

function header(scope, label, className) {
  const cell = element("th", className);
  cell.scope = scope;
  cell.title = label;
  cell.append(element("span", "", label));
  return cell;
}

// What a cell is and holds, in all its digits; of a hidden one, why it is hidden.
function tells(data, matrix, row, column) {
  const value = matrix.values[row][column];
  const isHidden = value === null || (matrix.scale === "flag" && !value);
  const number = matrix.scale === "flag" ? (value ? "visible" : "hidden") : value === null ? matrix.gap : String(value);
  return `${named(data, matrix.cells[row][column])} = ${number}${isHidden ? `: ${matrix.hidden}` : ""}`;
}

function plain(symbol) {
  return symbol.replace(/[\^_{}]/g, "");
}

function written(value, scale = "signed", gap = "") {
  if (value === null) return gap;
  if (scale === "flag") return value ? "1" : "0";
  const size = Math.abs(value);
  if (size >= 1e4) return value.toExponential(1).replace("-", "−").replace("+", "");
  const text = value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : 2);
  return (text === "-0.00" ? "0.00" : text).replace("-", "−");
}
