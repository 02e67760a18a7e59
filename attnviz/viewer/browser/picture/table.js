// Cells as a table: each is an element of its own, with its number as text.
import { element } from "../elements/element.js";
import { faceAt } from "./face.js";
import { makeHeadings } from "./headings.js";

export function makeTable([rows, columns]) {
  const grid = element("table", "cells");
  const head = element("thead"),
    body = element("tbody"),
    headings = makeHeadings([rows, columns]);
  const cells = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => makeCell(row, column)),
  );
  grid.style.setProperty("--columns", columns);
  for (const group of [head, body]) group.setAttribute("role", "rowgroup");
  head.append(headings.line);
  body.append(
    ...cells.map((line, place) => {
      const row = element("tr");
      row.setAttribute("role", "row"); // which it isn't by itself, as it is laid out as none
      row.append(headings.rows[place], ...line);
      return row;
    }),
  );
  grid.append(head, body);
  const drawn = new Map(); // cell -> its face
  let reached = null,
    held = null,
    describe = _place => "";
  const setTabStop = cell => {
    if (reached) reached.tabIndex = -1;
    reached = cell;
    if (describe(placeOf(cell))) cell.tabIndex = 0;
  };
  const say = () => held?.setAttribute("aria-label", describe(placeOf(held))); // all of itself, while it has the keyboard
  grid.addEventListener("focusin", ({ target }) => {
    setTabStop(target);
    held = target;
    say();
  });
  grid.addEventListener("focusout", () => {
    held.removeAttribute("aria-label");
    held = null;
  });
  return {
    element: grid,
    update(slot, paint, described) {
      describe = described;
      headings.write(slot);
      cells.forEach((line, row) => {
        line.forEach((cell, column) => {
          drawCell(cell, faceAt(slot, paint, row, column), `${slot.name}[${slot.index(row, column)}]`, drawn);
        });
      });
      if (reached) setTabStop(reached);
      say();
    },
    select: ([row, column]) => setTabStop(cells[row][column]),
    focus([row, column]) {
      const isOpen = Boolean(describe([row, column]));
      if (isOpen) cells[row][column].focus();
      return isOpen;
    },
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

// Only what is new is written: most updates leave most cells as they are, and others the kinds of most.
function drawCell(cell, { kind, text, colour = "", ink = "", marked = false, apart = false }, place, drawn) {
  const name = `${kind}${marked ? " marked" : ""}${apart ? " apart" : ""}`,
    before = drawn.get(cell);
  if (name !== before?.name) cell.className = name;
  if (place !== before?.place) cell.dataset.place = place;
  if (text !== before?.text) cell.firstChild.data = text;
  if (colour !== before?.colour) cell.style.backgroundColor = colour;
  if (ink !== before?.ink) cell.style.color = ink;
  drawn.set(cell, { name, place, text, colour, ink });
}
