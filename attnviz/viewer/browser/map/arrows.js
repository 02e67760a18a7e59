// Arrows: from each stage of the map to those that are computed from it.
import { svgElement } from "../elements/element.js";

const LANE = 6; // pixels under the stages that an arrow leads past, and over a row that it leads down to

// `pairs` are [element, element], from left to right or from one row to a later one. `columns` are those between which there
// is room to bend.
export function drawArrows(svg, origin, pairs, columns) {
  const { left, top, width, height } = origin.getBoundingClientRect();
  const placeOf = element => {
    const at = element.getBoundingClientRect();
    return {
      row: element.closest(".row"),
      left: at.left - left,
      right: at.right - left,
      middle: at.top - top + at.height / 2,
      bottom: at.bottom - top,
    };
  };
  const places = columns.map(placeOf);
  const ways = pairs.map(pair => {
    const [from, to] = pair.map(placeOf);
    return [pathOf(from, to, places, top), `M ${to.left - 5} ${to.middle - 2.5} l 4 2.5 l -4 2.5 z`];
  });
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`); // only now: places asked for after a change cost a layout
  while (svg.childElementCount > ways.length) svg.lastChild.remove();
  while (svg.childElementCount < ways.length) svg.append(makeArrow());
  ways.forEach((way, nth) => {
    way.forEach((d, part) => {
      const path = svg.children[nth].children[part];
      if (path.getAttribute("d") !== d) path.setAttribute("d", d);
    });
  });
}

function makeArrow() {
  const group = svgElement("g");
  group.append(...["arrow", "tip"].map(name => svgElement("path", { class: name })));
  return group;
}

function pathOf(from, to, columns, top) {
  if (from.row !== to.row) return by(from, to, to.row.getBoundingClientRect().top - top - LANE);
  const between = columns.filter(
    column => column.row === from.row && column.left > from.right && column.right < to.left,
  );
  return between.length ? by(from, to, Math.max(...between.map(column => column.bottom)) + LANE) : straight(from, to);
}

function straight(from, to) {
  const half = (from.right + to.left) / 2;
  return `M ${from.right + 1} ${from.middle} C ${half} ${from.middle}, ${half} ${to.middle}, ${to.left - 3} ${to.middle}`;
}

// By way of a lane at some height, which may lead back to the left.
function by(from, to, lane) {
  const out = from.right + 7,
    back = to.left - 8,
    way = Math.sign(back - out) * 8;
  return (
    `M ${from.right + 1} ${from.middle} C ${out} ${from.middle}, ${out - way / 2} ${lane}, ${out + way} ${lane}` +
    ` L ${back - way} ${lane} C ${back + way / 2} ${lane}, ${back} ${to.middle}, ${to.left - 3} ${to.middle}`
  );
}
