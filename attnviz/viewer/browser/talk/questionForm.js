// The form for a moment's question: one that its pass answers, or the lecturer's own.
import { button, h, redraw, write } from "../dom/element.js";
import { NO_NUMBER } from "../lesson/gaps.js";
import { answerOf } from "../lesson/question.js";
import { plainText } from "../lesson/sentence.js";
import { numberIn } from "../model/numeral.js";

const NONE = "none",
  PRESENT = "present"; // one that isn't offered, as of a lesson's moment
const MOST_OPTIONS = 10, // as in lessons/questions/own.py
  LONGEST_OPTION = 200,
  LONGEST_UNIT = 40,
  LARGEST = 1e12;
const OWN = {
  "own-choice": ["Your own: a choice", { prompt: "", options: [{ text: "" }, { text: "" }] }],
  "own-number": ["Your own: a number", { prompt: "" }],
  "own-words": ["Your own: in words", { prompt: "" }],
};
const OPEN = {
  "own-choice": "No answer is ticked: an opinion is asked.",
  "own-number": "No right number: any is an answer.",
  "own-words": "Up to 140 characters from each. The projector shows them only when you do.",
};

// What a question lacks, or that no answer to it is right.
function noteOn({ kind, prompt, options = [], right = null }) {
  const offered = options.filter(({ text }) => text.trim()),
    ticked = offered.filter(each => each.right);
  if (!prompt.trim()) return "Type what you ask.";
  if (kind === "own-choice" && offered.length < 2) return "A choice has at least two answers: type them.";
  if (offered.length && ticked.length === offered.length)
    return "All answers are ticked, so nobody could be wrong: tick fewer, or none.";
  return ticked.length || right !== null ? "" : OPEN[kind];
}

export const isOwn = ask => Boolean(ask && ask.kind in OWN);

/** edit(parts, what) changes the moment; errorText(error) is what an error says. */
export function makeQuestionForm(edit, requests, errorText) {
  const answer = h("p", { class: "answer", role: "status" }),
    prompt = h("textarea", { rows: 2, maxLength: 3000, value: "" }),
    question = h("select"),
    sure = h("input", { type: "checkbox" }),
    options = makeOptions(parts => editAsk(parts, "options")),
    number = makeNumber(editAsk, text => write(answer, text)),
    labelled = (name, control) => h("label", {}, h("span", {}, name), control),
    prompted = labelled("Asked as", prompt),
    confident = h("label", { class: "tick" }, sure, h("span", {}, "Also ask how sure they are")),
    box = h("div", { class: "question-form" }, labelled("Question", question), prompted, options.element);
  let now = /** @type {any} */ (null), // the moment
    computed = "", // the prompt as a class will see it
    suggestions = /** @type {any[]} */ ([]), // questions for the address `offeredAt`
    offeredAt = /** @type {string | null} */ (null);
  box.append(number.element, answer, confident);
  function editAsk(parts, what) {
    const all = Object.entries({ ...now.ask, ...parts });
    edit({ ask: Object.fromEntries(all.filter(([, part]) => part !== null)) }, what);
  }
  prompt.oninput = () => {
    if (isOwn(now.ask)) editAsk({ prompt: prompt.value }, "prompt");
    else edit({ asked_as: prompt.value === computed ? "" : prompt.value }, "prompt");
  };
  prompt.onchange = () => check(); // which brings back what is computed, where nothing is left
  sure.onchange = () => edit({ confidence: sure.checked });
  question.onchange = () => {
    const { value } = question;
    if (value === PRESENT) return;
    const ask = value === NONE ? null : value in OWN ? { kind: value, ...OWN[value][1] } : suggestions[value].ask;
    edit({ ask, asked_as: "", ...(!ask && { confidence: false }) });
    check();
    if (isOwn(ask)) prompt.focus();
  };
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const isOffered = ({ ask }) => isSame({ ...ask, prompt: "" }, { ...now.ask, prompt: "" });
  function drawQuestions() {
    const option = (label, value) => h("option", { value }, label),
      index = isOwn(now.ask) ? -1 : suggestions.findIndex(isOffered),
      offered = suggestions.map(({ ask }, nth) => option(ask.prompt, String(nth))),
      own = Object.entries(OWN).map(([kind, [label]]) => option(label, kind)),
      isPresent = now.ask && !isOwn(now.ask) && index < 0;
    question.replaceChildren(
      option("No question", NONE),
      ...(isPresent ? [option(promptNow() || "The question of this moment", PRESENT)] : []),
      ...offered,
      ...own,
    );
    question.value = !now.ask ? NONE : isOwn(now.ask) ? now.ask.kind : isPresent ? PRESENT : String(index);
  }
  const promptNow = () => (isOwn(now.ask) ? now.ask.prompt : now.asked_as || computed);
  function drawPrompt() {
    prompted.hidden = !now.ask;
    if (isFocused(prompt) && !isOwn(now.ask)) return; // an empty box is being written anew
    if (prompt.value !== promptNow()) prompt.value = promptNow();
  }
  async function fetchQuestions() {
    const { at } = now;
    offeredAt = at;
    suggestions = [];
    const questions = await requests.questions(now).catch(() => []);
    if (now.at !== at) return;
    suggestions = questions;
    drawQuestions();
  }
  // Shows the answer that the pass gives, or why it has none, and the prompt with its numbers.
  async function check() {
    const moment = now;
    if (isOwn(now.ask)) return;
    write(answer, "");
    if (moment.slide) return;
    try {
      const { question: resolved } = await requests.moment(moment);
      if (now !== moment) return;
      if (resolved && !moment.asked_as) computed = plainText(resolved.prompt);
      write(answer, resolved ? `The answer: ${answerOf(resolved)}.` : "");
    } catch (error) {
      if (now === moment) write(answer, errorText(error));
    }
    if (now !== moment) return;
    drawQuestions();
    drawPrompt();
  }
  return {
    element: box,
    check,
    update(moment) {
      const isElsewhere = now?.at !== moment.at || Boolean(now?.slide) !== Boolean(moment.slide),
        isOther = isElsewhere || !isSame(now?.ask ?? null, moment.ask ?? null);
      if (isOther && !isOwn(moment.ask)) computed = "";
      now = moment;
      drawPrompt();
      confident.hidden = !moment.ask;
      sure.checked = Boolean(moment.confidence);
      options.update(moment.ask);
      number.update(moment.ask);
      if (moment.slide) {
        suggestions = [];
        offeredAt = null;
      } else if (offeredAt !== moment.at) fetchQuestions();
      if (isOwn(moment.ask)) write(answer, noteOn(moment.ask)); // at once: a line that comes late moves what is about to be clicked
      if (!isOther) return;
      drawQuestions();
      const { activeElement } = box.getRootNode();
      if (!box.contains(activeElement) || activeElement === question) check();
    },
  };
}

const isFocused = control => control.getRootNode().activeElement === control;

// The answers to choose from, each with a tick if it is right.
function makeOptions(edit) {
  const rows = h("ol"),
    adding = button("Add an answer", () => {
      edit({ options: [...now, { text: "" }] });
      rows.lastChild.children[1].focus();
    }),
    hint = h("p", { class: "note" }, "Tick what is right."),
    box = h("fieldset", { class: "own-options" }, h("legend", {}, "Answers"), rows, adding, hint);
  let now = /** @type {{ text: string, right?: boolean }[]} */ ([]);
  const changed = (index, parts) => {
    const { right, ...rest } = { ...now[index], ...parts };
    edit({ options: now.with(index, right ? { ...rest, right } : rest) });
  };
  function drawRow(index) {
    const right = h("input", { type: "checkbox", "aria-label": `Answer ${index + 1} is right` }),
      text = h("input", { type: "text", maxLength: LONGEST_OPTION, "aria-label": `Answer ${index + 1}` }),
      removing = button("✕", () => edit({ options: now.toSpliced(index, 1) }), "", {
        ariaLabel: `Remove answer ${index + 1}`,
      });
    right.onchange = () => changed(index, { right: right.checked });
    text.oninput = () => changed(index, { text: text.value });
    return h("li", {}, right, text, removing);
  }
  return {
    element: box,
    update(ask) {
      box.hidden = ask?.kind !== "own-choice";
      if (box.hidden) return;
      now = ask.options;
      if (rows.children.length !== now.length)
        redraw(
          rows,
          now.map((_, index) => drawRow(index)),
        );
      for (const [index, { text, right = false }] of now.entries()) {
        const [tick, typed, removing] = rows.children[index].children;
        tick.checked = right;
        if (typed.value !== text) typed.value = text;
        removing.disabled = now.length <= 2;
      }
      adding.disabled = now.length >= MOST_OPTIONS;
    },
  };
}

// The right number, how far off counts as right, and the unit.
function makeNumber(edit, report) {
  const field = (name, maxLength, least = /** @type {number | null} */ (null)) => {
    const isNumber = least !== null;
    const input = h("input", {
      type: "text",
      inputMode: isNumber ? "decimal" : "text",
      maxLength,
      autocomplete: "off",
    });
    let seen = /** @type {any} */ (null);
    input.oninput = () => {
      const { value } = input,
        number = value.trim() ? numberIn(value, false) : null,
        isNone = isNumber && value.trim() && !(number !== null && number >= least && number <= LARGEST);
      report(isNone ? NO_NUMBER : "");
      if (isNone) return;
      seen = isNumber ? number : value;
      edit({ [name]: seen === "" ? null : seen }, name);
    };
    // What is typed and is no number yet stays, until the talk has another one.
    const update = value => {
      if (value === seen) return;
      seen = value;
      input.value = value === null ? "" : String(value);
    };
    return { input, update };
  };
  const right = field("right", 30, -LARGEST),
    tolerance = field("tolerance", 30, 0),
    unit = field("unit", LONGEST_UNIT),
    labelled = (name, { input }) => h("label", {}, h("span", {}, name), input),
    box = h(
      "div",
      { class: "own-number" },
      labelled("Right number, if any", right),
      labelled("May be off by", tolerance),
      labelled("Unit", unit),
    );
  return {
    element: box,
    update(ask) {
      box.hidden = ask?.kind !== "own-number";
      if (box.hidden) return;
      right.update(ask.right ?? null);
      tolerance.update(ask.tolerance ?? null);
      unit.update(ask.unit ?? null);
    },
  };
}
