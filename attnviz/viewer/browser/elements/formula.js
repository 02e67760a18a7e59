// Formulas: LaTeX, typeset as MathML.
import { parse } from "../pass/latex.js";

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
