// Arrows: from each stage of the map to those that are computed from it.
import { svgElement } from "./element.js";

const LANE = 6; // pixels under the stages that an arrow leads past

// `pairs` are [element, element], from left to right. `layers` are the columns between which there is room to bend.
export function drawArrows(svg, origin, pairs, layers) {
  const { left, top, width, height } = origin.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const placeOf = (element) => {
    const at = element.getBoundingClientRect();
    return { left: at.left - left, right: at.right - left, middle: at.top - top + at.height / 2, bottom: at.bottom - top };
  };
  const columns = layers.map(placeOf);
  svg.replaceChildren(...pairs.map((pair) => {
    const [from, to] = pair.map(placeOf);
    const between = columns.filter((column) => column.left > from.right && column.right < to.left);
    const lane = Math.max(...between.map((column) => column.bottom)) + LANE;
    const path = svgElement("path", { d: between.length ? around(from, to, lane) : straight(from, to), class: "arrow" });
    const head = svgElement("path", { d: `M ${to.left - 5} ${to.middle - 2.5} l 4 2.5 l -4 2.5 z`, class: "tip" });
    const group = svgElement("g");
    group.append(path, head);
    return group;
  }));
}

function straight(from, to) {
  const half = (from.right + to.left) / 2;
  return `M ${from.right + 1} ${from.middle} C ${half} ${from.middle}, ${half} ${to.middle}, ${to.left - 3} ${to.middle}`;
}

function around(from, to, lane) {
  const out = from.right + 7, back = to.left - 8;
  return `M ${from.right + 1} ${from.middle} C ${out} ${from.middle}, ${out - 4} ${lane}, ${out + 8} ${lane}`
    + ` L ${back - 8} ${lane} C ${back + 4} ${lane}, ${back} ${to.middle}, ${to.left - 3} ${to.middle}`;
}
