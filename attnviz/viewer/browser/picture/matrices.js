// Matrices: one on the plane for each slot of pictures, and what is outlined in them. They stay while slots have the same sizes.
import { element } from "../elements/element.js";
import { marksOf } from "./marks.js";
import { makeMatrix } from "./matrix.js";
import { whenOther } from "../elements/whenOther.js";

// `acts` are point(slot, place or null) and pick(slot, place).
export function makeMatrices(acts) {
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
    draw(drawn, places, fitted, paintOf) {
      slots = drawn;
      plane.classList.toggle("unwritten", !fitted.written);
      plane.classList.toggle("short", !fitted.titled);
      Object.assign(plane.style, { width: `${fitted.width}px`, height: `${fitted.height}px` });
      matrices.forEach((matrix, i) => {
        matrix.update(slots[i], { ...fitted, ...places[i] }, paintOf(slots[i]));
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
        beside = inA && { name: cell.name, index: inA };
      slots.forEach((slot, i) => {
        if (slot.side === "A") {
          matrices[i].mark(beside ? marksOf(slot, beside, pair.pass.cellsOf(beside.name, beside.index), []) : [], null);
          return;
        }
        const marks = isPointed || look.reveal !== "nothing" ? marksOf(slot, cell, sources, term) : [];
        matrices[i].mark(marks, isPointed ? null : slot.placeOf(pass.indexAt(slot.name, where.cell)));
      });
    },
  };
}
