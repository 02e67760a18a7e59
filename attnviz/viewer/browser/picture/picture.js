// The picture: the matrices of a step, all with cells of one size, as large as the box allows; bars beside them, and a legend.
import { makeBars } from "./bars.js";
import { makeBoard } from "./board.js";
import { giveCorner, hasCorner } from "./corner.js";
import { element } from "../elements/element.js";
import { sharedLimit } from "./face.js";
import { drawLegend } from "./legend.js";
import { watchRoom } from "./room.js";
import { makeSlot, slotsIn } from "./slot.js";
import { isSheet } from "../scene/bands.js";
import { focusOf, stepAt } from "../scene/state.js";

export function makePicture(tools) {
  const box = element("section", "picture");
  box.setAttribute("aria-label", "The picture");
  box.hidden = true; // or it took its share of the page while what stands before it finds its size
  const bars = makeBars(tools), legend = element("div", "legend");
  const board = makeBoard({
    point: ({ name, index }, place) => tools.point(name, place && index(...place)),
    pick: ({ name, index }, place) => tools.pick(name, index(...place)),
  }, bars.element);
  box.append(board.element, legend);
  let shown = null, pointed = null;

  const mark = () => board.mark(shown, pointed ?? focusOf(shown.pass, shown.where), Boolean(pointed));
  const around = () => box.closest(".columns") ?? box; // the panel is beside the picture, in print it is alone
  const draw = () => {
    const { pass, where, look } = shown;
    const pictures = shown.pictures.filter(({ aside }) => !(aside && where.present)).map(({ grid, turns }) => ({
      turns, grid: grid.map((row) => row.map((each) => each && makeSlot(pass, each, where.cell))),
    }));
    const slots = slotsIn(pictures), isCornered = hasCorner(pictures);
    box.hidden = !slots.length;
    around().classList.toggle("cornered", isCornered && where.present); // as the panel stands in the corner of no other step
    board.make(pictures);
    if (box.hidden) return;
    const given = { pass, look, limit: sharedLimit(slots, look), head: where.cell.head, colours: look.colours };
    bars.update(pass, where, look);
    legend.replaceChildren(...drawLegend(slots, given));
    legend.classList.toggle("in-corner", isCornered && !where.present);
    const room = roomOn([where.step, where.present, legend.childElementCount]);
    const paint = { ...given, family: room.family, isStill: room.isPaper };
    const { cell, places } = board.draw(pictures, room, paint, where);
    if (isCornered) giveCorner(around(), room.top, places[0], cell[1] * slots[0].size[0]);
    mark();
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
    update(pass, where, look, pictures = isSheet(pass, where) ? [] : stepAt(pass, where).pictures) {
      shown = { pass, where, look, pictures };
      draw();
    },
  };
}
