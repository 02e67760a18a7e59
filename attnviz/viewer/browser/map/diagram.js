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
  let made = new Map(), // what a step is made of -> {element, thumbs}
    thumbs = [],
    steps = [],
    pairs = [],
    built = "";

  const makeStep = (column, depths) => {
    const inside = element("span", "depths"),
      thumbsOf = [];
    inside.append(
      ...depths.map(stages => {
        const depth = element("span", "depth"),
          small = stages.map(name => Object.assign(makeThumb(name), { beside: stages.length }));
        thumbsOf.push(...small);
        depth.append(...small.map(draw.stage));
        return depth;
      }),
    );
    return { element: draw.step(column, inside), thumbs: thumbsOf };
  };
  // Lays out rows of columns of the map; steps that stay the same stay where they are. Returns whether any is another.
  const build = (columns, arrowsOfMap) => {
    const next = JSON.stringify([columns, arrowsOfMap]);
    if (next === built) return false;
    built = next;
    pairs = arrowsOfMap;
    const before = made;
    made = new Map();
    const inRows = columns.map(row =>
      row.map(column => {
        const depths = depthsOf(column.stages, arrowsOfMap),
          key = JSON.stringify([column, depths]);
        made.set(key, before.get(key) ?? makeStep(column, depths));
        return made.get(key);
      }),
    );
    putInto(
      rows,
      inRows.map((_, place) => rows.children[place] ?? element("div", "row")),
    );
    for (const [place, row] of inRows.entries()) {
      putInto(
        rows.children[place],
        row.map(step => step.element),
      );
      if (columns.length > 1) rows.children[place].dataset.layer = nameOf(place + 1);
      else delete rows.children[place].dataset.layer;
    }
    thumbs = inRows.flat().flatMap(step => step.thumbs);
    steps = inRows.flat().map(step => step.element);
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

// Has a box hold some elements in their order. Those that it held in the same order aren't taken out, or all in them is laid
// out again.
function putInto(box, elements) {
  for (const each of [...box.children]) if (!elements.includes(each)) each.remove();
  elements.forEach((each, place) => {
    if (box.children[place] !== each) box.insertBefore(each, box.children[place] ?? null);
  });
}
