// The parts of a matrix around and behind its cells: headings, caption, and the table that screen readers and the
// keyboard use.
import { plain } from "../model/latex.js";
import { element } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { bandOf, faceAt, shapeOf } from "./slot.js";

export function titleOf({ name, stage }, look) {
  return look.titleOf(name) || stage.title;
}

// All of it, as one hears it.
export function spoken(slot, look) {
  const { lengths, counted } = shapeOf(slot);
  return `${sideOf(slot)}${titleOf(slot, look)} ${plain(slot.symbol)}, ${lengths}: ${counted}`;
}

function sideOf({ side }) {
  return side ? `${side}: ` : "";
}

// A caption too long to stand beside the symbol is cut at its end (picture.css).
export function writeCaption(caption, slot, look) {
  const { lengths, counted, some } = shapeOf(slot),
    text = spoken(slot, look) + (some && `; shown: ${some}`);
  if (caption.title === text) return;
  caption.title = text;
  const symbol = element("span", "symbol");
  symbol.append(typeset(slot.symbol));
  const name = element("span", "name");
  name.append(
    ...(slot.side ? [element("strong", `side ${slot.side}`, slot.side), " "] : []),
    symbol,
    element("span", "title", titleOf(slot, look)),
  );
  caption.replaceChildren(
    name,
    ...(some
      ? [element("span", "some", some)]
      : [element("span", "shape", lengths), element("span", "shape", counted)]),
  );
}

// `line` is the row of all columns' headings, `rows` are the headings of rows.
function makeHeadings([rows, columns]) {
  const heading = scope => {
    const made = element("th");
    made.setAttribute("role", scope === "col" ? "columnheader" : "rowheader");
    return made;
  };
  const line = element("tr"),
    corner = heading("col");
  const across = Array.from({ length: columns }, () => heading("col")),
    down = Array.from({ length: rows }, () => heading("row"));
  line.setAttribute("role", "row");
  line.append(corner, ...across);
  let shown = "";
  return {
    line,
    rows: down,
    write(slot) {
      const next = [slot.stage.title, ...slot.rows.labels, ...slot.columns.labels].join("\n");
      if (next === shown) return;
      shown = next;
      corner.textContent = shapeOf(slot).counted || slot.stage.title;
      across.forEach((each, position) => {
        each.textContent = slot.columns.labels[position] || slot.stage.title;
      });
      down.forEach((each, position) => {
        each.textContent = slot.rows.labels[position] || slot.stage.title;
      });
    },
  };
}

// One strip of labels, along "rows" or "columns".
export function makeLabels(along) {
  const strip = element("div", `labels of-${along}`);
  strip.setAttribute("aria-hidden", "true"); // a cell says where it is
  const position = whenOther(([names, size]) => {
    strip.replaceChildren(
      ...names.map((label, n) => {
        const line = element("span", "", label);
        line.style[along === "rows" ? "top" : "left"] = `${n * size}px`;
        return line;
      }),
    );
  });
  const write = (names, { upright, all }, size) => {
    strip.classList.toggle("upright", upright);
    strip.classList.toggle("only-lit", !all);
    position([names, size]);
  };
  const light = positions => {
    [...strip.children].forEach((line, position) => {
      line.classList.toggle("lit", positions.has(position));
    });
  };
  return { element: strip, write, light };
}

// The heads' names over their bands of columns.
export function drawBands(axis, width, head) {
  const band = bandOf(axis);
  const count = band ? axis.labels.length / band : 0;
  return Array.from({ length: count }, (_, position) => {
    const name = element(
      "span",
      position === head ? "band lit" : "band",
      width * band > 50 ? `head ${position + 1}` : width * band > 14 ? String(position + 1) : "",
    );
    Object.assign(name.style, { left: `${position * band * width}px`, width: `${band * width - 3}px` });
    return name;
  });
}

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
    ...cells.map((line, position) => {
      const row = element("tr");
      row.setAttribute("role", "row"); // which it isn't by itself, as it is laid out as none
      row.append(headings.rows[position], ...line);
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
