// What a class writes: on the projector what its speaker shows, and for the speaker alone all of it, to choose from.
import { button, h, redraw } from "../dom/element.js";
import { areLettersOn } from "../model/shortcuts.js";

const HIDE = "Hide texts (H)";
const FEW = 4, // texts that stand in large letters
  SOME = 12;

/** @typedef {import("../../generated/contract").Written} Written */

// The texts that are shown, as large as they fit.
/** @param {Written[]} texts */
export function drawShownTexts(texts) {
  const shown = texts.filter(each => each.isShown),
    size = shown.length <= FEW ? "few" : shown.length <= SOME ? "some" : "many",
    items = shown.map(({ text }) => h("li", {}, h("bdi", {}, text)));
  if (items.length) return h("ul", { class: `class-texts ${size}`, tabIndex: 0, "aria-label": "Answers" }, items);
  return h(
    "p",
    { class: "none" },
    texts.length ? `${texts.length} have answered. Nothing is shown yet.` : "No answers yet.",
  );
}

const drawVotes = count => h("span", { class: "votes", title: "votes" }, `▲ ${count}`);

// The listeners' questions that are shown, most votes first.
/** @param {Written[]} wondered */
export function drawShownQuestions(wondered) {
  const items = wondered
    .filter(each => each.isShown)
    .map(({ text, votes }) => h("li", {}, h("bdi", {}, text), drawVotes(votes)));
  return h("ul", { class: "class-wondered", "aria-label": "Questions from the class" }, items);
}

// How many texts are hidden, and how to show and hide them; for the bar of a page that everybody sees. show(ids, isShown) shows texts or hides
// them; without ids all answers are shown, or all texts hidden.
export function textButtons({ texts, wondered }, show) {
  const hidden = texts.filter(each => !each.isShown),
    isAnyShown = [...texts, ...wondered].some(each => each.isShown);
  return [
    hidden.length > 0 && button("Show the next", () => show([hidden[0].id], true)),
    hidden.length > 0 && button(`Show all ${texts.length}`, () => show(null, true)),
    isAnyShown && button(HIDE, () => show(null, false)),
  ].filter(Boolean);
}

// The key that hides every text at once, from wherever the keyboard is; hide() does. Returns a function that ends it.
export function onHideKey(document, isAnyShown, hide) {
  const listen = event => {
    const { key, ctrlKey, altKey, metaKey, target } = event,
      isTyping = target.closest?.("input, textarea, select");
    if (key.toLowerCase() !== "h" || ctrlKey || altKey || metaKey || isTyping || !areLettersOn() || !isAnyShown())
      return;
    event.preventDefault();
    event.stopPropagation();
    hide();
  };
  document.addEventListener("keydown", listen, true);
  return () => document.removeEventListener("keydown", listen, true);
}

// All texts of a class, for the speaker alone: act(command) sends a command to the room.
/** @param {(command: object) => void} act */
export function makeTextLists(act) {
  const show = (ids, isShown) => act({ do: "texts", ids, isShown }),
    answers = makeTextList("Answers in words", show),
    questions = makeTextList("Questions from the class", show),
    allow = button(""),
    hide = button("Hide every text", () => show(null, false)),
    all = button("Show all answers", () => show(null, true)),
    actionBar = h("span", { class: "class-acts" }, all, hide, allow),
    box = h("section", { class: "class-written", "aria-label": "What the class writes" });
  box.append(answers.element, questions.element, actionBar);
  return {
    element: box,
    // `isHidden` hides the lists, where the audience sees the page.
    /** @param {{ texts: Written[], wondered: Written[], takesQuestions: boolean }} classTexts */
    update({ texts, wondered, takesQuestions }, { isHidden = false } = {}) {
      answers.update(isHidden ? [] : texts);
      questions.update(isHidden ? [] : wondered);
      all.hidden = texts.every(each => each.isShown);
      hide.hidden = ![...texts, ...wondered].some(each => each.isShown);
      allow.textContent = takesQuestions ? "Take no more questions" : "Take questions from the class";
      allow.onclick = () => act({ do: "allow", isOn: !takesQuestions });
    },
  };
}

function makeTextList(title, show) {
  const list = h("ul"),
    box = h("section", {}, h("h2", {}, title), list);
  return {
    element: box,
    update(texts) {
      box.hidden = !texts.length;
      redraw(list, texts.map(drawLine));
    },
  };
  function drawLine({ id, text, isShown, votes }) {
    const showing = button(isShown ? "Hide" : "Show", () => show([id], !isShown));
    showing.setAttribute("aria-label", `${isShown ? "Hide" : "Show"} “${text}”`);
    showing.dataset.act = `text ${id}`;
    return h("li", { class: isShown ? "shown" : "" }, h("bdi", {}, text), votes > 0 && drawVotes(votes), showing);
  }
}
