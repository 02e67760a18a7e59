// The parts of a matrix around and behind its cells: headings, caption, and the table that screen readers and the keyboard use.
import { plain } from "../model/latex.js";
import { h, memoLast } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { bandOf, faceAt, shapeOf } from "./slice.js";

export const titleOf = ({ name, stage }, look) => look.titleOf(name) || stage.title;

// The name of a matrix for screen readers.
export function spoken(slice, look) {
  const { lengths, counted } = shapeOf(slice);
  return `${slice.side ? `${slice.side}: ` : ""}${titleOf(slice, look)} ${plain(slice.symbol)}, ${lengths}: ${counted}`;
}

// A caption too long to stand beside the symbol is cut at its end (picture.css).
export function writeCaption(caption, slice, look) {
  const { lengths, counted, some } = shapeOf(slice),
    { side } = slice,
    text = spoken(slice, look) + (some && `; shown: ${some}`);
  if (caption.title === text) return;
  caption.title = text;
  const symbol = h("span", { class: "symbol" }, typeset(slice.symbol)),
    title = h("span", { class: "title" }, titleOf(slice, look)),
    whose = side ? [h("strong", { class: `side ${side}` }, side), " "] : [],
    shape = some
      ? [h("span", { class: "some" }, some)]
      : [lengths, counted].map(each => h("span", { class: "shape" }, each));
  caption.replaceChildren(h("span", { class: "name" }, whose, symbol, title), ...shape);
}

// `line` is the row of all columns' headings, `rows` are the headings of rows.
function makeHeadings([rows, columns]) {
  const headings = (length, role) => Array.from({ length }, () => h("th", { role })),
    [corner, ...across] = headings(columns + 1, "columnheader"),
    down = headings(rows, "rowheader"),
    line = h("tr", { role: "row" }, corner, across);
  let shown = "";
  return {
    line,
    rows: down,
    write(slice) {
      const { title } = slice.stage,
        next = [title, ...slice.rows.labels, ...slice.columns.labels].join("\n");
      if (next === shown) return;
      shown = next;
      corner.textContent = shapeOf(slice).counted || title;
      for (const [n, each] of across.entries()) each.textContent = slice.columns.labels[n] || title;
      for (const [n, each] of down.entries()) each.textContent = slice.rows.labels[n] || title;
    },
  };
}

// One strip of labels, along "rows" or "columns".
export function makeLabels(along) {
  const strip = h("div", { class: `labels of-${along}`, "aria-hidden": "true" }); // each cell's name has its row and column
  const draw = memoLast(([names, size]) => {
    const side = along === "rows" ? "top" : "left";
    strip.replaceChildren(...names.map((label, n) => h("span", { style: { [side]: `${n * size}px` } }, label)));
  });
  return {
    element: strip,
    // Of labels that have no space for all, every so many stand there, or none, beside those that are lit.
    write(names, { upright, all, every = 1 }, size) {
      strip.classList.toggle("upright", upright);
      strip.classList.toggle("only-lit", !all);
      draw([names, size]);
      for (const [n, label] of [...strip.children].entries()) label.classList.toggle("between", n % every > 0);
      strip.classList.toggle("thinned", every > 1);
    },
    light(positions) {
      for (const [n, label] of [...strip.children].entries()) label.classList.toggle("lit", positions.has(n));
    },
  };
}

// The heads' names over their bands of columns.
export function drawBands(axis, width, head) {
  const band = bandOf(axis),
    space = band * width,
    count = band ? axis.labels.length / band : 0;
  return Array.from({ length: count }, (_, nth) => {
    const name = space > 50 ? `head ${nth + 1}` : space > 14 ? String(nth + 1) : "",
      style = { left: `${nth * space}px`, width: `${space - 3}px` };
    return h("span", { class: nth === head ? "band lit" : "band", style }, name);
  });
}

export function makeTable([rows, columns]) {
  const headings = makeHeadings([rows, columns]),
    cells = Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (__, column) => makeCell(row, column)),
    );
  // Its parts have roles, because its style is not that of a table, which would hide them from screen readers.
  const lines = cells.map((line, row) => h("tr", { role: "row" }, headings.rows[row], line)),
    head = h("thead", { role: "rowgroup" }, headings.line),
    grid = h("table", { class: "cells" }, head, h("tbody", { role: "rowgroup" }, lines));
  grid.style.setProperty("--columns", columns);
  const drawn = new Map(); // cell -> its face
  let tabStop, focused;
  let describe = _position => "";
  const setTabStop = cell => {
    if (tabStop) tabStop.tabIndex = -1;
    tabStop = cell;
    if (describe(positionOf(cell))) cell.tabIndex = 0;
  };
  const label = () => focused?.setAttribute("aria-label", describe(positionOf(focused))); // only while it has the keyboard
  grid.addEventListener("focusin", ({ target }) => {
    setTabStop(target);
    focused = target;
    label();
  });
  grid.addEventListener("focusout", () => {
    focused.removeAttribute("aria-label");
    focused = null;
  });
  return {
    element: grid,
    update(slice, paint, describeCell) {
      describe = describeCell;
      headings.write(slice);
      cells.forEach((line, row) => {
        line.forEach((cell, column) => {
          drawCell(cell, faceAt(slice, paint, row, column), `${slice.name}[${slice.index(row, column)}]`, drawn);
        });
      });
      if (tabStop) setTabStop(tabStop);
      label();
    },
    select: ([row, column]) => setTabStop(cells[row][column]),
    focus([row, column]) {
      const isOpen = Boolean(describe([row, column]));
      if (isOpen) cells[row][column].focus();
      return isOpen;
    },
    size: () => [rows, columns],
    positionIn: ({ target }) => (target.dataset.row ? positionOf(target) : null),
  };
}

function makeCell(row, column) {
  return h("td", { role: "gridcell", tabIndex: -1, "data-row": row, "data-column": column }, ""); // its text node stays
}

const positionOf = ({ dataset }) => [Number(dataset.row), Number(dataset.column)];

// Writes only what is new: most updates leave most cells as they are, and others the kinds of most.
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
