// Cells as a table: each is an element of its own, with its number as text.
import { element } from "./element.js";
import { faceAt } from "./face.js";
import { makeHeadings } from "./headings.js";

export function makeTable([rows, columns]) {
  const grid = element("table", "cells");
  const head = element("thead"), body = element("tbody"), headings = makeHeadings([rows, columns]);
  const cells = Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (__, column) => makeCell(row, column)));
  head.append(headings.line);
  body.append(...cells.map((line, place) => {
    const row = element("tr");
    row.append(headings.rows[place], ...line);
    return row;
  }));
  grid.append(head, body);
  const drawn = new Map();
  let reached = null, describe = () => "";
  const reach = (cell) => {
    if (cell === reached) return;
    if (reached) reached.tabIndex = -1;
    reached = cell;
    cell.tabIndex = 0;
  };
  grid.addEventListener("focusin", ({ target }) => {
    reach(target);
    target.setAttribute("aria-label", describe(placeOf(target)));
  });
  return {
    element: grid,
    update(sheet, paint, described) {
      describe = described;
      headings.write(sheet);
      cells.forEach((line, row) => {
        line.forEach((cell, column) => { drawCell(cell, faceAt(sheet, paint, row, column), drawn); });
      });
    },
    select: ([row, column]) => reach(cells[row][column]),
    focus: ([row, column]) => cells[row][column].focus(),
    size: () => [rows, columns],
    placeIn: ({ target }) => (target.dataset.row ? placeOf(target) : null),
  };
}

function makeCell(row, column) {
  const cell = element("td");
  cell.setAttribute("role", "gridcell");
  Object.assign(cell.dataset, { row, column });
  cell.tabIndex = -1;
  cell.append(""); // its text, which is written anew and never taken away
  return cell;
}

function placeOf({ dataset }) {
  return [Number(dataset.row), Number(dataset.column)];
}

// Only what is new is written: most updates leave most cells as they are.
function drawCell(cell, { kind, text, colour = "", ink = "", marked = false }, drawn) {
  const face = `${kind} ${text} ${colour} ${marked}`;
  if (drawn.get(cell) === face) return;
  drawn.set(cell, face);
  cell.className = marked ? `${kind} marked` : kind;
  cell.firstChild.data = text;
  cell.style.backgroundColor = colour;
  cell.style.color = ink;
}
