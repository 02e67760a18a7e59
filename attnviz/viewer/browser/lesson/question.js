// The question of a moment, by its kind.
import { makeChoices } from "./choices.js";
import { makeFill } from "./fill.js";

/** @type {Record<string, typeof makeChoices>} */
const KINDS = { pick: makeChoices, choose: makeChoices, fill: makeFill };

// answer(value) is called with the place of a candidate, or a number; `verb` stands on what sends a number. Returns {element,
// update({answer, isShown, isClosed})}: what was answered before it is shown is one's own so far; what is closed takes no answer.
export function makeQuestion(question, answer, verb = "Check") {
  return KINDS[question.kind](question, { answer, verb });
}

// The right answer in words.
export function answerOf({ kind, candidates, right, text, unit = "" }) {
  if (kind !== "fill") return right.map(place => candidates[place].label).join(" or ");
  return unit && !text.endsWith(unit) ? `${text} ${unit}` : text;
}

// The candidate that stands for what was clicked in the picture: {word, cell}; -1 where none does.
export function candidateAt({ kind, candidates = [] }, { word, cell }) {
  if (kind !== "pick") return -1;
  const byCell = candidates.findIndex(each => each.cell !== undefined && each.cell === cell);
  return byCell >= 0 ? byCell : candidates.findIndex(each => each.word !== undefined && each.word === word);
}
