// The diagram: the steps of a pass in rows, each with thumbs of its stages, and arrows between them.
import { drawArrows } from "./arrows.js";
import { depthsOf } from "../pass/depths.js";
import { element, svgElement } from "../elements/element.js";
import { nameOf } from "../pass/layers.js";
import { makeThumb } from "./thumb.js";

// `draw` are step(column, depths) and stage(thumb), which give elements for a step of the map and a thumb of a stage.
export function makeDiagram(box, draw) {
  const arrows = svgElement("svg", { class: "arrows", "aria-hidden": "true" }),
    rows = element("div", "rows"),
    whole = element("div", "diagram");
  whole.append(arrows, rows);
  box.append(whole);
  let thumbs = [],
    steps = [],
    pairs = [],
    built = "";

  const makeStep = (column, arrowsOfMap) => {
    const inside = element("span", "depths");
    inside.append(
      ...depthsOf(column.stages, arrowsOfMap).map(stages => {
        const depth = element("span", "depth"),
          made = stages.map(makeThumb);
        thumbs.push(...made.map(thumb => Object.assign(thumb, { beside: stages.length })));
        depth.append(...made.map(draw.stage));
        return depth;
      }),
    );
    return draw.step(column, inside);
  };
  const makeRow = (columns, arrowsOfMap) => {
    const row = element("div", "row");
    row.append(...columns.map(column => makeStep(column, arrowsOfMap)));
    return row;
  };
  // Lays out rows of columns of the map. Returns whether they are others than before.
  const build = (columns, arrowsOfMap) => {
    const next = JSON.stringify([columns, arrowsOfMap]);
    if (next === built) return false;
    built = next;
    thumbs = [];
    pairs = arrowsOfMap;
    rows.replaceChildren(...columns.map(each => makeRow(each, pairs)));
    if (columns.length > 1)
      for (const [place, row] of [...rows.children].entries()) row.dataset.layer = nameOf(place + 1);
    steps = [...rows.children].flatMap(row => [...row.children]);
    observer.disconnect();
    for (const step of steps) observer.observe(step);
    return true;
  };
  const connect = () => {
    const endOf = Object.fromEntries(thumbs.map(({ name, canvas }) => [name, canvas.closest(".aside") ?? canvas])); // a symbol beside it too
    drawArrows(
      arrows,
      rows,
      pairs.map(pair => pair.map(name => endOf[name])),
      [...rows.querySelectorAll(".depth")],
    );
  };
  const observer = new ResizeObserver(connect); // a font that arrives moves all that stands in a row
  return { rows, build, connect, thumbs: () => thumbs, steps: () => steps };
}
