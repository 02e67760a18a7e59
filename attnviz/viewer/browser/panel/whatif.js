// What if: the numbers that were set by hand, what they moved, and how to undo them.
import { button, choice } from "../elements/button.js";
import { element } from "../elements/element.js";
import { stepAt } from "../scene/state.js";

const NUMBERS = "the numbers";
const MOVED = "by how much they moved";

// The changes as a list; tools.show(byHowMuch) switches the pictures to what moved.
/** @param {Pass} pass @param {Where} where */
export function drawWhatIf(pass, where, byHowMuch, tools) {
  const { changes, moved } = pass.document;
  const box = element("div", "what-if"),
    line = element("p", "changed");
  if (!changes.length) {
    box.append(
      element(
        "p",
        "",
        "Nothing is set by hand yet: give this number another value, and see which later numbers change.",
      ),
    );
    return box;
  }
  line.append(undoAll(tools));
  const list = listOf(
    "changes",
    changes.map(({ text }, place) => [`${text} `, button("Undo", () => tools.send("drop", place))]),
  );
  const consequences = listOf(
    "moved",
    moved.map(({ stage, text }) => [button(text, () => tools.visit(stage), "link")]),
  );
  const { stages } = stepAt(pass, where); // none on the first and the last step, which show the whole pass
  const isBefore = byHowMuch && stages.length > 0 && !stages.some(stage => moved.some(each => each.stage === stage));
  box.append(list, line, drawSwitch(byHowMuch, tools));
  if (isBefore) box.append(element("p", "", "Nothing of this step moved."));
  box.append(consequences);
  return box;
}

// One line where something else is asked, so that nobody takes a changed pass for the settings' own.
/** @param {Pass} pass */
export function drawChanged({ document: { changes } }, tools) {
  const count = changes.length === 1 ? "1 number is" : `${changes.length} numbers are`;
  const line = element("p", "changed", `${count} set by hand. `);
  line.append(
    button("See what moved", () => tools.ask("whatif")),
    undoAll(tools),
  );
  return line;
}

function undoAll({ send }) {
  return button("Undo all", () => send("reset", true));
}

function listOf(className, items) {
  const list = element("ul", className);
  list.append(
    ...items.map(parts => {
      const item = element("li");
      item.append(...parts);
      return item;
    }),
  );
  return list;
}

function drawSwitch(byHowMuch, { show }) {
  const line = element("p", "switch", "The pictures show ");
  line.append(choice([NUMBERS, MOVED], byHowMuch ? MOVED : NUMBERS, text => show(text === MOVED)));
  return line;
}
