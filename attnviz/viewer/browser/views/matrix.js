// One matrix: its cells on a canvas, frames around cells, and pointing, selecting and moving in it.
import { short } from "../model/numeral.js";
import { css, mixed } from "../dom/colour.js";
import { h, listen, memoLast, write } from "../dom/element.js";
import { bandOf, faceAt, isHidden } from "./slice.js";
import { drawBands, makeLabels, makeTable, spoken, writeCaption } from "./table.js";

// `positions` as rectangles {row, column, rows, columns}: one, if they fill it, else one for each.
export function rectangles(positions) {
  if (!positions.length) return [];
  const [rows, columns] = [0, 1].map(axis => positions.map(position => position[axis]));
  const [top, left] = [Math.min(...rows), Math.min(...columns)];
  const whole = { row: top, column: left, rows: Math.max(...rows) - top + 1, columns: Math.max(...columns) - left + 1 };
  const distinct = new Set(positions.map(String)).size;
  if (distinct === whole.rows * whole.columns) return [whole];
  return positions.map(([row, column]) => ({ row, column, rows: 1, columns: 1 }));
}

const drawFrames = (frames, [width, height]) =>
  frames.map(({ row, column, rows, columns, kind }) =>
    h("div", { class: `frame ${kind}`, style: pixels(column * width, row * height, columns * width, rows * height) }),
  );

const pixels = (left, top, width, height) => ({
  left: `${left}px`,
  top: `${top}px`,
  width: `${width}px`,
  height: `${height}px`,
});

// Many cells, on a canvas. The only element is the one that has the keyboard.
function makeCanvas([rows, columns]) {
  let cell = makeCell();
  const canvas = h("canvas"),
    line = h("div", { role: "row" }, cell),
    grid = h("div", { class: "cells drawn", "aria-rowcount": rows, "aria-colcount": columns }, canvas, line);
  let size = [1, 1],
    describe = _position => "",
    current = [0, 0],
    isMoving = false;
  const moveTo = position => {
    const [row, column] = position;
    current = position;
    Object.assign(cell.dataset, { row, column });
    line.setAttribute("aria-rowindex", row + 1);
    cell.setAttribute("aria-colindex", column + 1);
    cell.setAttribute("aria-label", describe(position));
    cell.tabIndex = describe(position) ? 0 : -1;
    Object.assign(cell.style, { left: `${column * size[0]}px`, top: `${row * size[1]}px` });
  };
  const focus = position => {
    if (!describe(position)) return false;
    const before = cell; // a new element, as a screen reader announces one that has the keyboard only once
    cell = makeCell();
    line.append(cell);
    moveTo(position);
    isMoving = true;
    cell.focus();
    isMoving = false;
    before.remove();
    return true;
  };
  const positionIn = event => {
    if (event.target === cell && !(event instanceof PointerEvent)) return current;
    const { left, top } = canvas.getBoundingClientRect();
    return [inside((event.clientY - top) / size[1], rows), inside((event.clientX - left) / size[0], columns)];
  };
  grid.addEventListener("click", event => {
    if (event.target !== cell) focus(positionIn(event)); // as a click into a table's cell does
  });
  return {
    element: grid,
    update(slice, paint, describeCell, geometry) {
      describe = describeCell;
      size = geometry.cell;
      draw(canvas, slice, paint, geometry);
      moveTo(current);
    },
    select(position) {
      if (!isMoving && !cell.matches(":focus")) moveTo(position);
    },
    focus,
    size: () => [rows, columns],
    positionIn,
  };
}

const makeCell = () => h("div", { class: "here", role: "gridcell" });
const inside = (position, length) => Math.min(Math.max(Math.floor(position), 0), length - 1);

function draw(canvas, slice, paint, { cell: [width, height], font, written }) {
  const [rows, columns] = slice.size;
  const ratio = globalThis.devicePixelRatio;
  canvas.width = Math.round(columns * width * ratio);
  canvas.height = Math.round(rows * height * ratio);
  Object.assign(canvas.style, { width: `${columns * width}px`, height: `${rows * height}px` });
  const pen = canvas.getContext("2d");
  const gap = Math.min(width, height) >= 6 ? 1 : 0;
  const hatched = hatching(pen, paint.colours);
  pen.scale(ratio, ratio);
  pen.font = `${font}px ${paint.family}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const face = faceAt(slice, paint, row, column);
      const [x, y] = [column * width, row * height];
      pen.fillStyle =
        face.kind === "hidden" ? hatched : (face.colour ?? css(mixed(paint.colours.text, paint.colours.page, 0.05)));
      pen.fillRect(x, y, width - gap, height - gap);
      pen.fillStyle = face.ink ?? css(paint.colours.text);
      if (face.marked) drawMark(pen, x + width - gap, y, Math.min(width, height, 14) / 2);
      if (!written) continue;
      pen.fillText(face.text, x + width / 2, y + height / 2);
    }
  }
}

function drawMark(pen, right, top, size) {
  pen.beginPath();
  pen.moveTo(right - size, top);
  pen.lineTo(right, top);
  pen.lineTo(right, top + size);
  pen.fill();
}

// Stripes, in pixels of the screen: they look the same however small a cell is.
function hatching(pen, { text, page }) {
  const tile = h("canvas", { width: 6, height: 6 });
  const brush = tile.getContext("2d");
  brush.fillStyle = css(mixed(text, page, 0.1));
  brush.fillRect(0, 0, 6, 6);
  brush.strokeStyle = css(mixed(text, page, 0.36));
  brush.lineWidth = 1.5;
  for (const shift of [-6, 0, 6]) {
    brush.moveTo(shift, 6);
    brush.lineTo(shift + 6, 0);
  }
  brush.stroke();
  return pen.createPattern(tile, "repeat");
}

const LARGEST_TABLE = 16; // rows or columns; more are drawn on a canvas
const CLOSEST = 10; // pixels between lines that part heads

// `actions` are those of `listen`, each of a slice and a position.
export function makeMatrix(size, actions, isDrawn = Math.max(...size) > LARGEST_TABLE) {
  const [caption, bands, lines, sums, frames] = [
    h("figcaption"),
    ...["bands", "bands", "labels sums", "frames"].map(name => h("div", { class: name })),
  ];
  const [sign, after] = ["sign", "sign after"].map(name => h("span", { class: name })),
    labels = { rows: makeLabels("rows"), columns: makeLabels("columns") },
    cells = isDrawn ? makeCanvas(size) : makeTable(size),
    withLabels = [labels.columns.element, labels.rows.element, cells.element],
    figure = h("figure", { class: "matrix" }, caption, bands, withLabels, sums, lines, frames, sign, after);
  cells.element.setAttribute("role", "grid");
  let slice, geometry, drawn;
  const setGeometry = memoLast(([at, role]) => place(figure, size, role, at));
  const setFrames = memoLast(([marks, cell]) => frames.replaceChildren(...drawFrames(marks, cell)));
  listen(cells, Object.fromEntries(Object.entries(actions).map(([name, act]) => [name, (...at) => act(slice, ...at)])));
  return {
    element: figure,
    update(newSlice, newGeometry, paint) {
      slice = newSlice;
      geometry = newGeometry;
      const { cell, upright, all, every = [1, 1] } = geometry,
        [rowLabels, columnLabels] = [slice.rows, slice.columns].map(({ labels }, axis) =>
          geometry.labels[axis] ? labels : [],
        );
      figure.dataset.stage = slice.name;
      setGeometry([geometry, slice.stage.role]);
      writeCaption(caption, slice, paint.look);
      cells.element.setAttribute("aria-label", spoken(slice, paint.look));
      labels.rows.write(rowLabels, { upright: false, all: all[0], every: every[0] }, cell[1]);
      labels.columns.write(columnLabels, { upright, all: all[1], every: every[1] }, cell[0]);
      bands.replaceChildren(...drawBands(slice.columns, cell[0], paint.head));
      lines.replaceChildren(...drawLines(slice, cell));
      const face = {
        pass: paint.pass,
        shown: paint.look.pass,
        state: stateOf(slice, geometry, paint),
        apart: paint.isApart && paint.pass,
      };
      const isSame = drawn && Object.keys(face).every(name => face[name] === drawn[name]);
      if (!isSame || paint.look.reveal !== "all") {
        cells.update(slice, paint, ([row, column]) => describe(slice, paint, row, column), geometry);
        drawSums(sums, slice, paint, geometry);
      }
      drawn = face;
      write(sign, slice.spec.sign);
      write(after, slice.spec.after);
    },
    // The frames, the lit rows and columns, and the cell that Tab leads to.
    mark(marks, tabStop) {
      setFrames([marks, geometry.cell]);
      labels.rows.light(new Set(marks.filter(({ rows }) => rows === 1).map(({ row }) => row)));
      labels.columns.light(new Set(marks.filter(({ columns }) => columns === 1).map(({ column }) => column)));
      if (tabStop) cells.select(tabStop);
    },
  };
}

// What the cells' faces depend on besides the numbers: most moves in a pass leave most matrices as they are.
function stateOf({ index, spec, rows, columns }, { cell, font, written }, { look, limit, colours }) {
  const layout = [rows.labels, columns.labels, cell, font, written];
  return JSON.stringify([index(0, 0), spec, layout, look.reveal, look.kind, limit, colours]);
}

// A cell's name and number; "" until it is shown, and then no key leads to it.
function describe(slice, { pass, look }, row, column) {
  const index = slice.index(row, column);
  if (!look.shown(slice.name, index)) return "";
  const value = look.pass.number(slice.name, index),
    number = value === undefined ? "…" : Number.isFinite(value) ? String(value) : short(value);
  return `${look.nameOf(slice.name, index)} = ${number.replace(/^-(?=[\d.])/, "−")}${isHidden(slice, pass, index) ? ", hidden" : ""}`;
}

// The geometry as properties of the styles (picture.css).
function place(figure, [rows, columns], role, { x, y, captionWidth, cell, font, label, bands, labels, upright }) {
  const [width, height] = cell;
  figure.className = `matrix ${role}`;
  const sizes = {
    width,
    height,
    digits: font,
    label,
    room: captionWidth,
    bands,
    "row-label": labels[0],
    "column-label": labels[1],
  };
  for (const [name, size] of Object.entries(sizes)) figure.style.setProperty(`--${name}`, `${size}px`);
  Object.assign(figure.style, pixels(x, y, columns * width, rows * height));
  figure.classList.toggle("small", Math.min(width, height) < 6);
  figure.classList.toggle("upright", upright);
}

function drawLines({ size, rows, columns }, [width, height]) {
  const offsets = (axis, length, size) => {
    const count = bandOf(axis) * size > CLOSEST ? length / bandOf(axis) - 1 : 0;
    return Array.from({ length: count }, (_, nth) => (nth + 1) * bandOf(axis) * size - 1.5);
  };
  const line = style => h("div", { class: "line", style });
  return [
    ...offsets(columns, size[1], width).map(left =>
      line({ left: `${left}px`, top: "0", height: "100%", width: "2px" }),
    ),
    ...offsets(rows, size[0], height).map(top => line({ top: `${top}px`, left: "0", width: "100%", height: "2px" })),
  ];
}

function drawSums(box, { name, spec, size, stage, index }, { look }, { cell: [, height], all }) {
  box.hidden = !spec.sums || !all[0];
  if (box.hidden) return;
  const sums = Array.from({ length: size[0] }, (_, row) => {
    const wholeRow = Array.from({ length: stage.shape[spec.columns] }, (__, column) =>
      index(row, 0).with(spec.columns, column),
    ); // with the columns that are left out
    const isShown = wholeRow.every(each => look.shown(name, each)),
      sum = wholeRow.reduce((total, each) => total + (look.pass.number(name, each) ?? 0), 0);
    return h("span", { style: { top: `${row * height}px` } }, isShown ? short(sum) : "");
  });
  box.replaceChildren(h("span", { class: "of" }, "sum"), ...sums);
}
