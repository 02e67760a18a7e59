// Controls: those of a box, each drawn by its kind and kept as long as there is one for the same event.
import { makeChoice, makeNote, makePress, makeSwitch } from "./control.js";
import { makePills } from "./pills.js";
import { makeTextbox } from "./textbox.js";

const KINDS = {
  choice: makeChoice,
  text: makeTextbox,
  button: makePress,
  pills: makePills,
  switch: makeSwitch,
  note: makeNote,
};

// They stand before whatever else is in the box. Those that stay are never moved, as that would cost them the keyboard.
export function makeControls(box, act) {
  let made = new Map(); // key -> control
  return {
    update(controls, isWaiting) {
      const before = made,
        keys = keysOf(controls);
      made = new Map(keys.map((key, place) => [key, before.get(key) ?? KINDS[controls[place].kind](act)]));
      for (const [key, each] of before) if (!made.has(key)) takeAway(each);
      for (const [place, each] of [...made.values()].entries()) {
        const current = box.children[place] ?? null;
        if (current !== each.element) box.insertBefore(each.element, current);
        each.update(controls[place], isWaiting);
      }
    },
    // Text that was typed and not sent yet.
    send: () => {
      for (const each of made.values()) each.send?.();
    },
  };
}

function takeAway(control) {
  control.send?.();
  control.element.remove();
}

// The kind and the event of each, and how many of the same came before: words of all kinds have one event.
function keysOf(controls) {
  const counts = new Map();
  return controls.map(({ kind, event }) => {
    const name = `${kind} ${event}`,
      count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return `${name} ${count}`;
  });
}
