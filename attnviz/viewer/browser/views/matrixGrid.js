// The board: a step's matrices, laid out as in the product that they are part of.
import { hasWords } from "../model/axes.js";
import { plain } from "../model/latex.js";
import { short } from "../model/numeral.js";
import { focusOf } from "../model/state.js";
import { h, memoLast } from "../dom/element.js";
import { APART, fit, SCROLLBAR, scrolled } from "../fit/fit.js";
import { makeMatrix, rectangles } from "./matrix.js";
import { makeNumberLists } from "./numberLists.js";
import { bandOf, scaleOf, slicesIn } from "./slice.js";
import { titleOf } from "./table.js";

// Frames around the cell itself, the cells it was computed from (`sources`), those of the current term, and lightly its row and column.
export function marksOf(slice, cell, sources, term) {
  const position = cell.name === slice.name && slice.positionOf(cell.index);
  const framed = (cells, kind) => {
    const positions = cells.filter(({ name }) => name === slice.name).map(({ index }) => slice.positionOf(index));
    return rectangles(positions.filter(Boolean)).map(each => ({ ...each, kind }));
  };
  const marks = [...framed(sources, "source"), ...framed(term, "term")];
  if (!position) return marks;
  const [row, column] = position,
    [rows, columns] = slice.size;
  return [
    { row, column: 0, rows: 1, columns, kind: "cross" },
    { row: 0, column, rows, columns: 1, kind: "cross" },
    ...marks,
    { row, column, rows: 1, columns: 1, kind: "focus" },
  ];
}

// `actions` are point(slice, position or null) and pick(slice, position).
function makeMatrices(actions) {
  const plane = h("div", { class: "plane" });
  let matrices = [],
    slices = [];
  const makeAll = memoLast(sizes => {
    slices = []; // none is marked while what had the keyboard leaves
    plane.replaceChildren();
    matrices = sizes.flat(2).flatMap(each => (each ? [makeMatrix(each.size, actions)] : []));
    plane.replaceChildren(...matrices.map(matrix => matrix.element));
  });
  return {
    element: plane,
    make: pictures =>
      makeAll(
        pictures.map(({ grid }) => grid.map(row => row.map(slice => slice && { name: slice.name, size: slice.size }))),
      ),
    draw(drawn, positions, layout, paintOf) {
      slices = drawn;
      plane.classList.toggle("unwritten", !layout.written);
      plane.classList.toggle("short", !layout.titled);
      Object.assign(plane.style, { width: `${layout.width}px`, height: `${layout.height}px` });
      for (const [i, slice] of slices.entries())
        matrices[i].update(slice, { ...layout, ...positions[i] }, paintOf(slice));
    },
    // Marks a cell, what it was computed from, and the current term. Tab leads to the selection, not to a cell that is pointed at.
    mark({ pass, where, look }, cell, isPointed) {
      const sources = pass.cellsOf(cell.name, cell.index),
        { pair, lines } = look,
        term = (!isPointed && lines && pass.terms(cell.name, cell.index)?.lines[lines - 1]?.cells) || [],
        index = pair?.toA(cell.name, cell.index),
        sourcesInA = index ? pair.pass.cellsOf(cell.name, index) : [],
        isMarked = isPointed || look.reveal !== "nothing";
      for (const [i, slice] of slices.entries()) {
        if (slice.side === "A") {
          matrices[i].mark(index ? marksOf(slice, { name: cell.name, index }, sourcesInA, []) : [], null);
        } else {
          const marks = isMarked ? marksOf(slice, cell, sources, term) : [];
          matrices[i].mark(marks, isPointed ? null : slice.positionOf(pass.indexAt(slice.name, where.cell)));
        }
      }
    },
  };
}

const WIDEST_CAPTION = 14; // a longer one is cut off

// The space that a matrix needs besides its cells, as fit.js counts it.
function blockOf(slice, paint) {
  const { spec, size, rows, columns, stage } = slice,
    width = text => textWidth(text, paint.family),
    symbol = `${slice.side ?? ""} ${plain(slice.symbol)}`;
  // Numbers that a training moves have space for two digits before the point from its start, so that their cells stay where they are.
  const isMoved = !paint.isStill && Boolean(stage.rule && paint.pass.document.model?.training);
  return {
    rows: size[0],
    columns: size[1],
    rowLabel: Math.max(...rows.labels.map(width)),
    columnLabel: Math.max(...columns.labels.map(width)),
    rowNames: [slice.word, ...rows.labels].join("\n"), // the rows of one word differ from all others, whatever their labels
    columnNames: columns.labels.join("\n"),
    before: spec.sign ? 0.9 + width(spec.sign) : 0,
    after: spec.after ? 0.9 + width(spec.after) : 0,
    sums: spec.sums ? 3.2 : 0,
    bands: bandOf(columns) > 0,
    caption: Math.min(width(`${symbol} ${titleOf(slice, paint.look)}`) + 1.6, WIDEST_CAPTION),
    symbol: width(symbol) + 1,
    digits: width(widestDigits(scaleOf(slice, paint), isMoved)),
  };
}

function widestDigits({ scale, limit }, isMoved) {
  if (scale === "flag") return "1";
  return scale === "share" ? "0.00" : short(-Math.max(limit, isMoved ? 10 : 0));
}

let probe = null;

// The width of a text in units of its font's size.
export function textWidth(text, family) {
  probe ??= h("canvas").getContext("2d");
  probe.font = `100px ${family}`;
  return probe.measureText(text).width / 100;
}

const READOUT_WIDTH = 0.42, // of the space
  LINE_PX = 108; // that a line of the readout is wide
const MOST_FITTED = 64; // layouts that are tried for a picture, and those of the one before
const LEGIBLE_PX = 18, // a cell without digits
  WIDER = [1, 1.2, 1.5, 2, 3, 4], // than the space
  HIGHER = [1, 1.5, 2, 3, 4, 6, 9, 14],
  NO_DIGITS = 99; // a size of digits that fits nowhere
const NEAR = 24, // pixels around a cell that is scrolled to
  ABOVE = 110; // it, with the names of its columns
const SMALLEST_ON_PAPER = 9.4; // pixels: 7 points

// `actions` are point(slice, position or null) and pick(slice, position).
export function makeMatrixGrid(actions, bars) {
  const readout = makeNumberLists(actions),
    matrices = makeMatrices(actions),
    scroller = h("div", { class: "matrices" }, matrices.element),
    board = h("div", { class: "board" }, scroller, readout.element, bars);
  const fitted = memoLast(([pictures, space, options]) => fit(pictures, space, options), MOST_FITTED); // other numbers mostly take as much space
  return {
    element: board,
    make: matrices.make,
    mark: matrices.mark,
    // Whether pictures have space in the smallest letters of a talk.
    fits(pictures, space, paintOf) {
      const options = optionsOf(space, true),
        blocks = blocksIn(pictures, paintOf),
        { written, width, height } = fitted([blocks, space, { ...options, largest: options.smallest }]);
      return written && width <= space.width && height <= space.height;
    },
    hasDigits: (pictures, space, paintOf, present) =>
      fitted([blocksIn(pictures, paintOf), space, optionsOf(space, present)]).written,
    // Scrolls to the cell in focus where it isn't seen, with as much as there is room for of what is below it.
    showFocus() {
      const frame = board.querySelector(".frame.focus"),
        cell = frame?.getBoundingClientRect(),
        { top, bottom, left, right } = scroller.getBoundingClientRect();
      if (!cell) return;
      const end = frame.closest(".matrix").getBoundingClientRect().bottom,
        down = Math.max(cell.bottom + NEAR, Math.min(end, cell.top - ABOVE - top + bottom)) - bottom;
      scroller.scrollTop += cell.bottom + NEAR > bottom ? down : Math.min(0, cell.top - NEAR - top);
      scroller.scrollLeft += Math.max(0, cell.right + NEAR - right) + Math.min(0, cell.left - NEAR - left);
    },
    // Draws pictures, and numbers beside them if they have no digits. `paintOf` returns what a slice is painted with.
    draw(pictures, space, paintOf, { pass, where }) {
      const slices = slicesIn(pictures),
        blocks = blocksIn(pictures, paintOf),
        options = optionsOf(space, where.present);
      let layout = fitted([blocks, space, options]),
        isScrolled = false;
      const { written } = layout;
      board.classList.toggle("read", !written);
      if (written) readout.clear();
      else {
        const most = Math.floor((READOUT_WIDTH * space.width) / LINE_PX);
        readout.update(slices, { pass, paintOf }, focusOf(pass, where), most);
        const beside = { ...space, ...spaceBeside(readout, space) },
          isScrollable = !space.isPaper && !where.present && slices.some(isOfManyWords);
        const whole = fitted([blocks, beside, options]);
        layout = isScrollable
          ? legible(whole, beside, each => fitted([blocks, each, { ...options, smallest: NO_DIGITS }]))
          : whole;
        isScrolled = layout !== whole;
      }
      const positions = layout.pictures.flat(2).filter(Boolean);
      matrices.draw(slices, positions, layout, paintOf);
      return { cell: layout.cell, positions, isScrolled };
    },
  };
}

const blocksIn = (pictures, paintOf) =>
  pictures.map(({ grid, turns }) => ({
    turns,
    grid: grid.map(row => row.map(slice => slice && blockOf(slice, paintOf(slice)))),
  }));

const MANY_WORDS = 16; // more are scrolled rather than shrunk

const isOfManyWords = ({ rows, columns }) =>
  [rows, columns].some(axis => hasWords(axis) && axis.name !== "answer" && axis.labels.length > MANY_WORDS);

// A layout, or one of a larger space, scrolled downwards if that will do, where its cells without digits are too small.
function legible(layout, space, layoutIn) {
  const isLegible = ({ cell }) => Math.min(...cell) >= LEGIBLE_PX;
  if (isLegible(layout)) return layout;
  for (const wider of WIDER)
    for (const higher of HIGHER) {
      const larger = layoutIn({ ...scrolled(space, higher), width: wider * (space.width - SCROLLBAR) });
      if (isLegible(larger)) return larger;
    }
  return layout; // so many are seen as a whole alone
}

// The space that a readout leaves; on paper it is below the matrices, because its lists can't be scrolled there.
function spaceBeside(readout, space) {
  if (space.isPaper) return { height: space.height - readout.element.offsetHeight - APART };
  return { width: space.width - (space.isNarrow ? 0 : readout.widthIn(space) + APART) };
}

function optionsOf({ isNarrow, isPaper, base, least }, present) {
  if (isPaper) return { smallest: SMALLEST_ON_PAPER, largest: 1.1 * base, base, labels: 1, around: 0.3, line: 1.15 };
  if (isNarrow) return { smallest: 10, largest: base, base, labels: 0.92, around: 0.4, line: 1.42 };
  return present
    ? { smallest: least, least, largest: 2.4 * base, base, labels: 0.92, around: 0.3, line: 1.15, caption: 0.91 }
    : { smallest: 9, largest: 1.1 * base, base, labels: 0.92, around: 0.6, line: 1.42 };
}
