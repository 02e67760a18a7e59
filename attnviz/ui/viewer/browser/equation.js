// An equation: its matrices, what is outlined in them, and what a pointer or the keyboard does there.

function drawEquation(equation, colours, small, tools) {
  const box = element("div", "equation");
  const tables = equation.map((matrix) => drawMatrix(matrix, colours, small));
  const result = equation.length - 1;
  const outline = (row, column) => {
    tables.forEach((table, m) => {
      const { reads, shift, selected } = equation[m];
      if (reads) table.mark(reads, row, column + shift);
      else if (m !== result && selected) table.mark("cell", ...selected);
    });
    tables[result].mark("cell", row, column);
  };
  const rest = () => {
    const selected = equation[result].selected;
    if (selected) outline(...selected);
    tools.tell(selected ? tools.tells(equation[result], ...selected) : "");
  };
  tables.forEach((table, m) => {
    const point = (row, column) => {
      if (m === result) outline(row, column);
      tools.tell(tools.tells(equation[m], row, column));
    };
    table.grid.onpointerover = (event) => {
      const cell = event.target.closest("[data-row]");
      if (cell) point(Number(cell.dataset.row), Number(cell.dataset.column));
    };
    table.grid.onpointerleave = rest;
    table.grid.addEventListener("focusin", (event) => {
      const { row, column } = event.target.dataset;
      if (row === undefined) return;
      tools.remember(m, Number(row), Number(column));
      point(Number(row), Number(column));
    });
    table.grid.addEventListener("focusout", rest);
    const pick = (row, column) => {
      equation[m].selected = [row, column];
      tools.pick(equation[m].cells[row][column]);
    };
    table.grid.onclick = (event) => {
      const cell = event.target.closest("[data-row]");
      if (cell) pick(Number(cell.dataset.row), Number(cell.dataset.column));
    };
    table.grid.onkeydown = (event) => moveOrPick(event, table, pick);
    const { sign, after } = equation[m];
    const operand = element("div", "operand"); // a sign goes to the next line with its matrix
    if (sign) operand.append(element("span", "sign", sign));
    operand.append(table.figure);
    if (after) operand.append(element("span", "sign", after));
    box.append(operand);
  });
  rest();
  const select = (places) => {
    places.forEach((place, m) => { equation[m].selected = place; });
    if (!box.closest(".picture").matches(":hover, :focus-within")) rest(); // else it tells what is pointed at
    else if (places[result]) outline(...places[result]);
  };
  const find = (cells) => select(equation.map((matrix) => {
    const places = matrix.cells.flatMap((line, row) => line.map((cell, column) => cells.includes(cell) && [row, column]));
    return places.find(Boolean) ?? matrix.selected;
  }));
  const playable = !small && equation.slice(0, -1).some((matrix) => matrix.reads);
  const player = playable ? makePlayer(equation, tables, { ...tools, outline, rest }) : null;
  const whole = element("div");
  whole.append(box, ...(player ? [player.controls] : []));
  return { element: whole, box, tables, select, find, player };
}

// Arrow keys move inside the grid and must not reach the page, where they turn to another step.
function moveOrPick(event, table, pick) {
  const from = event.target.dataset;
  if (from.row === undefined) return;
  const row = Number(from.row), column = Number(from.column);
  const last = [table.cells.length - 1, table.cells[0].length - 1];
  const to = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: event.ctrlKey ? [0, 0] : [row, 0], End: event.ctrlKey ? last : [row, last[1]],
  }[event.key];
  const picks = event.key === "Enter" || event.key === " ";
  if (!to && !picks) return;
  event.preventDefault();
  event.stopPropagation();
  if (picks) { pick(row, column); return; }
  const next = table.cells[Math.min(Math.max(to[0], 0), last[0])][Math.min(Math.max(to[1], 0), last[1])];
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// Tells CSS how much of a line is not cells (labels, signs, gaps), for the whole equation and for its widest matrix,
// so that cells can share what is left. Measured twice: captions overhang small cells, and labels grow with large ones.
function fit({ box, tables }) {
  const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const columns = tables.map((table) => table.cells[0].length);
  box.style.setProperty("--columns", total(columns));
  box.style.setProperty("--widest", Math.max(...columns));
  let rest = 0, restOfOne = 0;
  ["equation smallest", "equation"].forEach((className) => {
    box.className = className;
    const cells = tables.map((table) => total(table.cells[0].map((cell) => cell.getBoundingClientRect().width)));
    const operands = [...box.children].map((child) => { // as wide as it would be if nothing had to be scrolled
      const scroller = child.querySelector(".scroller");
      return child.getBoundingClientRect().width - scroller.clientWidth + scroller.scrollWidth;
    });
    const gaps = (operands.length - 1) * parseFloat(getComputedStyle(box).columnGap || 0);
    rest = Math.max(rest, total(operands) + gaps - total(cells));
    restOfOne = Math.max(restOfOne, ...operands.map((width, m) => width - cells[m]));
    box.style.setProperty("--rest", `${Math.ceil(rest) + 2}px`);
    box.style.setProperty("--rest-of-one", `${Math.ceil(restOfOne) + 2}px`);
  });
}
