// What if: the numbers that were set by hand, what they moved, and how to undo them.
import { button, choice } from "./button.js";
import { element } from "./element.js";

const NUMBERS = "the numbers";
const MOVED = "by how much they moved";

// The changes as a list; tools.show(byHowMuch) switches the pictures to what moved.
export function drawWhatIf(pass, where, byHowMuch, tools) {
  const { changes, moved } = pass.document;
  const box = element("div", "what-if");
  box.append(drawMute(where, tools));
  if (!changes.length) {
    box.append(element("p", "", "Nothing is set by hand yet: give this number another value, and see what follows move."));
    return box;
  }
  const list = element("ul", "changes");
  list.append(...changes.map(({ text }, place) => {
    const item = element("li", "", `${text} `);
    item.append(button("Undo", () => tools.send("drop", place)));
    return item;
  }));
  const consequences = element("ul", "moved");
  consequences.append(...moved.map(({ stage, text }) => {
    const item = element("li");
    item.append(button(text, () => tools.visit(stage), "link"));
    return item;
  }));
  box.append(list, button("Undo all", () => tools.send("reset", true)), drawSwitch(byHowMuch, tools), consequences);
  return box;
}

function drawMute({ cell: { head } }, { send }) {
  return button(`Mute head ${head + 1}`, () => send("mute", head));
}

function drawSwitch(byHowMuch, { show }) {
  const line = element("p", "switch", "The pictures show ");
  line.append(choice([NUMBERS, MOVED], byHowMuch ? MOVED : NUMBERS, (text) => show(text === MOVED)));
  return line;
}
