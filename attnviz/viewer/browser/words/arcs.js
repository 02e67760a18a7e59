// Arcs: from the selected query to each word, as thick as the attention that the word gets.
import { svgElement } from "../elements/element.js";

const THICKEST = 13;

// `from` and `to` are the places of the queries and the keys in a drawing of that height; in one sentence (`shared`) they are
// the same, and arcs rise over it; else they hang between two lines.
export function drawArcs(svg, { from, to, height, shared, cell, shares }, { pick, point }) {
  const arcs = shares.flatMap((share, key) => (share > 0 && from[cell.query] && to[key] ? [{ key, share }] : []));
  svg.replaceChildren(...arcs
    .sort((one, other) => (one.key === cell.key) - (other.key === cell.key)) // the selected one lies on top
    .map(({ key, share }) => {
      const path = (shared ? arch : thread)(from[cell.query], to[key], height, cell.query === key, Math.abs(cell.query - key) / Math.max(from.length - 1, 1));
      const drawn = svgElement("path", { d: path, style: `--thick: ${(THICKEST * share).toFixed(2)}px`, class: key === cell.key ? "arc lit" : "arc" });
      const target = svgElement("path", { d: path, class: "target" }); // wide enough to be hit
      target.addEventListener("click", () => pick(key));
      target.addEventListener("pointerenter", () => point(key));
      target.addEventListener("pointerleave", () => point(null));
      const group = svgElement("g");
      group.append(drawn, target);
      return group;
    }));
}

// Over the sentence, the higher the farther it leads; to the word itself a loop.
function arch(from, to, height, isItself, far) {
  const base = height - 1;
  if (isItself) return `M ${from.x - 9} ${base} C ${from.x - 30} ${base - 40}, ${from.x + 30} ${base - 40}, ${from.x + 9} ${base}`;
  const top = base - (height - 9) * (0.35 + 0.65 * Math.sqrt(far)) * 1.3;
  const lean = (to.x - from.x) * 0.12;
  return `M ${from.x} ${base} C ${from.x + lean} ${top}, ${to.x - lean} ${top}, ${to.x} ${base}`;
}

function thread(from, to, height) {
  return `M ${from.x} 1 C ${from.x} ${height / 2}, ${to.x} ${height / 2}, ${to.x} ${height - 1}`;
}
