// Verdicts: what is said of an answer. It is right, or it is told what it would be the right answer to.
import { short } from "../pass/numeral.js";

// {isRight, said}: paragraphs of runs that say what was answered, what it would be right for, what is right, and what the
// moment says with that. `answer` is the place of a candidate, or a number; null where nobody answered.
export function verdictOn(question, answer, after = []) {
  const { isRight, own, right, feedback } =
    question.kind === "fill" ? ofNumber(question, answer) : ofCandidate(question, answer);
  const begun = isRight ? (isNear(question, answer) ? nearly(own) : [["strong", "Right: "]]) : [["", "It is "]],
    truth = [...begun, ...right, ["", "."]];
  const isRepeated = begins(textOf(after), question.text ?? textOf(right)),
    why = isRight === false || !after.length ? feedback : [];
  return {
    isRight,
    said: [
      ...(isRight === false ? [[["", "You said "], own, ["", "."], ...(isRepeated ? [] : [["", " "], ...truth])]] : []),
      ...(isRight === false || isRepeated ? [] : [truth]),
      ...(why.length ? [why] : []),
      ...(after.length ? [isRepeated ? [...begun, ...after] : after] : []),
    ],
  };
}

// Whether an answer counts as right, but isn't what is right as it is written.
function isNear(question, answer) {
  if (question.kind !== "fill" || answerText(question, answer) === withUnit(question, question.text)) return false;
  const [, decimals = ""] = question.text.split(".");
  return question.isShare || Math.abs(answer - question.right) > 0.5 * 10 ** -decimals.length;
}

function nearly(own) {
  return [["strong", "Near enough: "], ["", "you said "], own, ["", ", it is "]];
}

// Whether a text begins with what is right, whole.
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
  const own = ["strong", answerText(question, answer)];
  if (Math.abs(answer - right) <= tolerance) return { isRight: true, own, right: [value], feedback: [] };
  const near = nears.find(each => Math.abs(answer - each.value) <= each.tolerance),
    why = near?.feedback ?? (isShare && lead ? leadFor(answer, lead, score) : []);
  return { isRight: false, own, right: [value], feedback: why };
}

// How an answer is written: a share in per cent.
export function answerText({ isShare, unit }, answer) {
  return isShare
    ? `${Math.round(100 * answer)} %`
    : withUnit({ unit }, String(Number(answer.toPrecision(6))).replace("-", "−"));
}

function withUnit({ unit = "" }, text) {
  return unit && !text.endsWith(unit) ? `${text} ${unit}` : text;
}

// What a share would need: its own score, a `noun`, is `own`, and `others` is the logarithm of the sum of the others' exponentials.
function leadFor(share, [own, others], noun) {
  const percents = `${Math.round(100 * share)} %`;
  if (share <= 0) return [["", "No score gives a share of exactly 0: e to any power is more than 0."]];
  if (share >= 1) return [["", "No score gives a share of exactly 1 as long as there is another word."]];
  const needed = Math.log(share / (1 - share)) + others,
    apart = Math.abs(needed - own);
  return [
    ["", `For ${percents} its ${noun} would have to be `],
    ["strong", short(needed)],
    ["", `, which is ${short(apart)} ${needed > own ? "more" : "less"} than it is.`],
  ];
}
