// What a view does on a click, a key or a stroke (select, unfold, set numbers, paint the mask), and focus across a redraw.
import { MOVES, atCell, focusAddress, inspected, isHeads, isSheet, stepAt, unfolded } from "../model/state.js";
import { button, choice, h, makeListeners, oncePerFrame, redraw, write } from "../dom/element.js";

// preview(parts) changes where without writing the address yet. `requests` and `send` reach the server; without one, `alone` is the notice.
export function makeTools({ go, preview, now, send, alone, requests, show }) {
  const { add: onPoint, call: point } = makeListeners();
  const move = (partsFor, change = go) => {
    point(null, null); // the cell under the pointer may disappear
    const { pass, where } = now();
    change(partsFor(pass, where));
  };
  const wantSlopes = () => {
    const { pass, where } = now(),
      asked = focusAddress(pass, where);
    if (pass.document.slopes?.of !== asked)
      requests.begin("slopes", asked, later => later.document.slopes?.of === asked);
  };
  const pick = (name, index) => move((pass, where) => atCell(pass, where, name, index));
  // Once a frame, because a held key repeats faster. Slopes belong to the one number that they were computed for: there a key only points.
  const keyMoved = oncePerFrame((name, index) => {
    if (now().where.ask !== MOVES) move((pass, where) => atCell(pass, where, name, index), preview);
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
    onPoint,
    pick,
    keyMoved,
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
      requests.begin("need", first, later => later.number(name, index) !== undefined);
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
const NEAR = ["scaled", "masked", "attention"]; // the stages in whose steps painting can begin

// `index` is a cell's, or null. toggle returns whether the cell can be painted.
export function makeBrush(tools) {
  const heads = h("span"),
    begin = button("Paint the mask", () => tools.send("paint", true)),
    clear = button("Clear", () => paint(wholeMask(), false)),
    end = button("As it was", () => tools.send("paint", null), "", { title: "The mask before it was painted" }),
    hint = h("span", { class: "said" }),
    name = { role: "group", "aria-label": "Paint the mask" },
    box = h("p", { class: "brush", ...name, hidden: true }, begin, hint, heads, clear, end);
  let shown, stroke;
  let inAll = true;
  const paint = (cells, hides) => tools.send("paint", { head: inAll ? null : shown.where.cell.head, cells, hides });
  const wholeMask = () => {
    const [queries, keys] = shown.pass.stages.get(shown.pass.document.layers[0].mask).shape.slice(-2);
    return Array.from({ length: queries * keys }, (_, position) => [Math.floor(position / keys), position % keys]);
  };
  const isPaintable = slice => Boolean(shown?.pass.document.painted) && MASK.test(slice.name) && slice.side !== "A";
  const hides = (slice, index) => shown.pass.number(slice.name, index) === 1;
  const drawHeads = () => {
    const n = shown.pass.stages.get(shown.pass.document.layers[0].attention).shape[0],
      head = `head ${shown.where.cell.head + 1}`;
    const choose = text => {
      inAll = text === ALL;
      drawHeads();
    };
    redraw(heads, n > 1 ? [choice([ALL, head], inAll ? ALL : head, choose)] : []);
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
    if (!stroke.cells.has(String(position))) cell?.classList.toggle("hidden", stroke.hides); // until the new pass is there
    stroke.cells.set(String(position), position);
  };
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      const { painted, layers } = pass.document,
        isNear = stepAt(pass, where).stages?.some(name => NEAR.includes(name.replace(/_\d+$/, "")));
      box.hidden = Boolean(tools.alone) || isSheet(pass, where) || isHeads(pass, where) || painted === null || !isNear;
      begin.hidden = painted;
      write(hint, HINT + (layers.length > 1 ? " All layers have it." : ""));
      for (const each of [hint, heads, clear, end]) each.hidden = !painted;
      if (!box.hidden && painted) drawHeads();
    },
    press(slice, index, cell) {
      if (!index || !isPaintable(slice)) return;
      stroke = { hides: hides(slice, index), cells: new Map() };
      add(index, cell);
      addEventListener("pointerup", finish);
      addEventListener("pointercancel", finish);
    },
    over(slice, index, cell) {
      if (stroke && index && isPaintable(slice)) add(index, cell);
    },
    toggle(slice, index) {
      if (!isPaintable(slice)) return false;
      paint([index.slice(-2)], hides(slice, index));
      return true;
    },
  };
}

const STOPS =
  '[role="gridcell"][tabindex="0"], [tabindex="0"]:not(:disabled, dfn), button:not(:disabled):not([tabindex="-1"])';

// Runs change(), which redraws the viewer at `root`. If the focused element is gone afterwards, a cell or button near it gets the focus.
export function keepFocusNearby(root, change) {
  const focused = focusedIn(root),
    box = focused?.closest("section, aside, nav");
  change();
  const now = focusedIn(root),
    isVisible = each => Boolean(each?.checkVisibility());
  if (!focused || (isVisible(now) && !now.disabled)) return;
  const boxes = [box, ...root.querySelectorAll(".picture, .sheet, .all-heads, .way")].filter(isVisible),
    stops = boxes.flatMap(each => [...each.querySelectorAll(STOPS)]).filter(isVisible),
    cell = stops.find(each => each.matches('[role="gridcell"]') && each.closest("section") === box);
  (cell ?? stops[0])?.focus({ preventScroll: true });
}

function focusedIn(root) {
  const held = root.getRootNode().activeElement;
  return held && root !== held && root.contains(held) ? held : null;
}
