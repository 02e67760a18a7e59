// The menu of a class: its code, another device of the speaker's, what isn't understood, the counts to keep, and its end.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { makePopover } from "../elements/popover.js";
import { saveFile } from "../viewer/download.js";

// Returns {button, panel, update(place)}.
export function makeClassMenu(speaker, showCode) {
  const opener = button("Class", null),
    panel = makePopover(opener, "class-menu", "The class"),
    hand = element("p", "class-hand"),
    pointed = element("ul", "class-pointed");
  hand.setAttribute("role", "status");
  const handed = async () => {
    const given = await speaker.hand();
    if (given) {
      const strong = element("strong", "", given.code);
      hand.replaceChildren("On the other device, open this site with ", strong, " as its path, within five minutes.");
    }
  };
  const save = async () => {
    const text = await speaker.counts();
    if (typeof text === "string") saveFile(text, "attnviz_class.csv", "text/csv");
  };
  panel.append(
    button("QR code", () => {
      panel.hidePopover();
      showCode();
    }),
    button("Another device of mine", handed),
    hand,
    button("Save the counts", save),
    button("End the class", () => {
      panel.hidePopover();
      speaker.end();
    }),
    element("h3", "", "Not understood"),
    pointed,
  );
  return {
    button: opener,
    panel,
    update: place => {
      const cells = speaker.now?.audience.pointed ?? [];
      write(opener, cells.length ? `Class · ${cells.reduce((sum, { count }) => sum + count, 0)} ?` : "Class");
      redraw(
        pointed,
        cells.length
          ? cells.map(each => element("li", "", `${each.count} × ${nameOf(each, place)}`))
          : [element("li", "", "Nobody has pointed at a number.")],
      );
    },
  };
}

// A number that was pointed at: by its words where its pass is on the screen.
function nameOf({ cell, at }, place) {
  const number = place?.pass?.read(cell);
  if (!number) return `${cell} at ${at}`;
  const { title, axes } = place.pass.stages.get(number.name);
  return `${title}: ${axes.map(({ labels }, nth) => labels[number.index[nth]]).join(", ")}`;
}
