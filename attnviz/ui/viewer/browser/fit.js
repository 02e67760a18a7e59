// Fit: cells as large as their line allows.

// Tells CSS how much of a line is not cells (labels, signs, gaps), for the whole equation and for its widest matrix,
// so that cells can share what is left. Measured twice: captions overhang small cells, and labels grow with large ones.
export function fit({ box, tables }) {
  const columns = tables.map((table) => table.cells[0].length);
  box.style.setProperty("--columns", total(columns));
  box.style.setProperty("--widest", Math.max(...columns));
  let rest = 0, restOfOne = 0;
  for (const className of ["equation smallest", "equation"]) {
    box.className = className;
    const cells = tables.map((table) => total(table.cells[0].map(widthOf)));
    const operands = [...box.children].map(unscrolledWidth);
    const gaps = (operands.length - 1) * Number.parseFloat(getComputedStyle(box).columnGap || 0);
    rest = Math.max(rest, total(operands) + gaps - total(cells));
    restOfOne = Math.max(restOfOne, ...operands.map((width, m) => width - cells[m]));
    box.style.setProperty("--rest", `${Math.ceil(rest) + 2}px`);
    box.style.setProperty("--rest-of-one", `${Math.ceil(restOfOne) + 2}px`);
  }
}

function unscrolledWidth(operand) {
  const scroller = operand.querySelector(".scroller");
  return widthOf(operand) - scroller.clientWidth + scroller.scrollWidth;
}

function widthOf(element) {
  return element.getBoundingClientRect().width;
}

function total(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}
