// Beside: the number in focus in both of two passes, and how far apart they are.
import { element } from "../elements/element.js";
import { digits } from "../pass/numeral.js";
import { pairOf } from "../scene/looks.js";

const NONE = "A has no such number.";

export function drawBeside(pass, where, look, cell) {
  const { a, b, difference } = besideOf(pass, where, look, cell);
  if (!b) return [];
  const line = element("p", "in-both");
  if (a)
    line.append(
      ...sideOf("A", a),
      " ",
      ...sideOf("B", b),
      ...(difference ? [element("span", "side-difference", difference)] : []),
    );
  else line.append(...sideOf("B", b), `. ${NONE}`);
  return [line];
}

// The same to be heard; "" where no pass is beside it.
export function besideText(pass, where, look, cell) {
  const { a, b, difference } = besideOf(pass, where, look, cell);
  if (!b) return "";
  return a ? `A ${a}, B ${b}.${difference ? ` ${difference}.` : ""}` : `B ${b}. ${NONE}`;
}

// The number in A and in B and their difference, as text; without B where there is nothing to say.
/** @param {Pass} pass @param {Where} where @param {Look} look */
function besideOf(pass, where, look, { name, index }) {
  const pair = pairOf(pass, where),
    other = pass.number(name, index);
  if (!pair || other === undefined || !look.shown(name, index)) return {};
  const inA = pair.toA(name, index),
    one = inA ? pair.pass.number(name, inA) : undefined;
  if (one === undefined) return { b: digits(other) };
  if (pass.stages.get(name).scale === "flag") return { a: seen(one), b: seen(other) };
  const written = (whose, at, value) => `${digits(value)}${value === 0 && whose.isHidden(name, at) ? ", hidden" : ""}`;
  return {
    a: written(pair.pass, inA, one),
    b: written(pass, index, other),
    difference: Number.isFinite(other - one) ? `B − A = ${digits(other - one)}` : "",
  };
}

function sideOf(name, number) {
  return [element("strong", "side", name), ` ${number}`];
}

function seen(flag) {
  return flag ? "visible" : "hidden";
}
