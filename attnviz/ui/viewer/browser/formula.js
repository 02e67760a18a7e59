// Formulas: LaTeX, typeset as MathML.
import { parse } from "./latex.js";

export function typeset(latex) {
  return build(parse(latex));
}

function build({ tag, attributes, children }) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "string" ? child : build(child))));
  return made;
}
