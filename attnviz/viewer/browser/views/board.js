// The board: a step's matrices, laid out as in the product that they are part of.
import { plain } from "../model/latex.js";
import { short } from "../model/numeral.js";
import { focusOf } from "../model/state.js";
import { element, h } from "../dom/element.js";
import { whenOther } from "../dom/timing.js";
import { APART, fit } from "../fit/fit.js";
import { makeMatrix, rectangles } from "./matrix.js";
import { makeReadout } from "./readout.js";
import { bandOf, scaleOf, slotsIn } from "./slot.js";
import { titleOf } from "./table.js";

// The cell itself, the cells it was computed from (`sources`), those of the term that is just computed, and lightly its row and column.
export function marksOf(slot, cell, sources, term) {
  const position = cell.name === slot.name ? slot.placeOf(cell.index) : null;
  const positions = cells =>
    cells
      .filter(({ name }) => name === slot.name)
      .map(({ index }) => slot.placeOf(index))
      .filter(Boolean);
  const framed = (cells, kind) => rectangles(positions(cells)).map(each => ({ ...each, kind }));
  return [
    ...(position ? crossOf(slot, position) : []),
    ...framed(sources, "source"),
    ...framed(term, "term"),
    ...(position ? [{ row: position[0], column: position[1], rows: 1, columns: 1, kind: "focus" }] : []),
  ];
}

function crossOf({ size: [rows, columns] }, [row, column]) {
  return [
    { row, column: 0, rows: 1, columns, kind: "cross" },
    { row: 0, column, rows, columns: 1, kind: "cross" },
  ];
}

// `acts` are point(slot, position or null) and pick(slot, position).
function makeMatrices(acts) {
  const plane = element("div", "plane");
  let matrices = [],
    slots = [];
  const makeAll = whenOther(pictures => {
    slots = []; // none is marked while what had the keyboard leaves
    plane.replaceChildren();
    matrices = pictures
      .flat(2)
      .filter(Boolean)
      .map(({ size }) => makeMatrix(size, acts));
    plane.replaceChildren(...matrices.map(matrix => matrix.element));
  });
  return {
    element: plane,
    make: pictures =>
      makeAll(
        pictures.map(({ grid }) => grid.map(row => row.map(slot => slot && { name: slot.name, size: slot.size }))),
      ),
    draw(drawn, positions, fitted, paintOf) {
      slots = drawn;
      plane.classList.toggle("unwritten", !fitted.written);
      plane.classList.toggle("short", !fitted.titled);
      Object.assign(plane.style, { width: `${fitted.width}px`, height: `${fitted.height}px` });
      matrices.forEach((matrix, i) => {
        matrix.update(slots[i], { ...fitted, ...positions[i] }, paintOf(slots[i]));
      });
    },
    // Marks a cell, what it was computed from, and the term that is told just now. Tab leads to where one is, but for a cell
    // that is pointed at.
    mark({ pass, where, look }, cell, isPointed) {
      const sources = pass.cellsOf(cell.name, cell.index),
        { pair } = look;
      const term =
        !isPointed && look.lines ? (pass.terms(cell.name, cell.index)?.lines[look.lines - 1]?.cells ?? []) : [];
      const inA = pair?.toA(cell.name, cell.index),
        cellInA = inA && { name: cell.name, index: inA };
      slots.forEach((slot, i) => {
        if (slot.side === "A") {
          matrices[i].mark(
            cellInA ? marksOf(slot, cellInA, pair.pass.cellsOf(cellInA.name, cellInA.index), []) : [],
            null,
          );
          return;
        }
        const marks = isPointed || look.reveal !== "nothing" ? marksOf(slot, cell, sources, term) : [];
        matrices[i].mark(marks, isPointed ? null : slot.placeOf(pass.indexAt(slot.name, where.cell)));
      });
    },
  };
}

const WIDEST_CAPTION = 14; // a longer one is cut off

// The space that a matrix needs besides its cells, as fit.js counts it.
function blockOf(slot, paint) {
  const {
    given,
    size: [rows, columns],
  } = slot;
  const width = text => textWidth(text, paint.family);
  return {
    rows,
    columns,
    rowLabel: Math.max(...slot.rows.labels.map(width)),
    columnLabel: Math.max(...slot.columns.labels.map(width)),
    rowNames: [slot.word, ...slot.rows.labels].join("\n"), // one word's rows are no others, whatever they are called
    columnNames: slot.columns.labels.join("\n"),
    before: given.sign ? 0.9 + width(given.sign) : 0,
    after: given.after ? 0.9 + width(given.after) : 0,
    sums: given.sums ? 3.2 : 0,
    bands: bandOf(slot.columns) > 0,
    caption: Math.min(
      width(`${slot.side ?? ""} ${plain(slot.symbol)} ${titleOf(slot, paint.look)}`) + 1.6,
      WIDEST_CAPTION,
    ),
    symbol: width(`${slot.side ?? ""} ${plain(slot.symbol)}`) + 1,
    digits: width(widestDigits(scaleOf(slot, paint), isMoved(slot, paint))),
  };
}

// Numbers that a training moves have room for two digits before the point from its start, so that their cells stay where they are.
function isMoved({ stage }, { pass, isStill }) {
  return !isStill && Boolean(stage.rule && pass.document.model?.training);
}

function widestDigits({ scale, limit }, hasMore) {
  if (scale === "flag") return "1";
  return scale === "share" ? "0.00" : short(-Math.max(limit, hasMore ? 10 : 0));
}

let probe = null;

// The width of a text in units of its font's size.
function textWidth(text, family) {
  probe ??= document.createElement("canvas").getContext("2d");
  probe.font = `100px ${family}`;
  return probe.measureText(text).width / 100;
}

const SHARE_OF_READOUT = 0.42,
  LINE = 108; // of the width; pixels that a line of it takes
const MOST_FITTED = 16; // layouts that are tried for a picture, and those of the one before
const NEAR = 24; // pixels around a cell that is scrolled to
const SMALLEST_ON_PAPER = 9.4; // pixels: 7 points

// `acts` are point(slot, position or null) and pick(slot, position).
export function makeBoard(acts, bars) {
  const readout = makeReadout(acts),
    matrices = makeMatrices(acts);
  const board = h("div", { class: "board" }, matrices.element, readout.element, bars);
  const fitted = whenOther(args => fit(...args), MOST_FITTED); // other numbers mostly take as much room
  const layOut = (blocks, space, present, read) => {
    const options = optionsOf(space, present);
    const { written } = fitted([blocks, space, options]);
    board.classList.toggle("read", !written);
    if (written) readout.clear();
    else read(Math.floor((SHARE_OF_READOUT * space.width) / LINE));
    return fitted([blocks, written ? space : { ...space, ...spaceLeft(space, readout) }, options]);
  };
  return {
    element: board,
    make: matrices.make,
    // Whether pictures have room in the smallest letters of a talk.
    fits(pictures, space, paintOf) {
      const options = optionsOf(space, true),
        least = { ...options, largest: options.smallest },
        { written, width, height } = fitted([blocksIn(pictures, paintOf), space, least]);
      return written && width <= space.width && height <= space.height;
    },
    hasDigits: (pictures, space, paintOf, present) =>
      fitted([blocksIn(pictures, paintOf), space, optionsOf(space, present)]).written,
    mark: matrices.mark,
    // Scrolls no further than it takes to see the cell in focus.
    showFocus() {
      const cell = board.querySelector(".frame.focus")?.getBoundingClientRect(),
        { top, bottom } = board.getBoundingClientRect();
      if (cell) board.scrollTop += Math.max(0, cell.bottom + NEAR - bottom) + Math.min(0, cell.top - NEAR - top);
    },
    // Returns {cell: [width, height], positions}: how large cells are, and where each matrix stands (fit.js).
    // `paintOf` says for each slot with what it is painted.
    draw(pictures, space, paintOf, { pass, where }) {
      const slots = slotsIn(pictures);
      const layout = layOut(blocksIn(pictures, paintOf), space, where.present, most => {
        readout.update(slots, { pass, paintOf }, focusOf(pass, where), most);
      });
      const places = layout.pictures.flat(2).filter(Boolean);
      matrices.draw(slots, places, layout, paintOf);
      return { cell: layout.cell, places };
    },
  };
}

function blocksIn(pictures, paintOf) {
  return pictures.map(({ grid, turns }) => ({
    turns,
    grid: grid.map(row => row.map(slot => slot && blockOf(slot, paintOf(slot)))),
  }));
}

// The space beside a readout; on paper it is below the matrices, because its lists can't be scrolled there.
function spaceLeft(space, readout) {
  const { isNarrow, isPaper, width, height } = space;
  if (isPaper) return { height: height - readout.element.offsetHeight - APART };
  return { width: width - (isNarrow ? 0 : readout.widthIn(space) + APART) };
}

function optionsOf({ isNarrow, isPaper, base, least }, present) {
  if (isPaper) return { smallest: SMALLEST_ON_PAPER, largest: 1.1 * base, base, labels: 1, around: 0.3, line: 1.15 };
  if (isNarrow) return { smallest: 8, largest: base, base, labels: 0.92, around: 0.4, line: 1.42 };
  return present
    ? { smallest: least, least, largest: 2.4 * base, base, labels: 0.92, around: 0.3, line: 1.15, caption: 0.91 }
    : { smallest: 9, largest: 1.1 * base, base, labels: 0.92, around: 0.6, line: 1.42 };
}
