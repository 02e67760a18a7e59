// Runs: text in pieces, [style, text] each, as elements. A user's word is one of them, and only ever text.
import { element } from "./element.js";
import { typeset } from "./formula.js";
import { ofHead } from "../pass/latex.js";

const TAGS = { "": "span", strong: "strong", em: "em", code: "code", word: "span" };

// Runs as they read for a selection: what they tell of it is filled in, and symbols are those of its head. What
// `gapAt(cell)` gives, if anything, stands in place of what the numbers of a cell tell.
/** @param {Pass} pass */
export function runsAt(pass, runs, selection, gapAt) {
  return runs.flatMap(([style, text]) => {
    if (style === "verdict") return pass.document.model.verdict;
    if (style === "story")
      return pass.selectionStory(text, selection, gapAt).map(piece => [piece.style ?? "", piece.text]);
    return [[style, style === "math" ? ofHead(text, selection.head) : text]];
  });
}

export function drawRuns(runs) {
  return runs.map(([style, text]) => {
    if (style === "math") return typeset(text);
    return element(TAGS[style] ?? "strong", style in TAGS ? (style === "word" ? "word" : "") : style, text);
  });
}
