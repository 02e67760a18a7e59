// The picture: the matrices of a step, all with cells of one size, as large as the box allows; bars beside them, and a legend.
import { makeBars } from "./bars.js";
import { makeBoard } from "./board.js";
import { foldTerms, giveCorner, hasCorner } from "./corner.js";
import { element } from "../elements/element.js";
import { sharedLimit } from "./face.js";
import { drawLegend, legendOf } from "./legend.js";
import { narrowed } from "./narrowing.js";
import { scrolled, watchRoom } from "./room.js";
import { sidesOf } from "./sides.js";
import { makeSlot, slotsIn } from "./slot.js";
import { focusOf, isSheet, stepAt } from "../scene/state.js";
import { whenOther } from "../elements/whenOther.js";

const LEAST_BESIDE_BARS = 450; // pixels that matrices need without digits, too
const HIGHER = [1.5, 2, 2.5, 3]; // than the room in a small window, whose matrices are scrolled rather than left without digits

/** @type {Record<"press" | "over" | "toggle", (...at: unknown[]) => unknown>} */
const NO_BRUSH = { press: () => {}, over: () => {}, toggle: () => false };

// Presses in its cells go to the brush, too, where there is one.
export function makePicture(tools, brush = NO_BRUSH) {
  const box = element("section", "picture");
  box.setAttribute("aria-label", "The picture");
  box.hidden = true; // or it took its share of the page while what stands before it finds its size
  const bars = makeBars(tools),
    legend = element("div", "legend");
  // The cell of B that a place of a slot stands for; null where B has none.
  const cellAt = ({ name, side, index }, place) =>
    side === "A" ? shown.look.pair.toB(name, index(...place)) : index(...place);
  const whereThere = act => (slot, place) => {
    const cell = cellAt(slot, place);
    if (cell) act(slot.name, cell);
  };
  const board = makeBoard(
    {
      point: (slot, place) => tools.point(slot.name, place && cellAt(slot, place)),
      pick: whereThere(tools.pick),
      arrive: whereThere(tools.arrive),
      press: (slot, place, cell) => brush.press(slot, place && cellAt(slot, place), cell),
      over: (slot, place, cell) => brush.over(slot, place && cellAt(slot, place), cell),
      toggle: (slot, place) => brush.toggle(slot, cellAt(slot, place)),
    },
    bars.element,
  );
  box.append(board.element, legend);
  let shown = null,
    pointed = null;

  const writeLegend = whenOther(([entries, colours]) => legend.replaceChildren(...drawLegend(entries, colours)));
  const isTooLow = whenOther(([, [, height]]) => legend.offsetHeight > height); // a corner for it
  const mark = () => board.mark(shown, pointed ?? focusOf(shown.pass, shown.where), Boolean(pointed));
  const around = () => box.closest(".columns") ?? box; // the panel is beside the picture, in print it is alone
  const draw = () => {
    const { pass, where, look } = shown;
    const { pair } = look;
    const made = (order = {}) =>
      pair && shown.pictures.length
        ? sidesOf(stepAt(pass, where), pass, where, pair, order)
        : shown.pictures
            .filter(({ aside }) => !(aside && where.present))
            .map(({ grid, turns }) => ({
              turns,
              grid: grid.map(row => row.map(each => each && makeSlot(pass, each, where.cell, order))),
            }));
    let pictures = made(),
      slots = slotsIn(pictures);
    const isCornered = hasCorner(pictures);
    box.hidden = !slots.length;
    around().classList.toggle("cornered", isCornered && where.present); // as the panel stands in the corner of no other step
    if (box.hidden) return board.make(pictures);
    const given = {
      pass,
      look,
      limit: sharedLimit(slots, look),
      head: where.cell.head,
      colours: look.colours,
      isApart: pair?.isApart,
    };
    const beside = pair && {
      ...given,
      pass: pair.pass,
      look: pair.look,
      isApart: (name, index) => isApartInA(pair, name, index),
    };
    const paints = paint => slot => (slot.side === "A" ? { ...paint, ...beside } : paint);
    bars.update(pass, where, look);
    bars.element.hidden ||= Boolean(pass.other) || where.present; // they are of one row of B alone, and have small letters
    const entries = legendOf(slots, given, paints(given));
    writeLegend([entries, look.colours]);
    legend.classList.toggle("in-corner", isCornered && !where.present);
    const drawn = () => {
      const measured = () =>
        roomOn([where.step, where.present, legend.childElementCount, legend.className, bars.element.hidden]);
      let room = measured();
      const paint = { ...given, family: room.family, isStill: room.isPaper };
      const hasDigits = () => board.hasDigits(pictures, room, paints(paint), where.present);
      if (!bars.element.hidden && !room.isPaper && !room.isNarrow && !hasDigits()) {
        const isCramped = room.width < LEAST_BESIDE_BARS;
        bars.element.hidden = true; // its numbers stand in the matrices, which have digits for it
        room = measured();
        if (!isCramped && !hasDigits()) {
          bars.element.hidden = false;
          room = measured();
        }
      }
      if (room.isSmall && !room.isPaper && !where.present && !hasDigits()) {
        legend.classList.remove("in-corner"); // or the matrices would move beneath it
        const whole = measured(),
          higher = HIGHER.map(times => scrolled(whole, times));
        room = higher.find(each => board.hasDigits(pictures, each, paints(paint), where.present)) ?? whole;
      }
      if (where.present && !room.isPaper)
        pictures = narrowed(pass, where.cell, made, all => board.fits(all, room, paints(paint)));
      slots = slotsIn(pictures);
      board.make(pictures);
      return { room, ...board.draw(pictures, room, paints(paint), { pass, where }) };
    };
    let { room, cell, places } = drawn();
    if (isCornered) giveCorner(around(), room.top, places[0], cell[1] * slots[0].size[0]);
    const corner = [room, places[0].y + cell[1] * slots[0].size[0], document.fonts.status];
    if (isCornered && !where.present && isTooLow([entries, corner])) {
      legend.classList.remove("in-corner");
      ({ room, cell, places } = drawn());
      giveCorner(around(), room.top, places[0], cell[1] * slots[0].size[0]);
    }
    if (where.present) foldTerms(around());
    mark();
    if (room.isScrolled) board.showFocus();
    // Its letters, where they come later, have other widths. `fonts.ready` isn't the sign: in WebKit it comes while fonts load.
    const letters = room.family && `1em ${room.family}`; // a picture that has left the page has none
    if (letters && !document.fonts.check(letters)) document.fonts.load(letters).then(draw);
  };
  const roomOn = watchRoom(box, bars.element, legend, draw);
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (!box.hidden) mark();
  });
  return {
    element: box,
    // Of the step's pictures, a page of paper may have a part alone.
    /** @param {Pass} pass @param {Where} where @param {Look} look */
    update(pass, where, look, pictures = isSheet(pass, where) ? [] : stepAt(pass, where).pictures) {
      shown = { pass, where, look, pictures };
      box.classList.toggle("painted", Boolean(pass.document.painted));
      draw();
    },
  };
}

// Whether a number of A is another than that of B beside it, where not all are.
function isApartInA({ toB, isApart }, name, index) {
  const cell = toB(name, index);
  return cell !== null && isApart(name, cell);
}
