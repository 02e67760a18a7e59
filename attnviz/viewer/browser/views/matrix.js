// One matrix: its cells on a canvas, frames around cells, and pointing, selecting and moving in it.
import { short } from "../model/numeral.js";
import { css, mixed } from "../dom/colour.js";
import { element, h, write } from "../dom/element.js";
import { listen } from "../dom/grid.js";
import { whenOther } from "../dom/timing.js";
import { bandOf, faceAt, isHidden } from "./slot.js";
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

function drawFrames(box, frames, [width, height]) {
  box.replaceChildren(
    ...frames.map(({ row, column, rows, columns, kind }) => {
      const frame = element("div", `frame ${kind}`);
      Object.assign(frame.style, {
        left: `${column * width}px`,
        top: `${row * height}px`,
        width: `${columns * width}px`,
        height: `${rows * height}px`,
      });
      return frame;
    }),
  );
}

function makeCanvas([rows, columns]) {
  const grid = element("div", "cells drawn");
  const canvas = element("canvas");
  const row = element("div");
  let cell = makeCell();
  row.setAttribute("role", "row");
  row.append(cell);
  grid.append(canvas, row);
  grid.setAttribute("aria-rowcount", rows);
  grid.setAttribute("aria-colcount", columns);
  let size = [1, 1],
    describe = _place => "",
    here = [0, 0],
    isMoving = false;
  const stand = position => {
    here = position;
    Object.assign(cell.dataset, { row: position[0], column: position[1] });
    row.setAttribute("aria-rowindex", position[0] + 1);
    cell.setAttribute("aria-colindex", position[1] + 1);
    cell.setAttribute("aria-label", describe(position));
    cell.tabIndex = describe(position) ? 0 : -1;
    Object.assign(cell.style, { left: `${position[1] * size[0]}px`, top: `${position[0] * size[1]}px` });
  };
  const focus = position => {
    if (!describe(position)) return false;
    const before = cell; // another element, as what has the keyboard is heard but once
    cell = makeCell();
    row.append(cell);
    stand(position);
    isMoving = true;
    cell.focus();
    isMoving = false;
    before.remove();
    return true;
  };
  const placeIn = event => {
    if (event.target === cell && !(event instanceof PointerEvent)) return here;
    const { left, top } = canvas.getBoundingClientRect();
    return [inside((event.clientY - top) / size[1], rows), inside((event.clientX - left) / size[0], columns)];
  };
  grid.addEventListener("click", event => {
    if (event.target !== cell) focus(placeIn(event)); // as a click into a table's cell does
  });
  return {
    element: grid,
    update(slot, paint, described, geometry) {
      describe = described;
      size = geometry.cell;
      draw(canvas, slot, paint, geometry);
      stand(here);
    },
    select(position) {
      if (!isMoving && !cell.matches(":focus")) stand(position);
    },
    focus,
    size: () => [rows, columns],
    placeIn,
  };
}

function makeCell() {
  const cell = element("div", "here");
  cell.setAttribute("role", "gridcell");
  return cell;
}

function inside(position, length) {
  return Math.min(Math.max(Math.floor(position), 0), length - 1);
}

function draw(canvas, slot, paint, { cell: [width, height], font, written }) {
  const [rows, columns] = slot.size;
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
      const face = faceAt(slot, paint, row, column);
      const [x, y] = [column * width, row * height];
      pen.fillStyle =
        face.kind === "hidden" ? hatched : (face.colour ?? css(mixed(paint.colours.text, paint.colours.page, 0.05)));
      pen.fillRect(x, y, width - gap, height - gap);
      if (face.marked) drawMark(pen, x + width - gap, y, Math.min(width, height, 14) / 2, paint.colours);
      if (!written) continue;
      pen.fillStyle = face.ink ?? css(paint.colours.text);
      pen.fillText(face.text, x + width / 2, y + height / 2);
    }
  }
}

function drawMark(pen, right, top, size, { text }) {
  pen.fillStyle = css(text);
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

const LARGEST_TABLE = 16;
const CLOSEST = 10; // pixels between lines that part heads

// `acts` are those of `listen`, each of a slot and a position.
export function makeMatrix(size, acts) {
  const figure = element("figure", "matrix");
  const caption = element("figcaption"),
    frames = element("div", "frames"),
    bands = element("div", "bands");
  const lines = element("div", "bands"),
    sums = element("div", "labels sums");
  const sign = element("span", "sign"),
    after = element("span", "sign after");
  const labels = { rows: makeLabels("rows"), columns: makeLabels("columns") };
  const cells = Math.max(...size) > LARGEST_TABLE ? makeCanvas(size) : makeTable(size);
  cells.element.setAttribute("role", "grid");
  figure.append(
    caption,
    bands,
    labels.columns.element,
    labels.rows.element,
    cells.element,
    sums,
    lines,
    frames,
    sign,
    after,
  );
  let slot = null,
    geometry = null,
    drawn = null;
  const stand = whenOther(([at, role]) => place(figure, size, role, at));
  const frame = whenOther(([marks, cell]) => drawFrames(frames, marks, cell));
  listen(cells, Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, (...of) => act(slot, ...of)])));

  return {
    element: figure,
    update(newSlot, newGeometry, paint) {
      slot = newSlot;
      figure.dataset.stage = slot.name;
      geometry = newGeometry;
      stand([geometry, slot.stage.role]);
      writeCaption(caption, slot, paint.look);
      cells.element.setAttribute("aria-label", spoken(slot, paint.look));
      labels.rows.write(
        geometry.labels[0] ? slot.rows.labels : [],
        { upright: false, all: geometry.all[0] },
        geometry.cell[1],
      );
      labels.columns.write(
        geometry.labels[1] ? slot.columns.labels : [],
        { upright: geometry.upright, all: geometry.all[1] },
        geometry.cell[0],
      );
      bands.replaceChildren(...drawBands(slot.columns, geometry.cell[0], paint.head));
      lines.replaceChildren(...drawLines(slot, geometry.cell));
      const face = {
        pass: paint.pass,
        shown: paint.look.pass,
        state: stateOf(slot, geometry, paint),
        apart: paint.isApart && paint.pass,
      };
      if (!isSame(face, drawn) || paint.look.reveal !== "all") {
        cells.update(slot, paint, ([row, column]) => describe(slot, paint, row, column), geometry);
        writeSums(sums, slot, paint, geometry);
      }
      drawn = face;
      write(sign, slot.given.sign);
      write(after, slot.given.after);
    },
    // The cell that Tab leads to, the frames, and the lit rows and columns.
    mark(marks, reached) {
      frame([marks, geometry.cell]);
      for (const [axis, [from, length]] of Object.entries({ rows: ["row", "rows"], columns: ["column", "columns"] })) {
        labels[axis].light(new Set(marks.filter(each => each[length] === 1).map(each => each[from])));
      }
      if (reached) cells.select(reached);
    },
  };
}

// All that the cells' faces depend on besides the numbers: most moves in a pass leave most matrices as they are.
function stateOf({ index, given, rows, columns }, { cell, font, written }, { look, limit, colours }) {
  return JSON.stringify([
    index(0, 0),
    given,
    rows.labels,
    columns.labels,
    cell,
    font,
    written,
    look.reveal,
    look.kind,
    limit,
    colours,
  ]);
}

function isSame(one, other) {
  return Object.keys(one).every(name => one[name] === other?.[name]);
}

// All that a cell is; "" while it is to come, and then no key leads to it.
function describe(slot, { pass, look }, row, column) {
  const index = slot.index(row, column);
  if (!look.shown(slot.name, index)) return "";
  const value = look.pass.number(slot.name, index);
  const number = value === undefined ? "…" : Number.isFinite(value) ? String(value) : short(value);
  return `${look.nameOf(slot.name, index)} = ${number.replace(/^-(?=[\d.])/, "−")}${isHidden(slot, pass, index) ? ", hidden" : ""}`;
}

function place(
  figure,
  [rows, columns],
  role,
  { x, y, room, cell: [width, height], font, label, bands, labels, upright },
) {
  figure.className = `matrix ${role}`;
  const sizes = {
    "--width": width,
    "--height": height,
    "--digits": font,
    "--label": label,
    "--room": room,
    "--bands": bands,
    "--row-label": labels[0],
    "--column-label": labels[1],
  };
  for (const [name, size] of Object.entries(sizes)) figure.style.setProperty(name, `${size}px`);
  Object.assign(figure.style, {
    left: `${x}px`,
    top: `${y}px`,
    width: `${columns * width}px`,
    height: `${rows * height}px`,
  });
  figure.classList.toggle("small", Math.min(width, height) < 6);
  figure.classList.toggle("upright", upright);
}

// The lines between the heads' bands.
function drawLines({ size, rows, columns }, [width, height]) {
  const between = (axis, length, size) =>
    bandOf(axis) * size > CLOSEST
      ? Array.from({ length: length / bandOf(axis) - 1 }, (_, position) => (position + 1) * bandOf(axis))
      : [];
  const line = style => Object.assign(element("div", "line"), { style });
  return [
    ...between(columns, size[1], width).map(at =>
      line(`left: ${at * width - 1.5}px; top: 0; height: 100%; width: 2px`),
    ),
    ...between(rows, size[0], height).map(at => line(`top: ${at * height - 1.5}px; left: 0; width: 100%; height: 2px`)),
  ];
}

function writeSums(box, slot, { look }, { cell: [, height], all }) {
  box.hidden = !slot.given.sums || !all[0];
  if (box.hidden) return;
  const {
    given: { columns },
    size: [rows],
    stage: { shape },
  } = slot;
  box.replaceChildren(
    element("span", "of", "sum"),
    ...Array.from({ length: rows }, (_, row) => {
      const positions = Array.from({ length: shape[columns] }, (__, column) =>
        slot.index(row, 0).with(columns, column),
      ); // those left out, too
      const isThere = positions.every(index => look.shown(slot.name, index));
      const sum = positions.reduce((total, index) => total + (look.pass.number(slot.name, index) ?? 0), 0);
      const line = element("span", "", isThere ? short(sum) : "");
      line.style.top = `${row * height}px`;
      return line;
    }),
  );
}
