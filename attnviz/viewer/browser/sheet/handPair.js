// The pair in a hand: the number of pass A that stands above one of B, as there is no room there for lines of their own.
import { short } from "../pass/numeral.js";
import { areApart } from "../scene/looks.js";

// The number of A as text, beside that of a face, where they differ; "" where they don't, or where none is there.
export function inA(paint, { cell: { name, index }, array = "" }) {
  const { pass, look } = paint,
    there = placeInA(paint, name, index, array);
  if (!there) return "";
  const numberIn = (whose, at) => (array ? whose.named(name, array, at)[at.at(-1)] : whose.number(name, at)),
    [one, now] = [numberIn(look.pair.pass, there), numberIn(pass, index)];
  return one !== undefined && areApart(one, now, pass.document.other.stages[name].tolerance) ? short(one) : "";
}

// The sum of a row of A as text, where it is written otherwise than that of B.
export function sumInA(paint, { cells: { name, index }, band: { array = "" } }, now) {
  const there = placeInA(paint, name, index(0, 0), array),
    { pair } = paint.look;
  if (!there) return "";
  const numbers = array ? pair.pass.named(name, array, there) : pair.pass.row(name, there),
    sum = short(numbers.reduce((all, each) => all + each, 0));
  return sum === now ? "" : sum;
}

// Where a number stands in A, if it is shown there.
function placeInA({ look: { pair } }, name, index, array) {
  const there = pair?.isThere ? pair.toA(name, index) : null;
  return there && pair.look.shown(name, there, array) ? there : null;
}
