// The settings above a view, and the panel with rarely changed settings and the keyboard shortcuts.
import { makeControls, makeSwitch } from "./controls.js";
import { button, h, makePopover } from "../dom/element.js";
import { areLettersKept, areLettersOn, turnLetters } from "../model/shortcuts.js";

/** @type {[string[], string][]} */
const KEYS = [
  [["→", "Page Down"], "next step"],
  [["←", "Page Up"], "previous step"],
  [["[", "]"], "previous or next head"],
  [["P"], "present"],
  [["Esc"], "stop presenting"],
  [["B", "."], "black screen, while presenting"],
  [["Page Down"], "in a class: asks, shows its answers, reveals, goes on; Page Up goes back so"],
  [["1", "12"], "a band of the sheet, or a stop of a talk, by its number"],
  [["Home", "End"], "first or last, while presenting"],
  [["E"], "next example sentence"],
  [["W"], "one word or all words"],
  [["H"], "all heads"],
  [["C"], "pin this pass as A, or let it go"],
  [["M"], "add this moment to my talk"],
  [["Q"], "QR code of the page"],
];
const OWN = "own-sentence"; // the source of random parameters, whose sentence the user types
const LABEL = "Single-key shortcuts: letters, digits, dot, [ and ]",
  HELP = "Switch them off if you speak to your computer, or press keys by accident.",
  KEPT = "This browser remembers it.",
  LOST = "This browser keeps nothing, so it holds until you leave this page.";

function makeKeys() {
  const letters = makeSwitch((_event, isOn) => {
    turnLetters(isOn);
    update();
  });
  const update = () =>
    letters.update({ label: LABEL, help: `${HELP} ${areLettersKept() ? KEPT : LOST}`, value: areLettersOn() }, false);
  const listed = KEYS.flatMap(([names, effect]) => {
    const keys = names.flatMap((name, nth) => [nth > 0 && " or ", h("kbd", {}, name)]);
    return [h("dt", {}, keys), h("dd", {}, effect)];
  });
  const content = [h("p", { class: "name" }, "Keyboard"), h("dl", {}, listed), letters.element];
  return { element: h("div", { class: "keys", role: "group", "aria-label": "Keyboard" }, content), update };
}

function makeMore(act) {
  const opener = button("Settings", null, "more"),
    panel = makePopover(opener, "more-settings", "More settings"),
    options = h("div", { class: "options" }),
    controls = makeControls(options, act),
    keys = makeKeys();
  panel.append(options, keys.element);
  panel.onbeforetoggle = keys.update; // another tab may have switched them
  return {
    button: opener,
    panel,
    update(settings, hasKeys, isWaiting) {
      controls.update(settings, isWaiting);
      keys.element.hidden = !hasKeys;
      opener.hidden = settings.length === 0 && !hasKeys;
      if (opener.hidden) panel.hidePopover();
    },
    send: controls.send,
  };
}

// act(event, value) is called in the order of what was done: typed text goes before what is picked next.
export function makeSettings(act) {
  const box = h("div", { class: "settings", role: "group", "aria-label": "Settings" });
  const send = () => {
    line.send();
    more.send();
  };
  const actInOrder = (event, value) => {
    send();
    isTyping = event === "source" && value === OWN;
    act(event, value);
  };
  const type = () => {
    const sentence = box.querySelector(".live .typed");
    sentence.focus();
    sentence.select();
  };
  const line = makeControls(box, actInOrder),
    more = makeMore(actInOrder);
  let isTyping = false, // as soon as the reply brings the sentence's box
    examples = /** @type {{options: {value: string}[], value?: string}} */ ({ options: [] });
  box.append(more.button, more.panel);
  return {
    element: box,
    update({ settings, view }, isWaiting) {
      examples = settings.line.find(({ event }) => event === "example") ?? { options: [] };
      line.update(settings.line, isWaiting);
      more.update(settings.more, view === "pass", isWaiting);
      if (!isTyping || isWaiting) return;
      isTyping = false;
      type();
    },
    // Focuses the sentence, to be typed over.
    type,
    // Picks the example after the one that is shown, from the last to the first. Returns whether there is one.
    example: () => {
      const { options, value } = examples,
        next = (options.findIndex(each => each.value === value) + 1) % options.length;
      if (options.length) actInOrder("example", options[next].value);
      return options.length > 0;
    },
    end: send,
  };
}
