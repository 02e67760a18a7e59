// Tools: what a view may do when someone points, clicks or types in it.
import { askedOf } from "../scene/looks.js";
import { oncePerFrame } from "../elements/oncePerFrame.js";
import { MOVES, atCell, inspected, unfolded } from "../scene/state.js";

// now() is {pass, where}; go(parts) leads elsewhere, and through(parts) to where one may not stay; errands and send reach the
// server; where there is none, `alone` says so.
export function makeTools({ go, through, now, send, alone, errands, show }) {
  const listeners = new Set();
  const point = (name, index) => {
    for (const listener of listeners) listener(name, index);
  };
  const move = (of, lead = go) => {
    point(null, null); // what was pointed at may be gone
    const { pass, where } = now();
    lead(of(pass, where));
  };
  const wantSlopes = () => {
    const { pass, where } = now(),
      of = askedOf(pass, where);
    if (pass.document.slopes?.of !== of) errands.begin("slopes", of, later => later.document.slopes?.of === of);
  };
  const pick = (name, index) => move((pass, where) => atCell(pass, where, name, index));
  // Where a key leads one is selected, in the next frame, as keys that are held come faster. Slopes are of the one number that
  // was asked about: there a key only points.
  const arrive = oncePerFrame((name, index) => {
    if (now().where.ask !== MOVES) move((pass, where) => atCell(pass, where, name, index), through);
  });
  // A number set by hand; null is -inf, which JSON has no number for.
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
    back: place =>
      move((pass, { cell, trail }) => {
        const { name, index } = pass.read(trail[place]);
        return { cell: pass.selectionAt(name, index, cell), trail: trail.slice(0, place + 1) };
      }),
    visit: stage => move(pass => ({ step: pass.stepOf(stage).id })),
    ask: question => move(() => ({ ask: question })),
    wantSlopes,
    train: at => send("checkpoint", at),
    // A number that was not sent with the document, and all those that come with it.
    want: (name, index) => {
      const first = now().pass.firstSentWith(name, index);
      errands.begin("need", first, later => later.number(name, index) !== undefined);
    },
    set,
    wantFlips: (name, index) => send("flip", now().pass.address(name, index)),
    // The number that turns a row over is set, beside the pass as it was; one looks at the row, where the flip shows.
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
