// The pieces of an article, each drawn by its kind, tables and matrices among them.
import { element, button } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";

const MAX_LABEL_LETTERS = 3; // letters of a label that has room above its column; a longer one stands upright

// A matrix between the names of its rows and columns.
/** @param {import("../../generated/contract").NumberTable} matrix */
export function drawMatrix({ caption, rows, columns, values, texts, limit, colours, marked }) {
  const table = element("table", "matrix"),
    body = element("tbody"),
    isFirst = [rows, columns].map(startsOf);
  table.append(element("caption", "", caption), headOf(rows, columns), body);
  body.append(
    ...values.map((line, row) => {
      const made = lineOf(namesBeside(rows, row));
      made.append(
        ...line.map((value, column) => {
          const cell = element("td", isFirst[1].has(column) ? "first" : "", texts[row][column]);
          if (value)
            cell.style.backgroundColor = `rgb(${colours[value < 0 ? 0 : 1].join(" ")} / ${Math.abs(value) / limit})`;
          if (marked?.[0] === row && marked[1] === column) cell.classList.add("marked");
          cell.title = `${nameAt(rows, row)}, ${nameAt(columns, column)}: ${value}`;
          return cell;
        }),
      );
      if (isFirst[0].has(row)) made.className = "first";
      return made;
    }),
  );
  return scrolled(table, caption);
}

// Words and numbers in rows below a head.
function drawTable({ head, rows }) {
  const table = element("table", "plain"),
    top = element("thead"),
    body = element("tbody");
  top.append(lineOf(head.map(text => heading("col", text))));
  body.append(...rows.map(texts => lineOf(texts.map(text => element("td", "", text)))));
  table.append(top, body);
  return table;
}

function lineOf(cells) {
  const line = element("tr");
  line.append(...cells);
  return line;
}

function heading(scope, text, spans = {}) {
  const cell = Object.assign(element("th"), { scope, ...spans });
  cell.append(element("span", "", text));
  return cell;
}

// The names of the axis, of its blocks and of the columns, a line each.
function headOf(rows, columns) {
  const head = element("thead"),
    before = namesBeside(rows, 0).length,
    above = [];
  if (columns.title) above.push([heading("colgroup", columns.title, { colSpan: columns.labels.length })]);
  if (columns.blocks.length)
    above.push(columns.blocks.map(({ name, start, stop }) => heading("colgroup", name, { colSpan: stop - start })));
  above.push(
    columns.labels.map(label =>
      Object.assign(heading("col", label), { className: label.length > MAX_LABEL_LETTERS ? "long" : "" }),
    ),
  );
  head.append(
    ...above.map(cells => {
      const line = lineOf(cells);
      line.prepend(Object.assign(element("td"), { colSpan: before }));
      return line;
    }),
  );
  return head;
}

// The names that begin in a row: what the rows count, their block, and the row's own.
function namesBeside({ title, blocks, labels }, row) {
  const names = [];
  if (title && row === 0) names.push(heading("rowgroup", title, { rowSpan: labels.length }));
  const block = blocks.find(({ start }) => start === row);
  if (block) names.push(heading("rowgroup", block.name, { rowSpan: block.stop - block.start }));
  return [...names, heading("row", labels[row])];
}

function startsOf({ blocks }) {
  return new Set(blocks.slice(1).map(({ start }) => start));
}

function nameAt({ blocks, labels }, place) {
  const block = blocks.find(({ start, stop }) => start <= place && place < stop);
  return block ? `${block.name} ${labels[place]}` : labels[place];
}

// A table wider than the page scrolls, by the keyboard too.
function scrolled(table, name) {
  const box = element("div", "scrolled");
  box.append(table);
  new ResizeObserver(() => {
    const isWide = box.scrollWidth > box.clientWidth;
    box.tabIndex = isWide ? 0 : -1;
    box.role = isWide ? "group" : null;
    box.ariaLabel = isWide ? name : null;
  }).observe(box);
  return box;
}

// actions: {choose(event, value), open(door)}.
export function makePiece(piece, actions) {
  return piece.kind === "choice" ? makeChoice(piece, actions) : { element: KINDS[piece.kind](piece, actions) };
}

const KINDS = {
  heading: ({ level, text }) => element(`h${level}`, "", text),
  text: ({ runs }) => filled("p", "", drawRuns(runs)),
  door: drawDoor,
  box: ({ pieces }, actions) => filled("div", "box", drawAll(pieces, actions)),
  beside: ({ columns }, actions) =>
    filled(
      "div",
      "beside",
      columns.map(each => filled("div", `of-${each.at(-1).kind}`, drawAll(each, actions))),
    ),
  matrix: drawMatrix,
  table: drawTable,
};

function filled(tag, className, children) {
  const made = element(tag, className);
  made.append(...children);
  return made;
}

function drawAll(pieces, actions) {
  return pieces.map(piece => KINDS[piece.kind](piece, actions));
}

// A button that leads to another page, with what is said of it.
/** @param {import("../../generated/contract").DoorButton} door @param {{open(door: string): void}} acts */
function drawDoor({ door, label, runs }, { open }) {
  return filled("div", "door", [
    button(label, () => open(door)),
    ...(runs.length ? [filled("p", "", drawRuns(runs))] : []),
  ]);
}

/** @param {import("../../generated/contract").Alternatives} choice @param {{choose(event: string, value: string): void}} acts */
function makeChoice({ event, label, look, options }, { choose }) {
  const inputs = options.map(({ value }) => {
    const input = element("input");
    Object.assign(input, { type: "radio", name: event, value });
    input.onchange = () => choose(event, value);
    return input;
  });
  const named = options.map(({ runs }, i) => filled("label", "", [inputs[i], filled("span", "", drawRuns(runs))]));
  return {
    element: filled("fieldset", `choice ${look}`, [element("legend", "", label), ...named]),
    update: value => {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
