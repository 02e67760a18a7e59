// Runs: text in pieces, [style, text] each, as elements. A user's word is one of them, and only ever text.
import { element } from "./element.js";
import { typeset } from "./formula.js";

const TAGS = { "": "span", strong: "strong", em: "em", code: "code", word: "span" };

export function drawRuns(runs) {
  return runs.map(([style, text]) => {
    if (style === "math") return typeset(text);
    return element(TAGS[style] ?? "strong", style in TAGS ? (style === "word" ? "word" : "") : style, text);
  });
}
