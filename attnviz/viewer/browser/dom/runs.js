// Text with styles, tokens and formulas (LaTeX as MathML).
import { noteOn } from "../model/changes.js";
import { ofHead, parse } from "../model/latex.js";
import { h } from "./element.js";

export const typeset = (/** @type {string} */ latex) => build(parse(latex));
/** In pieces between which a line may end: before an equals sign or a plus that stands in no bracket. @param {string} latex */
export const typesetInPieces = latex => piecesOf(latex).flatMap((piece, i) => [...(i ? [" "] : []), typeset(piece)]);

/** @param {string} latex @returns {string[]} */
export function piecesOf(latex) {
  const parts = [];
  let depth = 0,
    part = "";
  for (const sign of latex) {
    if ("{(".includes(sign)) depth += 1;
    if ("})".includes(sign)) depth -= 1;
    if (depth === 0 && "=+".includes(sign) && part.trim()) {
      parts.push(part.trim());
      part = "";
    }
    part += sign;
  }
  return [...parts, part.trim()];
}

/** @param {Tree} tree @returns {Element} */
function build({ tag, attributes, children }) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map(child => (typeof child === "string" ? child : build(child))));
  return made;
}

/** @type {Record<string, string>} */
const TAGS = { "": "span", strong: "strong", em: "em", code: "code", word: "span" };

/** Runs, [style, text] each, for a selection: their stories are filled in, and symbols are those of its head. What `gapAt(cell)` returns
 * replaces a cell's number. A note follows if they depend on numbers that are set by hand, or such numbers are `beside` them. A user's word is
 * one run, and only ever text. @param {Pass} pass @param {Run[]} runs @param {Selected} selection
 * @param {((cell: Cell) => unknown) | undefined} gapAt @returns {Run[]} */
export function runsAt(pass, runs, selection, gapAt, beside = /** @type {Cell[]} */ ([])) {
  const read = runs.flatMap(([style, text]) => {
    if (style === "verdict") return pass.document.model?.verdict ?? [];
    if (style === "story") return runsFrom(pass.selectionStory(text, selection, gapAt));
    return [/** @type {Run} */ ([style, style === "math" ? ofHead(text, selection.head) : text])];
  });
  return [...read, ...runsFrom(noteOn(pass, handIn(pass, runs, selection, beside)))];
}

/** @param {Piece[]} pieces @returns {Run[]} */
const runsFrom = pieces => pieces.map(({ style, text }) => [style ?? "", text]);

/** The numbers set by hand that runs depend on, or that are beside them, less those whose story says so. @param {Pass} pass @param {Run[]} runs
 * @param {Selected} selection @param {Cell[]} beside */
function handIn(pass, runs, selection, beside) {
  const stories = runs.flatMap(([style, text]) => (style === "story" ? [pass.selectionHand(text, selection)] : [])),
    keyed = (/** @type {Cell[]} */ cells) =>
      cells.map(cell => /** @type {[string, Cell]} */ ([pass.address(cell.name, cell.index), cell])),
    cells = new Map(keyed([...stories.flatMap(({ others }) => others), ...beside]));
  for (const [address] of keyed(stories.flatMap(({ told }) => told))) cells.delete(address);
  return [...cells.values()];
}

export const drawRuns = (/** @type {Run[]} */ runs) =>
  runs.map(([style, text]) => {
    if (style === "math") return typeset(text);
    return h(TAGS[style] ?? "strong", { class: style in TAGS && style !== "word" ? "" : style }, text || null);
  });
