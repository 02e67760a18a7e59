// The settings above a view, and the panel with rarely changed settings and the keyboard shortcuts.
import { makeControls, makeSwitch } from "./controls.js";
import { element, button } from "../dom/element.js";
import { areLettersKept, areLettersOn, turnLetters } from "../model/shortcuts.js";
import { makePopover } from "../dom/popup.js";

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

function makeKeys() {
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

function makeMore(act) {
  const opener = button("Settings", null, "more"),
    panel = makePopover(opener, "more-settings", "More settings"),
    controls = makeControls(panel, act);
  const keys = makeKeys();
  panel.append(keys.element);
  panel.onbeforetoggle = keys.update; // another tab may have switched them
  return {
    button: opener,
    panel,
    update(listed, hasKeys, isWaiting) {
      controls.update(listed, isWaiting);
      keys.element.hidden = !hasKeys;
      opener.hidden = listed.length === 0 && !hasKeys;
      if (opener.hidden) panel.hidePopover();
    },
    send: controls.send,
  };
}

// act(event, value) is called as somebody changes something, in the order of what was done: what is typed goes before what
// is picked next. update(shown, isWaiting) shows the settings; isWaiting says that there are acts without an answer.
export function makeSettings(act) {
  const box = element("div", "settings");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Settings");
  const send = () => {
    line.send();
    more.send();
  };
  const tell = (event, value) => {
    send();
    act(event, value);
  };
  const line = makeControls(box, tell),
    more = makeMore(tell);
  let examples = { options: [] };
  box.append(more.button, more.panel);
  return {
    element: box,
    update({ settings, view }, isWaiting) {
      examples = settings.line.find(({ event }) => event === "example") ?? { options: [] };
      line.update(settings.line, isWaiting);
      more.update(settings.more, view === "pass", isWaiting);
    },
    // The keyboard goes to the sentence, to be typed over.
    type: () => {
      const sentence = box.querySelector(".live .typed");
      sentence.focus();
      sentence.select();
    },
    // The example after the one that is shown, from the last to the first. Returns whether there is one.
    example: () => {
      const { options, value } = examples;
      if (options.length)
        tell("example", options[(options.findIndex(each => each.value === value) + 1) % options.length].value);
      return options.length > 0;
    },
    end: send,
  };
}
