// The diagram: the steps of a pass in a row, each with thumbs of its stages, and arrows between them.
import { drawArrows } from "./arrows.js";
import { element, svgElement } from "./element.js";
import { layersOf } from "./layers.js";
import { makeThumb } from "./thumb.js";

// `draw` are step(column, layers) and stage(thumb), which give elements for a step of the map and a thumb of a stage.
export function makeDiagram(box, draw) {
  const arrows = svgElement("svg", { class: "arrows", "aria-hidden": "true" }), row = element("div", "row"), whole = element("div", "diagram");
  whole.append(arrows, row);
  box.append(whole);
  let thumbs = [], built = "";

  const build = (map) => {
    if (JSON.stringify(map) === built) return;
    built = JSON.stringify(map);
    thumbs = [];
    const layers = layersOf(map);
    row.replaceChildren(...map.columns.map((column, place) => {
      const inside = element("span", "layers");
      inside.append(...layers[place].map((stages) => {
        const layer = element("span", "layer");
        const made = stages.map(makeThumb);
        thumbs.push(...made.map((thumb) => Object.assign(thumb, { beside: stages.length })));
        layer.append(...made.map(draw.stage));
        return layer;
      }));
      return draw.step(column, inside);
    }));
    observer.disconnect();
    for (const step of row.children) observer.observe(step);
  };
  let pairs = [];
  const connect = (arrowsOfMap) => {
    pairs = arrowsOfMap;
    const canvasOf = Object.fromEntries(thumbs.map(({ name, canvas }) => [name, canvas]));
    drawArrows(arrows, row, pairs.map((pair) => pair.map((name) => canvasOf[name])), [...row.querySelectorAll(".layer")]);
  };
  const observer = new ResizeObserver(() => connect(pairs)); // a font that arrives moves all that stands in the row
  return { row, build, connect, thumbs: () => thumbs };
}
