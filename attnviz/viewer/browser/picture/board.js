// The board: the matrices of pictures, and what is beside them, which takes its room first: bars, and the readout where cells
// are too small for digits.
import { blockOf } from "./block.js";
import { element } from "../elements/element.js";
import { fit } from "./fit.js";
import { makeMatrices } from "./matrices.js";
import { makeReadout } from "./readout.js";
import { APART } from "./room.js";
import { slotsIn } from "./slot.js";
import { whenOther } from "../elements/whenOther.js";
import { focusOf } from "../scene/state.js";

const SHARE_OF_READOUT = 0.42,
  LINE = 108; // of the width; pixels that a line of it takes
const MOST_FITTED = 16; // layouts that are tried for a picture, and those of the one before
const NEAR = 24; // pixels around a cell that is scrolled to
const SMALLEST_ON_PAPER = 9.4; // pixels: 7 points

// `acts` are point(slot, place or null) and pick(slot, place).
export function makeBoard(acts, bars) {
  const board = element("div", "board"),
    readout = makeReadout(acts),
    matrices = makeMatrices(acts);
  board.append(matrices.element, readout.element, bars);
  const fitted = whenOther(given => fit(...given), MOST_FITTED); // other numbers mostly take as much room
  const layOut = (blocks, room, present, read) => {
    const options = optionsOf(room, present);
    const { written } = fitted([blocks, room, options]);
    board.classList.toggle("read", !written);
    if (written) readout.clear();
    else read(Math.floor((SHARE_OF_READOUT * room.width) / LINE));
    return fitted([blocks, written ? room : { ...room, ...beside(room, readout) }, options]);
  };
  return {
    element: board,
    make: matrices.make,
    // Whether pictures have room in the smallest letters of a talk.
    fits(pictures, room, paintOf) {
      const options = optionsOf(room, true),
        least = { ...options, largest: options.smallest },
        { written, width, height } = fitted([blocksIn(pictures, paintOf), room, least]);
      return written && width <= room.width && height <= room.height;
    },
    hasDigits: (pictures, room, paintOf, present) =>
      fitted([blocksIn(pictures, paintOf), room, optionsOf(room, present)]).written,
    mark: matrices.mark,
    // Scrolls no further than it takes to see the cell in focus.
    showFocus() {
      const cell = board.querySelector(".frame.focus")?.getBoundingClientRect(),
        { top, bottom } = board.getBoundingClientRect();
      if (cell) board.scrollTop += Math.max(0, cell.bottom + NEAR - bottom) + Math.min(0, cell.top - NEAR - top);
    },
    // Returns {cell: [width, height], places}: how large cells are, and where each matrix stands (layout.js).
    // `paintOf` says for each slot with what it is painted.
    draw(pictures, room, paintOf, { pass, where }) {
      const slots = slotsIn(pictures);
      const layout = layOut(blocksIn(pictures, paintOf), room, where.present, most => {
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

// The room that a readout leaves: on paper it is below the matrices, as nobody scrolls its lists there.
function beside(room, readout) {
  const { isNarrow, isPaper, width, height } = room;
  if (isPaper) return { height: height - readout.element.offsetHeight - APART };
  return { width: width - (isNarrow ? 0 : readout.widthIn(room) + APART) };
}

function optionsOf({ isNarrow, isPaper, base, least }, present) {
  if (isPaper) return { smallest: SMALLEST_ON_PAPER, largest: 1.1 * base, base, labels: 1, around: 0.3, line: 1.15 };
  if (isNarrow) return { smallest: 8, largest: base, base, labels: 0.92, around: 0.4, line: 1.42 };
  return present
    ? { smallest: least, least, largest: 2.4 * base, base, labels: 0.92, around: 0.3, line: 1.15, caption: 0.91 }
    : { smallest: 9, largest: 1.1 * base, base, labels: 0.92, around: 0.6, line: 1.42 };
}
