// Text with styles, tokens and formulas (LaTeX as MathML).
import { noteOn } from "../model/changes.js";
import { ofHead, parse } from "../model/latex.js";
import { element } from "./element.js";

export function typeset(latex) {
  return build(parse(latex));
}

// In pieces between which a line may end: before an equals sign or a plus that stands in no bracket.
export function typesetInPieces(latex) {
  return piecesOf(latex).flatMap((piece, i) => [...(i ? [" "] : []), typeset(piece)]);
}

export function piecesOf(latex) {
  const parts = [""];
  let depth = 0;
  for (const sign of latex) {
    if ("{(".includes(sign)) depth += 1;
    if ("})".includes(sign)) depth -= 1;
    if (depth === 0 && "=+".includes(sign) && parts.at(-1).trim()) parts.push("");
    parts[parts.length - 1] += sign;
  }
  return parts.map(piece => piece.trim());
}

function build({ tag, attributes, children }) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map(child => (typeof child === "string" ? child : build(child))));
  return made;
}

const TAGS = { "": "span", strong: "strong", em: "em", code: "code", word: "span" };

// Runs are text in pieces, [style, text] each. A user's word is one run, and only ever text.
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
