// What a view can do on a click, a key or a stroke: select, unfold, set numbers, paint the mask.
import { isSheet, atCell, inspected, MOVES, stepAt, unfolded } from "../model/state.js";
import { askedOf } from "../model/looks.js";
import { button, choice, element, redraw, write } from "../dom/element.js";
import { oncePerFrame } from "../dom/timing.js";

// now() returns {pass, where}; go(parts) changes where the user looks, through(parts) does so in passing, without writing the address
// yet. `errands` and `send` reach the server; without a server, `alone` is the notice.
export function makeTools({ go, through, now, send, alone, errands, show }) {
  const listeners = new Set();
  const point = (name, index) => {
    for (const listener of listeners) listener(name, index);
  };
  const move = (of, lead = go) => {
    point(null, null); // the cell under the pointer may disappear
    const { pass, where } = now();
    lead(of(pass, where));
  };
  const wantSlopes = () => {
    const { pass, where } = now(),
      of = askedOf(pass, where);
    if (pass.document.slopes?.of !== of) errands.begin("slopes", of, later => later.document.slopes?.of === of);
  };
  const pick = (name, index) => move((pass, where) => atCell(pass, where, name, index));
  // Selects the cell that an arrow key led to, once a frame, because a held key repeats faster. Slopes belong to the one number that
  // they were computed for: there a key only points.
  const arrive = oncePerFrame((name, index) => {
    if (now().where.ask !== MOVES) move((pass, where) => atCell(pass, where, name, index), through);
  });
  // Sets a number by hand. null stands for -inf, which JSON can't hold.
  const set = ({ name, index }, value) => {
    send("change", { cell: now().pass.address(name, index), value: value === -Infinity ? null : value });
  };
  return {
    go,
    send,
    alone,
    show,
    point,
    onPoint: listener => listeners.add(listener),
    pick,
    arrive,
    inspect: (name, index) => move((pass, where) => inspected(pass, where, name, index)),
    unfold: ({ name, index }) => move((pass, where) => unfolded(pass, where, name, index)),
    back: position =>
      move((pass, { cell, trail }) => {
        const { name, index } = pass.read(trail[position]);
        return { cell: pass.selectionAt(name, index, cell), trail: trail.slice(0, position + 1) };
      }),
    visit: stage => move(pass => ({ step: pass.stepOf(stage).id })),
    ask: question => move(() => ({ ask: question })),
    wantSlopes,
    train: at => send("checkpoint", at),
    // Requests a number that was not sent with the document.
    want: (name, index) => {
      const first = now().pass.firstSentWith(name, index);
      errands.begin("need", first, later => later.number(name, index) !== undefined);
    },
    set,
    wantFlips: (name, index) => send("flip", now().pass.address(name, index)),
    // Sets the number that flips a row, keeps the pass before as A, and selects the row, where the flip shows.
    setFlip: (name, index, value) => {
      send("pin", true);
      move((pass, { cell }) => {
        const target = pass.read(pass.document.flips.of);
        return { cell: pass.selectionAt(target.name, target.index, cell) };
      });
      set({ name, index }, value);
    },
  };
}

const ALL = "all heads",
  MASK = /^mask(?:_\d+)?$/; // of all layers, or of one: it is painted in all
const HINT = "Click or drag cells of the mask, or press Space, to hide or show a key.";
const NEAR = ["scaled", "masked", "attention"]; // the stages of whose steps one may begin to paint

// Returns {element, update(pass, where, look), press(slot, index), over(slot, index), toggle(slot, index)}; `index` is a cell's, or
// null. toggle returns whether the cell can be painted.
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
    return Array.from({ length: queries * keys }, (_, position) => [Math.floor(position / keys), position % keys]);
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
    const position = index.slice(-2);
    if (!stroke.cells.has(String(position))) cell?.classList.toggle("hidden", stroke.hides); // until the pass is there
    stroke.cells.set(String(position), position);
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
