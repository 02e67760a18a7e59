// Beside: the number in focus in both of two passes, and how far apart they are.
import { element } from "../elements/element.js";
import { digits } from "../pass/numeral.js";
import { pairOf } from "../scene/pair.js";

export function drawBeside(pass, where, look, { name, index }) {
  const pair = pairOf(pass, where);
  if (!pair) return [];
  const there = pair.toA(name, index), one = there ? pair.pass.number(name, there) : undefined, other = pass.number(name, index);
  const line = element("p");
  if (other === undefined || !look.shown(name, index)) return [];
  if (one === undefined) line.append(...sideOf("B", other), ". A has no such number.");
  else if (pass.stages.get(name).scale === "flag") line.append(...sideOf("A", one, seen), " ", ...sideOf("B", other, seen));
  else line.append(...sideOf("A", one), " ", ...sideOf("B", other), ...(Number.isFinite(other - one) ? [element("span", "side-difference", `B − A = ${digits(other - one)}`)] : []));
  return [line];
}

function sideOf(name, number, written = digits) {
  return [element("strong", "side", name), ` ${written(number)}`];
}

function seen(flag) {
  return flag ? "visible" : "hidden";
}
