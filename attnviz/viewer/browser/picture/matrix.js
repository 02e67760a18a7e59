// A matrix: its cells, and around them its name, its labels, its sums and its frames. Everything stands where fit.js says.
import { makeCanvas } from "./canvas.js";
import { spoken, writeCaption } from "./caption.js";
import { element, write } from "../elements/element.js";
import { isHidden } from "./face.js";
import { drawFrames } from "./frames.js";
import { listen } from "../elements/grid.js";
import { drawBands, makeLabels } from "./labels.js";
import { short } from "../pass/numeral.js";
import { bandOf } from "./slot.js";
import { makeTable } from "./table.js";
import { whenOther } from "../elements/whenOther.js";

const LARGEST_TABLE = 16;
const CLOSEST = 10; // pixels between lines that part heads

// `acts` are those of `listen`, each of a slot and a place.
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
      ? Array.from({ length: length / bandOf(axis) - 1 }, (_, place) => (place + 1) * bandOf(axis))
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
      const places = Array.from({ length: shape[columns] }, (__, column) => slot.index(row, 0).with(columns, column)); // those left out, too
      const isThere = places.every(index => look.shown(slot.name, index));
      const sum = places.reduce((total, index) => total + (look.pass.number(slot.name, index) ?? 0), 0);
      const line = element("span", "", isThere ? short(sum) : "");
      line.style.top = `${row * height}px`;
      return line;
    }),
  );
}
