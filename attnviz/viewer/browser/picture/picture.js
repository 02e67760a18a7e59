// The picture: the matrices of a step, all with cells of one size, as large as the box allows.
import { makeBars } from "./bars.js";
import { blockOf } from "./block.js";
import { giveCorner, hasCorner } from "./corner.js";
import { element } from "../elements/element.js";
import { sharedLimit } from "./face.js";
import { fit } from "./fit.js";
import { drawLegend } from "./legend.js";
import { marksOf } from "./marks.js";
import { makeMatrix } from "./matrix.js";
import { drawReadout, rowsOfReadout } from "./readout.js";
import { APART, roomIn } from "./room.js";
import { rovingFocus } from "../elements/roving.js";
import { makeSlot } from "./slot.js";
import { isSheet } from "../scene/bands.js";
import { focusOf, stepAt } from "../scene/state.js";

const SHARE_OF_READOUT = 0.42, LINE = 108; // of the width; pixels that a line of it takes
const SMALLEST_ON_PAPER = 9.4; // pixels: 7 points

export function makePicture(tools) {
  const box = element("section", "picture");
  box.setAttribute("aria-label", "The picture");
  box.hidden = true; // or it took its share of the page while what stands before it finds its size
  const board = element("div", "board"), plane = element("div", "plane"), readout = element("div", "readout");
  const bars = makeBars(tools);
  const legend = element("div", "legend");
  rovingFocus(readout, () => rowsOfReadout(readout));
  board.append(plane, readout, bars.element);
  box.append(board, legend);
  let shown = null, pointed = null, matrices = [], built = "", measured = "", room = null;

  const acts = {
    point: ({ name, index }, place) => tools.point(name, place && index(...place)),
    pick: ({ name, index }, place) => tools.pick(name, index(...place)),
  };
  const mark = () => {
    const { pass, where, look } = shown;
    const focus = focusOf(pass, where);
    const cell = pointed ?? focus;
    const term = !pointed && look.lines ? pass.terms(focus.name, focus.index)?.lines[look.lines - 1]?.cells ?? [] : [];
    const sources = pass.cellsOf(cell.name, cell.index);
    for (const { matrix, slot } of matrices) {
      const marks = pointed || look.moment !== "nothing" ? marksOf(slot, cell, sources, term) : [];
      matrix.mark(marks, pointed ? null : slot.placeOf(pass.indexAt(slot.name, where.cell)));
    }
  };
  const build = (pictures) => {
    const key = pictures.map(({ grid }) => grid.map((row) => row.map((slot) => slot && [slot.name, slot.size]).join("|")).join("/")).join("//");
    if (key === built) return;
    built = key;
    matrices = []; // none is marked while what had the keyboard leaves
    plane.replaceChildren();
    matrices = pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean).map((slot) => ({ matrix: makeMatrix(slot.size, acts) }));
    plane.replaceChildren(...matrices.map(({ matrix }) => matrix.element));
  };
  // What is beside the matrices takes its room first: bars, and the readout where cells are too small for digits.
  const layOut = (blocks, { present }, read) => {
    const options = optionsOf(room, present);
    let fitted = fit(blocks, room, options);
    board.classList.toggle("read", !fitted.written);
    plane.classList.toggle("unwritten", !fitted.written);
    if (fitted.written) readout.replaceChildren();
    else {
      read(Math.floor((SHARE_OF_READOUT * room.width) / LINE));
      fitted = fit(blocks, { ...room, ...beside(room, readout) }, options);
    }
    plane.classList.toggle("short", !fitted.titled);
    Object.assign(plane.style, { width: `${fitted.width}px`, height: `${fitted.height}px` });
    return fitted;
  };
  // It is the same on this step, with as many entries in the legend, until the observer finds another: asking costs a layout.
  const measure = () => roomIn(box, bars.element, legend);
  const around = () => box.closest(".columns") ?? box; // the panel is beside the picture, in print it is alone
  const draw = () => {
    const { pass, where, look } = shown;
    const pictures = shown.pictures.filter(({ aside }) => !(aside && where.present)).map(({ grid, turns }) => ({
      turns, grid: grid.map((row) => row.map((each) => each && makeSlot(pass, each, where.cell))),
    }));
    const slots = pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);
    const isCornered = hasCorner(pictures);
    box.hidden = !slots.length;
    around().classList.toggle("cornered", isCornered && where.present); // as the panel stands in the corner of no other step
    build(pictures);
    if (!slots.length) return;
    const given = {
      pass, look,
      limit: sharedLimit(slots, look),
      head: where.cell.head,
      colours: look.colours,
    };
    bars.update(pass, where, look);
    legend.replaceChildren(...drawLegend(slots, given));
    legend.classList.toggle("in-corner", isCornered && !where.present);
    const now = `${where.step} ${where.present} ${legend.childElementCount}`;
    if (measured !== now) room = measure();
    measured = now;
    const paint = { ...given, family: room.family, isStill: room.isPaper };
    const blocks = pictures.map(({ grid, turns }) => ({ turns, grid: grid.map((row) => row.map((slot) => slot && blockOf(slot, paint))) }));
    const fitted = layOut(blocks, where, (most) => drawReadout(readout, slots, paint, focusOf(pass, where), acts, most));
    const places = fitted.pictures.flat(2).filter(Boolean);
    slots.forEach((slot, i) => {
      matrices[i].slot = slot;
      matrices[i].matrix.update(slot, { ...fitted, ...places[i] }, paint);
    });
    if (isCornered) giveCorner(around(), room.top, places[0], fitted.cell[1] * slots[0].size[0]);
    mark();
    // Its letters, where they come later, have other widths. `fonts.ready` isn't the sign: in WebKit it comes while fonts load.
    const letters = room.family && `1em ${room.family}`; // a picture that has left the page has none
    if (letters && !document.fonts.check(letters)) document.fonts.load(letters).then(draw);
  };
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (matrices.length) mark();
  });
  const observer = new ResizeObserver(() => {
    if (!matrices.length) return;
    const now = measure(), isSame = JSON.stringify(now) === JSON.stringify(room);
    room = now;
    if (!isSame) draw();
  });
  for (const each of [box, bars.element, legend]) observer.observe(each);
  return {
    element: box,
    // Of the step's pictures, a page of paper may have a part alone.
    update(pass, where, look, pictures = isSheet(pass, where) ? [] : stepAt(pass, where).pictures) {
      shown = { pass, where, look, pictures };
      draw();
    },
  };
}

// What a readout leaves of the room: on paper it is below the matrices, as nobody scrolls its lists there.
function beside({ isNarrow, isPaper, width, height }, readout) {
  if (isPaper) return { height: height - readout.offsetHeight - APART };
  return { width: width - (isNarrow ? 0 : readout.offsetWidth + APART) };
}

function optionsOf({ isNarrow, isPaper, base }, present) {
  if (isPaper) return { smallest: SMALLEST_ON_PAPER, largest: 1.1 * base, base, labels: 1, around: 0.3, line: 1.15 };
  if (isNarrow) return { smallest: 8, largest: base, base, labels: 0.92, around: 0.4, line: 1.42 };
  return present
    ? { smallest: 12, largest: 2.4 * base, base, labels: 0.92, around: 0.3, line: 1.15 }
    : { smallest: 9, largest: 1.1 * base, base, labels: 0.92, around: 0.6, line: 1.42 };
}
