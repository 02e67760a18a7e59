// The pieces of an article, each drawn by its kind, tables and matrices among them.
import { background, css, PALETTES, textOn } from "../dom/colour.js";
import { button, h, table } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";

const MAX_LABEL_LETTERS = 3; // letters of a label that has space above its column; a longer one stands upright

/** A matrix between the names of its rows and columns. @param {import("../../generated/contract").NumberTable} matrix */
export function drawMatrix({ caption, rows, columns, values, texts, limit, scale, marked }) {
  const [rowStarts, columnStarts] = [rows, columns].map(({ blocks }) => blocks.slice(1).map(({ start }) => start));
  const lines = values.map((line, row) => {
    const cells = line.map((value, column) => {
      const isMarked = marked?.[0] === row && marked[1] === column,
        style = value ? paintOf(value, { scale, limit }) : {};
      return h(
        "td",
        {
          class: `${columnStarts.includes(column) ? "first" : ""} ${isMarked ? "marked" : ""}`,
          title: `${nameAt(rows, row)}, ${nameAt(columns, column)}: ${value}`,
          style,
        },
        texts[row][column],
      );
    });
    return h("tr", { class: rowStarts.includes(row) ? "first" : "" }, namesBeside(rows, row), cells);
  });
  return scrolled(table({ class: "matrix" }, { caption, head: headOf(rows, columns), rows: lines }), caption);
}

// A cell's colours in both themes: the page changes between them without a script.
function paintOf(value, scale) {
  const fills = [PALETTES.light, PALETTES.dark].map(palette => background(value, scale, palette)),
    inBoth = colours => `light-dark(${colours.map(css)})`;
  return { backgroundColor: inBoth(fills), color: inBoth(fills.map(textOn)) };
}

function drawTable({ head, rows }) {
  return table({ class: "plain" }, { head: [head.map(text => heading("col", text))], rows });
}

const heading = (scope, text, props = {}) => h("th", { scope, ...props }, h("span", {}, text));

// The names of the axis, of its blocks and of the columns, a line each.
function headOf(rows, { title, blocks, labels }) {
  const colSpan = namesBeside(rows, 0).length,
    isLong = label => label.length > MAX_LABEL_LETTERS;
  const lines = [
    title ? [heading("colgroup", title, { colSpan: labels.length })] : [],
    blocks.map(({ name, start, stop }) => heading("colgroup", name, { colSpan: stop - start })),
    labels.map(label => heading("col", label, { class: isLong(label) ? "long" : "" })),
  ].filter(({ length }) => length);
  return lines.map(cells => [h("td", { colSpan }), ...cells]);
}

// The names that begin in a row: what the rows count, their block, and the row's own.
function namesBeside({ title, blocks, labels }, row) {
  const block = blocks.find(({ start }) => start === row);
  return [
    title && row === 0 && heading("rowgroup", title, { rowSpan: labels.length }),
    block && heading("rowgroup", block.name, { rowSpan: block.stop - block.start }),
    heading("row", labels[row]),
  ].filter(Boolean);
}

function nameAt({ blocks, labels }, position) {
  const block = blocks.find(({ start, stop }) => start <= position && position < stop);
  return block ? `${block.name} ${labels[position]}` : labels[position];
}

// A table wider than the page scrolls, by the keyboard too.
function scrolled(drawn, name) {
  const box = h("div", { class: "scrolled" }, drawn);
  new ResizeObserver(() => {
    const isWide = box.scrollWidth > box.clientWidth;
    Object.assign(box, { tabIndex: isWide ? 0 : -1, role: isWide ? "group" : null, ariaLabel: isWide ? name : null });
  }).observe(box);
  return box;
}

// actions: {choose(event, value), open(door)}.
export const makePiece = (piece, actions) =>
  piece.kind === "choice" ? makeChoice(piece, actions) : { element: KINDS[piece.kind](piece, actions) };

const KINDS = {
  heading: ({ level, text }) => h(`h${level}`, {}, text),
  text: ({ runs }) => h("p", {}, drawRuns(runs)),
  door: drawDoor,
  box: ({ pieces }, actions) => h("div", { class: "box" }, drawAll(pieces, actions)),
  beside: ({ columns }, actions) =>
    h(
      "div",
      { class: "beside" },
      ...columns.map(pieces => h("div", { class: `of-${pieces.at(-1).kind}` }, drawAll(pieces, actions))),
    ),
  matrix: drawMatrix,
  table: drawTable,
};

const drawAll = (pieces, actions) => pieces.map(piece => KINDS[piece.kind](piece, actions));

/** A button that opens another page, with a sentence about it. @param {import("../../generated/contract").DoorButton} door */
function drawDoor({ door, label, runs }, { open }) {
  const link = button(label, () => open(door));
  return h("div", { class: "door" }, link, runs.length > 0 && h("p", {}, drawRuns(runs)));
}

/** @param {import("../../generated/contract").Alternatives} choice */
function makeChoice({ event, label, look, options }, { choose }) {
  const inputs = options.map(({ value }) =>
    h("input", { type: "radio", name: event, value, onchange: () => choose(event, value) }),
  );
  const labels = options.map(({ runs }, i) => h("label", {}, inputs[i], h("span", {}, drawRuns(runs))));
  return {
    element: h("fieldset", { class: `choice ${look}` }, h("legend", {}, label), labels),
    update: value => {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
