// An equation: its matrices, what is outlined in them, and what a pointer or the keyboard does there.
import { element } from "./element.js";
import { destination, picks } from "./keys.js";
import { makePlayer } from "./player.js";
import { drawMatrix } from "./table.js";

// `tools` are what the viewer does: say(text), describe(matrix, row, column), pick(cell) and remember(m, row, column).
export function drawEquation(equation, colours, small, tools) {
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
    tools.say(selected ? tools.describe(equation[result], ...selected) : "");
  };
  tables.forEach((table, m) => {
    listen(table, {
      rest,
      point: (row, column) => {
        if (m === result) outline(row, column);
        tools.say(tools.describe(equation[m], row, column));
      },
      remember: (row, column) => tools.remember(m, row, column),
      pick: (row, column) => {
        equation[m].selected = [row, column];
        tools.pick(equation[m].cells[row][column]);
      },
    });
    box.append(drawOperand(equation[m], table));
  });
  rest();
  const select = (places) => {
    const isNew = places.some((place, m) => String(place) !== String(equation[m].selected));
    places.forEach((place, m) => { equation[m].selected = place; });
    if (!box.closest(".picture").matches(":hover, :focus-within")) rest();
    else if (isNew && places[result]) outline(...places[result]); // else what is pointed at stays outlined
  };
  const find = (cells) => select(equation.map((matrix) => placeOf(matrix, cells) ?? matrix.selected));
  const isPlayable = !small && equation.slice(0, -1).some((matrix) => matrix.reads);
  const player = isPlayable ? makePlayer(equation, tables, { ...tools, outline, rest }) : null;
  const whole = element("div");
  whole.append(box, ...(player ? [player.controls] : []));
  return { element: whole, box, tables, select, find, player };
}

// Where one of the cells lies in a matrix, if one does.
export function placeOf(matrix, cells) {
  const row = matrix.cells.findIndex((line) => line.some((cell) => cells.includes(cell)));
  return row < 0 ? null : [row, matrix.cells[row].findIndex((cell) => cells.includes(cell))];
}

function drawOperand({ sign, after }, table) {
  const operand = element("div", "operand"); // a sign goes to the next line with its matrix
  if (sign) operand.append(element("span", "sign", sign));
  operand.append(table.figure);
  if (after) operand.append(element("span", "sign", after));
  return operand;
}

function listen(table, { rest, point, remember, pick }) {
  table.grid.onpointerover = (event) => on(event, point);
  table.grid.onpointerleave = rest;
  table.grid.onclick = (event) => on(event, pick);
  table.grid.onkeydown = (event) => moveOrPick(event, table, pick);
  table.grid.addEventListener("focusin", (event) => {
    on(event, remember);
    on(event, point);
  });
  table.grid.addEventListener("focusout", rest);
}

function on(event, act) {
  const place = placeIn(event);
  if (place) act(...place);
}

function placeIn(event) {
  const cell = event.target.closest("[data-row]");
  return cell && [Number(cell.dataset.row), Number(cell.dataset.column)];
}

// Arrow keys move inside the grid and must not reach the page, where they turn to another step.
function moveOrPick(event, table, pick) {
  const from = placeIn(event);
  if (!from) return;
  const to = destination(event.key, event.ctrlKey, from, [table.cells.length - 1, table.cells[0].length - 1]);
  if (!to && !picks(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  if (!to) {
    pick(...from);
    return;
  }
  const next = table.cells[to[0]][to[1]];
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
