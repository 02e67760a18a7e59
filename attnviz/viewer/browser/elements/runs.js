// Runs: text in pieces, [style, text] each, as elements. A user's word is one of them, and only ever text.
import { element } from "./element.js";
import { typeset } from "./formula.js";
import { noteOn } from "../pass/byHand.js";
import { ofHead } from "../pass/latex.js";

const TAGS = { "": "span", strong: "strong", em: "em", code: "code", word: "span" };

// Runs as they read for a selection: what they tell of it is filled in, and symbols are those of its head. What
// `gapAt(cell)` gives, if anything, stands in place of what the numbers of a cell tell. A note follows where they lean on
// numbers that are set by hand, or such numbers stand `beside` them.
/** @param {Pass} pass */
export function runsAt(pass, runs, selection, gapAt, beside = []) {
  const read = runs.flatMap(([style, text]) => {
    if (style === "verdict") return pass.document.model.verdict;
    if (style === "story") return written(pass.selectionStory(text, selection, gapAt));
    return [[style, style === "math" ? ofHead(text, selection.head) : text]];
  });
  return [...read, ...written(noteOn(pass, handIn(pass, runs, selection, beside)))];
}

function written(pieces) {
  return pieces.map(({ style, text }) => [style ?? "", text]);
}

// The numbers set by hand that runs lean on, or that stand beside them, but for those that are said to be so.
/** @param {Pass} pass */
function handIn(pass, runs, selection, beside) {
  const stories = runs.flatMap(([style, text]) => (style === "story" ? [pass.selectionHand(text, selection)] : []));
  const found = new Map();
  for (const cell of [...stories.flatMap(({ others }) => others), ...beside]) found.set(addressOf(pass, cell), cell);
  for (const cell of stories.flatMap(({ told }) => told)) found.delete(addressOf(pass, cell));
  return [...found.values()];
}

/** @param {Pass} pass */
function addressOf(pass, { name, index }) {
  return pass.address(name, index);
}

export function drawRuns(runs) {
  return runs.map(([style, text]) => {
    if (style === "math") return typeset(text);
    return element(TAGS[style] ?? "strong", style in TAGS ? (style === "word" ? "word" : "") : style, text);
  });
}
