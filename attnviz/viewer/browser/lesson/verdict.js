// Verdicts: what is said of an answer. It is right, or it is told what it would be the right answer to.
import { digits } from "../pass/numeral.js";

// {isRight, head, told}: runs that say what was answered and what is right, and runs on what the answer would be right for.
// `answer` is the place of a candidate, or a number; null where nobody answered.
export function verdictOn(question, answer) {
  return question.kind === "fill" ? ofNumber(question, answer) : ofCandidate(question, answer);
}

function ofCandidate({ candidates, right, isCode }, answer) {
  const isRight = right.includes(answer),
    name = place => (isCode ? ["code", candidates[place].label] : ["strong", candidates[place].label]);
  const listed = right.flatMap((place, nth) => [...(nth ? [["", " or "]] : []), name(place)]);
  const told = candidates[answer === null || isRight ? right[0] : answer].told;
  if (answer === null) return { isRight: null, head: [["", "It is "], ...listed, ["", "."]], told };
  if (isRight) return { isRight, head: [["strong", "Right: "], name(answer), ["", "."]], told };
  return { isRight, head: [["", "You said "], name(answer), ["", ". It is "], ...listed, ["", "."]], told };
}

function ofNumber(question, answer) {
  const { right, text, tolerance, nears, told, isShare, lead } = question;
  const value = ["strong", withUnit(question, text)];
  if (answer === null) return { isRight: null, head: [["", "It is "], value, ["", "."]], told: [] };
  const isRight = Math.abs(answer - right) <= tolerance,
    said = ["strong", answerText(question, answer)];
  if (isRight) return { isRight, head: [["strong", "Right: "], value, ["", "."]], told: [] };
  const near = nears.find(each => Math.abs(answer - each.value) <= each.tolerance),
    why = near?.told ?? (isShare && lead ? leadFor(answer, lead) : told);
  return { isRight, head: [["", "You said "], said, ["", ". It is "], value, ["", "."]], told: why };
}

// How an answer is written: a share in per cent.
export function answerText({ isShare, unit }, answer) {
  return isShare ? `${Math.round(100 * answer)} %` : withUnit({ unit }, String(answer));
}

function withUnit({ unit = "" }, text) {
  return unit && !text.endsWith(unit) ? `${text} ${unit}` : text;
}

// What a share would need: its score is `own`, and `others` is the logarithm of the sum of the others' exponentials.
function leadFor(share, [own, others]) {
  const said = `${Math.round(100 * share)} %`;
  if (share <= 0) return [["", "No score gives a share of exactly 0: e to any power is more than 0."]];
  if (share >= 1) return [["", "No score gives a share of exactly 1 as long as there is another word."]];
  const needed = Math.log(share / (1 - share)) + others,
    apart = Math.abs(needed - own);
  return [
    ["", `For ${said} its scaled score would have to be `],
    ["strong", digits(needed)],
    ["", `, which is ${digits(apart)} ${needed > own ? "more" : "less"} than it is.`],
  ];
}
