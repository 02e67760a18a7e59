// Captions: what a matrix is called, by its symbol, its title and its shape.
import { element } from "../elements/element.js";
import { typeset } from "../elements/formula.js";
import { plain } from "../pass/latex.js";
import { shapeOf } from "./slot.js";

export function titleOf({ name, stage }, look) {
  return look.titleOf(name) || stage.title;
}

// All of it, as one hears it.
export function spoken(slot, look) {
  const { lengths, counted } = shapeOf(slot);
  return `${sideOf(slot)}${titleOf(slot, look)} ${plain(slot.symbol)}, ${lengths}: ${counted}`;
}

function sideOf({ side }) {
  return side ? `${side}: ` : "";
}

// A caption too long to stand beside the symbol is cut at its end (picture.css).
export function writeCaption(caption, slot, look) {
  const { lengths, counted, some } = shapeOf(slot),
    text = spoken(slot, look) + (some && `; shown: ${some}`);
  if (caption.title === text) return;
  caption.title = text;
  const symbol = element("span", "symbol");
  symbol.append(typeset(slot.symbol));
  const name = element("span", "name");
  name.append(
    ...(slot.side ? [element("strong", `side ${slot.side}`, slot.side), " "] : []),
    symbol,
    element("span", "title", titleOf(slot, look)),
  );
  caption.replaceChildren(
    name,
    ...(some
      ? [element("span", "some", some)]
      : [element("span", "shape", lengths), element("span", "shape", counted)]),
  );
}
