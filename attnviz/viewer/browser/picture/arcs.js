// Arcs: from a query to the words that it looks at, as thick as their shares.
import { svgElement } from "../elements/element.js";

const THICKEST = 13, LOOP = 30; // pixels: of the thickest, and half as wide as a loop may be

// Those of the selected query in a stage of attention: {query, key, share, isLit, isFaint}.
export function arcsOf(pass, look, attention, cell) {
  return pass.stages.get(attention).axes[2].labels.flatMap((_, key) => {
    const index = pass.indexAt(attention, { ...cell, key }), share = pass.number(attention, index);
    return share > 0 && look.shown(attention, index) ? [{ query: cell.query, key, share, isLit: key === cell.key, isFaint: false }] : [];
  });
}

// `from` and `to` are the places of the queries and the keys in a drawing of that height. In one sentence they are the same,
// and arcs rise "above" or hang "below" it; or else they hang "between" two lines. A share of `most` has the thickest.
export function drawArcs(svg, { from, to, height, side, most }, arcs, { pick, point }) {
  const base = side === "below" ? 1 : height - 1, off = (by) => base + (side === "below" ? by : -by);
  const apart = from.length > 1 ? Math.abs(from[1].x - from[0].x) : LOOP;
  const there = arcs.filter(({ query, key }) => from[query] && to[key]);
  svg.replaceChildren(...there
    .sort((one, other) => rank(one) - rank(other)) // the selected one lies on top
    .map(({ query, key, share, isLit, isFaint }) => {
      const far = Math.abs(query - key) / Math.max(from.length - 1, 1);
      const path = side === "between" ? thread(from[query], to[key], height)
        : query === key ? loop(from[query], Math.min(LOOP, apart), off)
        : arch(from[query], to[key], (height - 9) * (0.35 + 0.65 * Math.sqrt(far)) * 1.3, off);
      const drawn = svgElement("path", { d: path, style: `--thick: ${((THICKEST * share) / most).toFixed(2)}px`, class: `arc${isLit ? " lit" : ""}${isFaint ? " faint" : ""}` });
      const target = svgElement("path", { d: path, class: "target" }); // wide enough to be hit
      target.addEventListener("click", () => pick({ query, key }));
      target.addEventListener("pointerenter", () => point({ query, key }));
      target.addEventListener("pointerleave", () => point(null));
      const group = svgElement("g", { "data-arc": `${query}-${key}` });
      group.append(drawn, target);
      return group;
    }));
}

function rank({ isLit, isFaint }) {
  return isLit - isFaint;
}

// Over the sentence, or below it, the farther from it the farther the arc leads; `off` says how far from the words that is.
function arch(from, to, rise, off) {
  const lean = (to.x - from.x) * 0.12;
  return `M ${from.x} ${off(0)} C ${from.x + lean} ${off(rise)}, ${to.x - lean} ${off(rise)}, ${to.x} ${off(0)}`;
}

// To the word itself.
function loop({ x }, wide, off) {
  return `M ${x - 0.3 * wide} ${off(0)} C ${x - wide} ${off(40)}, ${x + wide} ${off(40)}, ${x + 0.3 * wide} ${off(0)}`;
}

function thread(from, to, height) {
  return `M ${from.x} 1 C ${from.x} ${height / 2}, ${to.x} ${height / 2}, ${to.x} ${height - 1}`;
}
