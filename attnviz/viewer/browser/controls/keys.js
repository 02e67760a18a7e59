// Keys: what they do in the viewer, and a switch for those that are single characters.
import { makeSwitch } from "./control.js";
import { element } from "../elements/element.js";
import { areLettersOn, turnLetters } from "../scene/letters.js";

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
const SWITCH = {
  label: "Single-key shortcuts: letters, digits, dot, [ and ]",
  help: "Switch them off if you speak to your computer, or press keys by accident. This browser remembers it.",
};

export function makeKeys() {
  const box = element("div", "keys"),
    list = element("dl"),
    letters = makeSwitch((_event, isOn) => turnLetters(isOn));
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Keyboard");
  list.append(...KEYS.flatMap(([names, does]) => [drawNames(names), element("dd", "", does)]));
  box.append(element("p", "name", "Keyboard"), list, letters.element);
  return {
    element: box,
    update: () => letters.update({ ...SWITCH, value: areLettersOn() }, false),
  };
}

function drawNames(names) {
  const line = element("dt");
  line.append(...names.flatMap((name, place) => [...(place ? [" or "] : []), element("kbd", "", name)]));
  return line;
}
