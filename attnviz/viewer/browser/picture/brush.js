// The brush: cells of the mask are hidden, or shown again, by a click, a stroke over several, or Space; in a head or in all.
import { button, choice } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { isSheet, stepAt } from "../scene/state.js";

const ALL = "all heads",
  MASK = /^mask(?:_\d+)?$/; // of all layers, or of one: it is painted in all
const HINT = "Click or drag cells of the mask, or press Space, to hide or show a key.";
const NEAR = ["scaled", "masked", "attention"]; // the stages of whose steps one may begin to paint

// Returns {element, update(pass, where, look), press(slot, index), over(slot, index), toggle(slot, index)}; an index is that of a
// cell, or null. toggle says whether it was one to paint.
export function makeBrush(tools) {
  const box = element("p", "brush"),
    heads = element("span");
  const begin = button("Paint the mask", () => tools.send("paint", true)),
    clear = button("Clear", () => paint(everywhere(), false)),
    end = button("As it was", () => tools.send("paint", null)),
    hint = element("span", "said");
  end.title = "The mask before it was painted";
  box.setAttribute("aria-label", "Paint the mask");
  box.setAttribute("role", "group");
  box.append(begin, hint, heads, clear, end);
  box.hidden = true;
  let shown = null,
    inAll = true,
    stroke = null;
  const headNow = () => (inAll ? null : shown.where.cell.head);
  const paint = (cells, hides) => tools.send("paint", { head: headNow(), cells, hides });
  const everywhere = () => {
    const [queries, keys] = shown.pass.stages.get(shown.pass.document.layers[0].mask).shape.slice(-2);
    return Array.from({ length: queries * keys }, (_, place) => [Math.floor(place / keys), place % keys]);
  };
  const isPaintable = slot => Boolean(shown?.pass.document.painted) && MASK.test(slot.name) && slot.side !== "A";
  const hides = (slot, index) => shown.pass.number(slot.name, index) === 1;
  const drawHeads = () => {
    const n = shown.pass.stages.get(shown.pass.document.layers[0].attention).shape[0],
      head = `head ${shown.where.cell.head + 1}`;
    redraw(
      heads,
      n > 1
        ? [
            choice([ALL, head], inAll ? ALL : head, text => {
              inAll = text === ALL;
              drawHeads();
            }),
          ]
        : [],
    );
  };
  const finish = () => {
    removeEventListener("pointerup", finish);
    removeEventListener("pointercancel", finish);
    const done = stroke;
    stroke = null;
    if (done) paint([...done.cells.values()], done.hides);
  };
  const add = (index, cell) => {
    const place = index.slice(-2);
    if (!stroke.cells.has(String(place))) cell?.classList.toggle("hidden", stroke.hides); // until the pass is there
    stroke.cells.set(String(place), place);
  };
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      const { painted } = pass.document,
        stages = stepAt(pass, where).stages ?? [];
      box.hidden =
        Boolean(tools.alone) ||
        isSheet(pass, where) ||
        painted === null ||
        !stages.some(name => NEAR.includes(name.replace(/_\d+$/, "")));
      begin.hidden = painted;
      write(hint, HINT + (pass.document.layers.length > 1 ? " All layers have it." : ""));
      for (const each of [hint, heads, clear, end]) each.hidden = !painted;
      if (!box.hidden && painted) drawHeads();
    },
    press(slot, index, cell) {
      if (!index || !isPaintable(slot)) return;
      stroke = { hides: hides(slot, index), cells: new Map() };
      add(index, cell);
      addEventListener("pointerup", finish);
      addEventListener("pointercancel", finish);
    },
    over(slot, index, cell) {
      if (stroke && index && isPaintable(slot)) add(index, cell);
    },
    toggle(slot, index) {
      if (!isPaintable(slot)) return false;
      paint([index.slice(-2)], hides(slot, index));
      return true;
    },
  };
}
