// Arcs: from a query to the words that it looks at, as thick as their shares.
import { LITTLE } from "../model/numeral.js";
import { svgElement } from "../dom/element.js";

const THICKEST = 13,
  LOOP = 30; // pixels: of the thickest, and half as wide as a loop may be

/** The arcs of the selected query in a stage of attention, none for a weight under 1 %: {query, key, share, isLit, isFaint}. @param {Pass} pass @param {Look} look */
export const arcsOf = (pass, look, attention, cell) =>
  pass.stages.get(attention).axes[2].labels.flatMap((_, key) => {
    const index = pass.indexAt(attention, { ...cell, key }),
      share = pass.number(attention, index) ?? 0;
    return share >= LITTLE && look.shown(attention, index)
      ? [{ query: cell.query, key, share, isLit: key === cell.key, isFaint: false }]
      : [];
  });

// `from` and `to` are the positions of the queries and the keys in a drawing of that height. In one sentence they are the same,
// and arcs rise "above" or hang "below" it; or else they hang "between" two lines. A share of `most` has the thickest; those of a
// muted head are dashed.
export function drawArcs(svg, { from, to, height, side, most, isMuted }, arcs, { pick, point }) {
  svg.classList.toggle("muted", isMuted);
  const base = side === "below" ? 1 : height - 1,
    off = by => base + (side === "below" ? by : -by);
  const rank = ({ isLit, isFaint }) => Number(isLit) - Number(isFaint);
  const apart = from.length > 1 ? Math.abs(from[1].x - from[0].x) : LOOP;
  const drawn = arcs.filter(({ query, key }) => from[query] && to[key]).sort((one, other) => rank(one) - rank(other)); // the selected one lies on top
  const known = new Map([...svg.children].map(group => [group.dataset.arc, group]));
  arrange(
    svg,
    drawn.map(({ query, key, share, isLit, isFaint }) => {
      const far = Math.abs(query - key) / Math.max(from.length - 1, 1),
        name = `${query}-${key}`,
        group = known.get(name) ?? drawArc(name),
        [line, target] = group.children;
      const path =
        side === "between"
          ? thread(from[query], to[key], height)
          : query === key
            ? loop(from[query], Math.min(LOOP, apart), off)
            : arch(from[query], to[key], (height - 9) * (0.35 + 0.65 * Math.sqrt(far)) * 1.3, off);
      for (const each of [line, target]) each.setAttribute("d", path);
      line.style.setProperty("--thick", `${((THICKEST * share) / most).toFixed(2)}px`);
      line.setAttribute("class", `arc${isLit ? " lit" : ""}${isFaint ? " faint" : ""}`);
      target.onclick = () => pick({ query, key });
      target.onpointerenter = () => point({ query, key });
      target.onpointerleave = () => point(null);
      return group;
    }),
  );
}

function drawArc(name) {
  const target = svgElement("path", { class: "target" }); // wide enough to be hit
  return svgElement("g", { "data-arc": name }, svgElement("path"), target);
}

// Puts the arcs in their order around the last, which never moves: the pointer may be on it, and a browser gives no click to
// what was put elsewhere between press and release.
function arrange(svg, groups) {
  for (const group of [...svg.children]) if (!groups.includes(group)) group.remove();
  if (groups.every((group, position) => group === svg.children[position])) return;
  const last = groups.at(-1);
  if (last.parentNode !== svg) svg.append(last);
  last.before(...groups.slice(0, -1));
}

// Over the sentence, or below it, the farther from it the farther the arc leads; `off` says how far from the words that is.
function arch(from, to, rise, off) {
  const lean = (to.x - from.x) * 0.12;
  return `M ${from.x} ${off(0)} C ${from.x + lean} ${off(rise)}, ${to.x - lean} ${off(rise)}, ${to.x} ${off(0)}`;
}

const loop = ({ x }, wide, off) =>
  `M ${x - 0.3 * wide} ${off(0)} C ${x - wide} ${off(40)}, ${x + wide} ${off(40)}, ${x + 0.3 * wide} ${off(0)}`;

const thread = (from, to, height) =>
  `M ${from.x} 1 C ${from.x} ${height / 2}, ${to.x} ${height / 2}, ${to.x} ${height - 1}`;
