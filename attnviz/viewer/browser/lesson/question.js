// Questions: options, numbers and texts as answers, the verdict on an answer, and its working.
import { numberIn, short } from "../model/numeral.js";
import { button, h, rovingFocus, setTabStop, table, write } from "../dom/element.js";
import { typesetInPieces } from "../dom/runs.js";
import { NO_NUMBER, answerOfGaps, makeGaps, verdictOnGaps } from "./gaps.js";
import { INERT } from "./sentence.js";

// The verdict as paragraphs of runs. `answer` is a candidate's index, a number, or the first number in each gap; null without an answer.
export function verdictOn(question, answer, after = []) {
  if (question.kind === "gaps") return verdictOnGaps(question, answer, after);
  if (!hasRight(question))
    return { isRight: null, sentences: [drawOpinion(question, answer), after].filter(each => each.length) };
  const judged = question.kind === "fill" ? judgeNumber(question, answer) : judgeCandidate(question, answer),
    { isRight, answered, right, feedback } = judged,
    isWrong = isRight === false;
  const begun = isRight ? (isNear(question, answer) ? nearly(answered) : [["strong", "Right: "]]) : [["", "It is "]],
    truth = [...begun, ...right, ["", "."]];
  const why = isWrong || !after.length ? feedback : [],
    first = isWrong ? [["", "You said "], answered, ["", ". "], ...truth] : truth;
  return { isRight, sentences: [first, why, after].filter(runs => runs.length) };
}

// Whether a question has a right answer; an opinion or a text has none.
/** @param {{ kind: string, right?: number[] | number | null }} question */
export const hasRight = ({ kind, right = null }) =>
  kind === "gaps" || (Array.isArray(right) ? right.length > 0 : right !== null);

// Whether an answer counts as right; none does if there is no right one.
export const isRightAnswer = ({ kind, right, tolerance }, answer) =>
  kind === "fill" ? right !== null && Math.abs(answer - right) <= tolerance : right.includes(answer);

function drawOpinion(question, answer) {
  const rest = question.kind === "write" ? "" : "There is no right answer.";
  if (answer === null) return rest ? [["", rest]] : [];
  return [["", "You said "], answerRun(question, answer), ["", rest && `. ${rest}`]];
}

// An answer as one reads it: the label of a candidate, a number with its unit, or a text.
/** @returns {[string, string]} */
export function answerRun(question, answer) {
  if (question.kind === "write") return ["", `“${answer}”`];
  if (question.kind === "fill") return ["strong", answerText(question, answer)];
  return [question.isCode ? "code" : "strong", question.candidates[answer].label];
}

// Whether an answer is right within the tolerance but written differently.
function isNear(question, answer) {
  if (question.kind !== "fill" || answerText(question, answer) === withUnit(question, question.text)) return false;
  const [, decimals = ""] = question.text.split(".");
  return question.isShare || Math.abs(answer - question.right) > 0.5 * 10 ** -decimals.length;
}

const nearly = answered => [["strong", "Near enough: "], ["", "you said "], answered, ["", ", it is "]];

function judgeCandidate({ candidates, right, isCode }, answer) {
  const isRight = answer === null ? null : right.includes(answer),
    name = index => [isCode ? "code" : "strong", candidates[index].label];
  return {
    isRight,
    answered: answer === null ? null : name(answer),
    right: right.flatMap((index, nth) => (nth ? [["", " or "], name(index)] : [name(index)])),
    feedback: candidates[isRight === false ? answer : right[0]].feedback,
  };
}

function judgeNumber(question, answer) {
  const { text, nears, isShare, lead, score } = question,
    value = [["strong", withUnit(question, text)]];
  if (answer === null) return { isRight: null, answered: null, right: value, feedback: [] };
  const answered = ["strong", answerText(question, answer)];
  if (isRightAnswer(question, answer)) return { isRight: true, answered, right: value, feedback: [] };
  const near = nears.find(each => Math.abs(answer - each.value) <= each.tolerance),
    feedback = near?.feedback ?? (isShare && lead ? neededScore(answer, lead, score) : []);
  return { isRight: false, answered, right: value, feedback };
}

export function answerText({ isShare, unit }, answer) {
  if (isShare) return `${Math.round(100 * answer)} %`;
  return withUnit({ unit }, String(Number(answer.toPrecision(6))).replace("-", "−"));
}

const withUnit = ({ unit = "" }, text) => (unit && !text.endsWith(unit) ? `${text} ${unit}` : text);

// The score that an attention weight would need; `others` is the log of the sum of the others' exponentials.
function neededScore(weight, [score, others], noun) {
  if (weight <= 0) return [["", "No score gives a share of exactly 0: e to any power is more than 0."]];
  if (weight >= 1) return [["", "No score gives a share of exactly 1 as long as there is another word."]];
  const needed = Math.log(weight / (1 - weight)) + others,
    difference = short(Math.abs(needed - score));
  return [
    ["", `For ${Math.round(100 * weight)} % its ${noun} would have to be `],
    ["strong", short(needed)],
    ["", `, which is ${difference} ${needed > score ? "more" : "less"} than it is.`],
  ];
}

const MOST_STOPS = 5; // more answers, such as the words of a sentence, are one Tab stop

function makeChoices({ candidates, right, isCode = false }, { answer }) {
  const buttons = candidates.map(({ label }, index) => button(isCode ? "" : label, () => answer(index)));
  if (isCode) for (const [index, each] of buttons.entries()) each.append(h("code", {}, candidates[index].label));
  const box = h("div", { class: `choices${isCode ? " code" : ""}`, role: "group", "aria-label": "Answers" }, buttons);
  if (buttons.length > MOST_STOPS) {
    box.setAttribute("role", "toolbar"); // it has the arrow keys
    rovingFocus(box, () => [buttons]);
    setTabStop(buttons, buttons[0]);
  }
  return {
    element: box,
    update(state) {
      for (const [index, each] of buttons.entries()) {
        const isAnswer = state.answer === index,
          isRight = state.isShown && right.includes(index),
          isWrong = state.isShown && isAnswer && !isRight;
        each.classList.toggle("right", isRight);
        each.classList.toggle("wrong", isWrong);
        each.classList.toggle("own", !state.isShown && isAnswer);
        each.disabled = state.isShown || state.isClosed === true;
        const marks = [isAnswer && "your answer", isRight && "right", isWrong && "wrong"].filter(Boolean);
        if (marks.length) each.setAttribute("aria-label", `${candidates[index].label}: ${marks.join(", ")}`);
        else each.removeAttribute("aria-label");
      }
    },
  };
}

const HALF = 50; // per cent: the slider's initial position
const makeFill = (question, props) => (question.isShare ? makeSlider : makeBox)(question, props);

function makeSlider({ right, text }, { answer, verb, draft }) {
  const label = "Your share, in per cent",
    props = { type: "range", min: "0", max: "100", step: "1", value: draft.text || String(HALF), "aria-label": label },
    input = h("input", props),
    yours = h("output", { class: "own" }),
    truth = h("span", { class: "right" }, text),
    check = button(verb, () => answer(Number(input.value) / 100), "check"),
    ends = h("span", { class: "ends" }, h("span", {}, "0 %"), h("span", {}, "100 %")),
    box = h("div", { class: "slider" }, h("div", { class: "track" }, yours, input, truth, ends), check);
  box.style.setProperty("--right", String(Math.min(Math.max(right, 0), 1)));
  const draw = () => {
    write(yours, `you: ${input.value} %`);
    input.setAttribute("aria-valuetext", `${input.value} %`);
    box.style.setProperty("--own", String(Number(input.value) / 100));
  };
  input.oninput = () => {
    draft.keep(input.value);
    draw();
  };
  input.onkeydown = event => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the Next button gets the focus and must not be pressed by the same key
    check.click();
  };
  draw();
  return {
    element: box,
    update({ answer: value, isShown, isClosed = false, isAsked = false }) {
      const isUnanswered = isAsked || (isShown && value === null);
      if (isShown && !isUnanswered) input.value = String(Math.round(100 * value));
      draw();
      yours.hidden = isUnanswered;
      box.classList.toggle("unanswered", isUnanswered);
      input.disabled = check.hidden = isShown || isClosed || isAsked;
      truth.hidden = !isShown;
      ends.hidden = !isAsked;
    },
  };
}

function makeBox({ right, unit = "" }, { answer, verb, draft }) {
  const label = unit ? `Your number, ${unit}` : "Your number",
    props = {
      class: "typed",
      type: "text",
      inputMode: "decimal",
      autocomplete: "off",
      maxLength: 30,
      "aria-label": label,
    },
    input = h("input", props),
    check = h("button", { class: "check", type: "submit" }, verb),
    help = h("p", { class: "help", role: "status" });
  const onsubmit = event => {
    event.preventDefault(); // no page load
    const number = numberIn(input.value, right !== null && Math.abs(right) <= 1);
    write(help, number === null ? NO_NUMBER : "");
    if (number !== null) answer(number);
  };
  input.value = draft.text;
  input.oninput = () => draft.keep(input.value);
  const box = h("form", { class: "number-box", onsubmit }, input, h("span", { class: "unit" }, unit), check, help);
  return {
    element: box,
    update({ answer: value, isShown, isClosed = false, isAsked = false }) {
      if (isShown) input.value = value === null ? "" : answerText({ isShare: false, unit: "" }, value);
      input.disabled = check.hidden = isShown || isClosed;
      box.classList.toggle("unanswered", isAsked || (isShown && value === null));
    },
  };
}

function makeWrite(_question, { answer, verb, draft }) {
  const field = makeTextField({ label: "Your answer", verb, draft, send: answer });
  return {
    element: field.element,
    update({ answer: text, isShown, isClosed = false, isAsked = false }) {
      if (text !== null) field.set(text);
      field.close(isShown || isClosed);
      field.element.classList.toggle("unanswered", isShown || isAsked);
    },
  };
}

const KINDS = { pick: makeChoices, choose: makeChoices, fill: makeFill, gaps: makeGaps, write: makeWrite };

// answer(value) receives an answer as verdictOn() takes it; `verb` is on the button; `numbers` are as in drawSentence(); `draft` keeps what is
// typed. In update() isShown reveals the right answer, and isClosed takes no more answers. With isAsked, for the screen of a class, it has no
// text box or slider handle, from which others could read an answer.
/** @param {any} question @param {{ answer: (value: any) => unknown, verb?: string, numbers?: typeof INERT, draft?: Draft }} props */
export const makeQuestion = (question, { answer, verb = "Check", numbers = INERT, draft = NO_DRAFT }) =>
  KINDS[question.kind](question, { answer, verb, numbers, draft });

export function answerOf(question) {
  const { kind, candidates, right, text } = question;
  if (!hasRight(question)) return "no answer is right or wrong";
  if (kind === "gaps") return answerOfGaps(question);
  return kind === "fill" ? withUnit(question, text) : right.map(index => candidates[index].label).join(" or ");
}

// The index of the candidate that was clicked in the picture as {word, cell, head}; -1 if none.
export function candidateAt({ kind, candidates = [] }, { word, cell, head }) {
  if (kind !== "pick") return -1;
  const heads = candidates.map(each => each.cell?.match(/\[(\d+),/)?.[1]),
    areHeads = new Set(heads).size === candidates.length && candidates.length > 1; // their cells differ in the head
  if (areHeads && head !== undefined) return heads.indexOf(String(head));
  const byCell = candidates.findIndex(each => each.cell !== undefined && each.cell === cell);
  return byCell >= 0 ? byCell : candidates.findIndex(each => each.word !== undefined && each.word === word);
}

const MOST_LINES = 16; // in a column; the rest goes into a second one if there is room

/** @param {import("../../generated/contract").WorkedSolution} solution */
export function drawWorking({ formula, tables }) {
  const parts = tables.flatMap(({ heads, lines }) => inParts(lines).map(part => ({ heads, lines: part }))),
    box = h(
      "section",
      { class: "asked-working", tabIndex: 0, "aria-label": "What it is computed from" }, // it may scroll
      h("p", { class: "formula" }, "It is computed from these numbers, by ", ...typesetInPieces(formula)),
      h("div", { class: "tables" }, parts.map(drawTable)),
    );
  box.style.setProperty("--lines", String(Math.max(...parts.map(({ lines }) => lines.length))));
  return box;
}

function inParts(lines) {
  const count = Math.ceil(lines.length / MOST_LINES),
    size = Math.ceil(lines.length / count);
  return Array.from({ length: count }, (_, nth) => lines.slice(nth * size, (nth + 1) * size));
}

function drawTable({ heads, lines }) {
  const names = heads.map(([role, text]) => h("th", { class: role, scope: "col" }, text)),
    rows = lines.map(([name, ...numbers]) => [h("th", { scope: "row" }, name), ...numbers]);
  return table({ class: heads.length ? "" : "of-names" }, { head: names.length ? [names] : [], rows });
}

const MAX_CHARACTERS = 140; // as in classroom/room.py

/** What is typed and not yet sent; it outlives the field. @typedef {{ readonly text: string, keep(text: string): void }} Draft */
/** @type {Draft} */
const NO_DRAFT = { text: "", keep: () => {} };

/** A field for a short text, with a character counter. Submitting calls send(text) with the trimmed text.
 * @param {{ label: string, verb: string, draft?: Draft, send(text: string): void }} props */
export function makeTextField({ label, verb, draft = NO_DRAFT, send }) {
  const props = { rows: 3, maxLength: MAX_CHARACTERS, autocomplete: "off", enterKeyHint: "send" },
    input = h("textarea", { ...props, "aria-label": `${label}, at most ${MAX_CHARACTERS} characters`, dir: "auto" }),
    counter = h("span", { class: "counter" }),
    check = h("button", { class: "check", type: "submit" }, verb);
  const count = () => write(counter, `${input.value.length} / ${MAX_CHARACTERS}`);
  const onsubmit = event => {
    event.preventDefault(); // no page load
    if (input.value.trim()) send(input.value.trim());
  };
  input.oninput = () => {
    draft.keep(input.value);
    count();
  };
  input.onkeydown = event => {
    if (event.key === "Enter" && !event.isComposing) onsubmit(event);
  };
  input.value = draft.text;
  count();
  return {
    element: h("form", { class: "text-field", onsubmit }, input, h("p", {}, counter, check)),
    // Puts in what was sent before, unless something else is typed.
    set(text) {
      if (!input.value) input.value = text;
      count();
    },
    clear() {
      input.value = "";
      input.oninput();
    },
    close(isClosed) {
      input.disabled = check.hidden = counter.hidden = isClosed;
    },
  };
}
