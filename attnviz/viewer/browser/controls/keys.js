// Keys: what they do in the viewer, and a switch for those that are single characters.
import { makeSwitch } from "./control.js";
import { element } from "../elements/element.js";
import { areLettersKept, areLettersOn, turnLetters } from "../scene/letters.js";

const KEYS = [
  [["→", "Page Down"], "next step"],
  [["←", "Page Up"], "previous step"],
  [["[", "]"], "previous or next head"],
  [["P"], "present"],
  [["Esc"], "stop presenting"],
  [["B", "."], "black screen, while presenting"],
  [["1", "12"], "a band of the sheet, or a stop of a talk, by its number"],
  [["Home", "End"], "first or last, while presenting"],
  [["E"], "next example sentence"],
  [["W"], "one word or all words"],
  [["C"], "pin this pass as A, or let it go"],
  [["M"], "add this moment to a talk"],
  [["Q"], "QR code of the page"],
];
const LABEL = "Single-key shortcuts: letters, digits, dot, [ and ]",
  HELP = "Switch them off if you speak to your computer, or press keys by accident.",
  KEPT = "This browser remembers it.",
  LOST = "This browser keeps nothing, so it holds until you leave this page.";

export function makeKeys() {
  const box = element("div", "keys"),
    list = element("dl"),
    letters = makeSwitch((_event, isOn) => {
      turnLetters(isOn);
      update();
    });
  const update = () =>
    letters.update({ label: LABEL, help: `${HELP} ${areLettersKept() ? KEPT : LOST}`, value: areLettersOn() }, false);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Keyboard");
  list.append(...KEYS.flatMap(([names, does]) => [drawNames(names), element("dd", "", does)]));
  box.append(element("p", "name", "Keyboard"), list, letters.element);
  return { element: box, update };
}

function drawNames(names) {
  const line = element("dt");
  line.append(...names.flatMap((name, place) => [...(place ? [" or "] : []), element("kbd", "", name)]));
  return line;
}
