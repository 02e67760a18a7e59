// Questions: options and blanks to fill in, the verdict on an answer, and its working.
import { short } from "../model/numeral.js";
import { button, element, write } from "../dom/element.js";
import { typesetInPieces } from "../dom/runs.js";

// {isRight, sentences}: the verdict as paragraphs of runs: what was answered, what that would be right for, the right answer,
// and the moment's comment. `answer` is a candidate's index or a number; null without an answer.
export function verdictOn(question, answer, after = []) {
  const {
    isRight,
    own: answered,
    right,
    feedback,
  } = question.kind === "fill" ? ofNumber(question, answer) : ofCandidate(question, answer);
  const begun = isRight ? (isNear(question, answer) ? nearly(answered) : [["strong", "Right: "]]) : [["", "It is "]],
    truth = [...begun, ...right, ["", "."]];
  const isRepeated = begins(textOf(after), question.text ?? textOf(right)),
    why = isRight === false || !after.length ? feedback : [];
  return {
    isRight,
    sentences: [
      ...(isRight === false
        ? [[["", "You said "], answered, ["", "."], ...(isRepeated ? [] : [["", " "], ...truth])]]
        : []),
      ...(isRight === false || isRepeated ? [] : [truth]),
      ...(why.length ? [why] : []),
      ...(after.length ? [isRepeated ? [...begun, ...after] : after] : []),
    ],
  };
}

// Whether an answer is right within the tolerance but written differently.
function isNear(question, answer) {
  if (question.kind !== "fill" || answerText(question, answer) === withUnit(question, question.text)) return false;
  const [, decimals = ""] = question.text.split(".");
  return question.isShare || Math.abs(answer - question.right) > 0.5 * 10 ** -decimals.length;
}

function nearly(answered) {
  return [["strong", "Near enough: "], ["", "you said "], answered, ["", ", it is "]];
}

// Whether a text begins with the right answer as a whole word.
function begins(text, right) {
  return text.startsWith(right) && !/^[\w.,]*\w/.test(text.slice(right.length));
}

function textOf(runs) {
  return runs.map(([, text]) => text.text ?? text).join("");
}

function ofCandidate({ candidates, right, isCode }, answer) {
  const isRight = right.includes(answer),
    name = place => (isCode ? ["code", candidates[place].label] : ["strong", candidates[place].label]);
  const listed = right.flatMap((place, nth) => [...(nth ? [["", " or "]] : []), name(place)]);
  const feedback = candidates[answer === null || isRight ? right[0] : answer].feedback;
  return {
    isRight: answer === null ? null : isRight,
    own: answer === null ? null : name(answer),
    right: listed,
    feedback,
  };
}

function ofNumber(question, answer) {
  const { right, text, tolerance, nears, isShare, lead, score } = question;
  const value = ["strong", withUnit(question, text)];
  if (answer === null) return { isRight: null, own: null, right: [value], feedback: [] };
  const answered = ["strong", answerText(question, answer)];
  if (Math.abs(answer - right) <= tolerance) return { isRight: true, own: answered, right: [value], feedback: [] };
  const near = nears.find(each => Math.abs(answer - each.value) <= each.tolerance),
    why = near?.feedback ?? (isShare && lead ? leadFor(answer, lead, score) : []);
  return { isRight: false, own: answered, right: [value], feedback: why };
}

// An answer as text; an attention weight in per cent.
export function answerText({ isShare, unit }, answer) {
  return isShare
    ? `${Math.round(100 * answer)} %`
    : withUnit({ unit }, String(Number(answer.toPrecision(6))).replace("-", "−"));
}

function withUnit({ unit = "" }, text) {
  return unit && !text.endsWith(unit) ? `${text} ${unit}` : text;
}

// The score that a share would need. `score` (called `noun`) is its actual one, `others` the log of the sum of the others' exponentials.
function leadFor(share, [score, others], noun) {
  const percents = `${Math.round(100 * share)} %`;
  if (share <= 0) return [["", "No score gives a share of exactly 0: e to any power is more than 0."]];
  if (share >= 1) return [["", "No score gives a share of exactly 1 as long as there is another word."]];
  const needed = Math.log(share / (1 - share)) + others,
    difference = Math.abs(needed - score);
  return [
    ["", `For ${percents} its ${noun} would have to be `],
    ["strong", short(needed)],
    ["", `, which is ${short(difference)} ${needed > score ? "more" : "less"} than it is.`],
  ];
}

// answer(place) is called with the candidate chosen. Returns {element, update(state)} as makeQuestion.
function makeChoices({ candidates, right, isCode = false }, { answer, verb: _verb }) {
  const box = element("div", `choices${isCode ? " code" : ""}`),
    made = candidates.map(({ label }, place) => button(isCode ? "" : label, () => answer(place)));
  if (isCode) for (const [place, each] of made.entries()) each.append(element("code", "", candidates[place].label));
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Answers");
  box.append(...made);
  return {
    element: box,
    update: state =>
      made.forEach((each, place) => {
        const isRight = state.isShown && right.includes(place),
          isOwn = state.isShown && state.answer === place;
        each.classList.toggle("right", isRight);
        each.classList.toggle("wrong", isOwn && !isRight);
        each.classList.toggle("own", !state.isShown && state.answer === place);
        each.disabled = state.isShown || state.isClosed === true;
        const marks = [state.answer === place ? "your answer" : "", isRight ? "right" : isOwn ? "wrong" : ""]
          .filter(Boolean)
          .join(", ");
        if (marks) each.setAttribute("aria-label", `${candidates[place].label}: ${marks}`);
        else each.removeAttribute("aria-label");
      }),
  };
}

const HALF = 50; // per cent: the slider's initial position
const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;

// Parses a number as people type it: a decimal, a fraction or a percentage; null if it is none. With `isPart` the answer is
// a part of one and 88 % means 0.88; else it means 88, for questions such as "how many per cent".
export function numberIn(text, isPart = false) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(/\s/g, ""),
    isPercentage = plain.endsWith("%"),
    numbers = (isPercentage ? plain.slice(0, -1) : plain).split("/");
  if (numbers.length > 2 || !numbers.every(each => NUMBER.test(each))) return null;
  const [above, below = 1] = numbers.map(each => Number(each.replace(",", ".")));
  return below === 0 ? null : above / below / (isPercentage && isPart ? 100 : 1);
}

// answer(number) is called when a number is submitted. Returns {element, update(state)} as makeQuestion.
function makeFill(question, actions) {
  return question.isShare ? makeSlider(question, actions) : makeBox(question, actions);
}

function makeSlider(question, { answer, verb }) {
  const box = element("div", "slider"),
    track = element("div", "track"),
    input = element("input"),
    yours = element("output", "own"),
    right = element("span", "right", question.text),
    check = button(verb, () => answer(Number(input.value) / 100), "check");
  Object.assign(input, { type: "range", min: "0", max: "100", step: "1", value: String(HALF) });
  input.setAttribute("aria-label", "Your share, in per cent");
  const draw = () => {
    write(yours, `you: ${input.value} %`);
    input.setAttribute("aria-valuetext", `${input.value} %`);
    box.style.setProperty("--own", String(Number(input.value) / 100));
  };
  input.oninput = draw;
  input.onkeydown = event => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the Next button gets the focus and must not be pressed by the same key
    check.click();
  };
  box.style.setProperty("--right", String(Math.min(Math.max(question.right, 0), 1)));
  track.append(yours, input, right);
  box.append(track, check);
  draw();
  return {
    element: box,
    update: ({ answer: value, isShown, isClosed = false }) => {
      if (isShown && value !== null) input.value = String(Math.round(100 * value));
      draw();
      yours.hidden = isShown && value === null;
      input.disabled = isShown || isClosed;
      box.classList.toggle("unanswered", isShown && value === null);
      right.hidden = !isShown;
      check.hidden = isShown || isClosed;
    },
  };
}

function makeBox(question, { answer, verb }) {
  const box = element("form", "number-box"),
    input = element("input", "typed"),
    unit = element("span", "unit", question.unit ?? ""),
    check = button(verb, () => {}, "check"),
    help = element("p", "help");
  check.type = "submit";
  input.type = "text";
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.maxLength = 30;
  input.setAttribute("aria-label", question.unit ? `Your number, ${question.unit}` : "Your number");
  help.setAttribute("role", "status");
  const send = event => {
    event.preventDefault(); // no page load
    const number = numberIn(input.value, Math.abs(question.right) <= 1);
    write(help, number === null ? "A number, please, such as 3, −0.25, 6/7 or 88 %." : "");
    if (number !== null) answer(number);
  };
  box.onsubmit = send;
  box.append(input, unit, check, help);
  return {
    element: box,
    update: ({ answer: value, isShown, isClosed = false }) => {
      if (isShown) input.value = value === null ? "" : answerText({ isShare: false, unit: "" }, value);
      input.disabled = isShown || isClosed;
      box.classList.toggle("unanswered", isShown && value === null);
      check.hidden = isShown || isClosed;
    },
  };
}

/** @type {Record<string, typeof makeChoices>} */
const KINDS = { pick: makeChoices, choose: makeChoices, fill: makeFill };

// answer(value) is called with a candidate's index or a number; `verb` labels the button for numbers. Returns {element,
// update({answer, isShown, isClosed})}: isShown reveals the right answer, isClosed takes no more answers.
export function makeQuestion(question, answer, verb = "Check") {
  return KINDS[question.kind](question, { answer, verb });
}

// The right answer in words.
export function answerOf({ kind, candidates, right, text, unit = "" }) {
  if (kind !== "fill") return right.map(place => candidates[place].label).join(" or ");
  return unit && !text.endsWith(unit) ? `${text} ${unit}` : text;
}

// The index of the candidate that was clicked in the picture as {word, cell}; -1 if none.
export function candidateAt({ kind, candidates = [] }, { word, cell }) {
  if (kind !== "pick") return -1;
  const byCell = candidates.findIndex(each => each.cell !== undefined && each.cell === cell);
  return byCell >= 0 ? byCell : candidates.findIndex(each => each.word !== undefined && each.word === word);
}

const MOST_LINES = 16; // in a column; the rest goes into a second one if there is room

// `working` is Working of generated/contract.d.ts.
export function drawWorking({ formula, tables }) {
  const box = element("section", "asked-working"),
    line = element("p", "formula"),
    all = element("div", "tables"),
    parts = tables.flatMap(({ heads, lines }) => inParts(lines).map(part => ({ heads, lines: part })));
  box.setAttribute("aria-label", "What it is computed from");
  box.tabIndex = 0; // it may scroll
  box.style.setProperty("--lines", String(Math.max(...parts.map(({ lines: { length } }) => length))));
  line.append("It is computed from these numbers, by ", ...typesetInPieces(formula));
  all.append(...parts.map(drawTable));
  box.append(line, all);
  return box;
}

function inParts(lines) {
  const count = Math.ceil(lines.length / MOST_LINES),
    size = Math.ceil(lines.length / count);
  return Array.from({ length: count }, (_, nth) => lines.slice(nth * size, (nth + 1) * size));
}

function drawTable({ heads, lines }) {
  const table = element("table", heads.length ? "" : "of-names"),
    body = element("tbody");
  body.append(
    ...lines.map(([name, ...numbers]) =>
      lineOf([head("row", name), ...numbers.map(number => element("td", "", number))]),
    ),
  );
  if (heads.length) {
    const top = element("thead");
    top.append(lineOf(heads.map(([role, text]) => head("col", text, role))));
    table.append(top);
  }
  table.append(body);
  return table;
}

function lineOf(cells) {
  const line = element("tr");
  line.append(...cells);
  return line;
}

function head(scope, text, className = "") {
  const cell = element("th", className, text);
  cell.scope = scope;
  return cell;
}
