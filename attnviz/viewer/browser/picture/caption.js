// Captions: what a matrix is called, by its symbol, its title and its shape.
import { element } from "../elements/element.js";
import { typeset } from "../elements/formula.js";
import { plain } from "../pass/latex.js";
import { shapeOf } from "./sheet.js";

export function titleOf({ name, stage }, look) {
  return look.titleOf(name) || stage.title;
}

// All of it, as one hears it.
export function spoken(sheet, look) {
  const { lengths, counted } = shapeOf(sheet);
  return `${titleOf(sheet, look)} ${plain(sheet.symbol)}, ${lengths}: ${counted}`;
}

// What does not fit beside the symbol is left out from its end (picture.css).
export function writeCaption(caption, sheet, look) {
  const text = spoken(sheet, look);
  if (caption.title === text) return;
  caption.title = text;
  const symbol = element("span", "symbol");
  symbol.append(typeset(sheet.symbol));
  const { lengths, counted } = shapeOf(sheet);
  const name = element("span", "name");
  name.append(symbol, element("span", "title", titleOf(sheet, look)));
  caption.replaceChildren(name, element("span", "shape", lengths), element("span", "shape", counted));
}
