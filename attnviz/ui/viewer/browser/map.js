// The map: the row of steps, as a diagram of the pass. The present step is lit, a click leads to another.
import { coloursOf } from "./colour.js";
import { makeDiagram } from "./diagram.js";
import { element } from "./element.js";

const HEIGHT = 44;
const BETWEEN = 3;

export function makeMap(tools) {
  const box = element("div", "map");
  const diagram = makeDiagram(box, {
    stage: ({ element: thumb }) => thumb,
    step: ({ step, title }, layers) => {
      const button = element("button", "step");
      button.type = "button";
      button.dataset.step = step;
      button.append(layers, element("span", "title", title));
      button.onclick = () => tools.go({ step, reveal: null });
      return button;
    },
  });
  let drawn = null, shown = null;

  const draw = () => {
    const { pass, where } = shown;
    const { map, palette } = pass.document;
    diagram.build(map);
    for (const button of diagram.row.children) {
      if (button.dataset.step === where.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    const colours = coloursOf(box, palette), now = JSON.stringify([colours, box.clientWidth]);
    if (drawn?.pass !== pass || drawn.now !== now) {
      for (const thumb of diagram.thumbs()) {
        const height = (HEIGHT - (thumb.beside - 1) * BETWEEN) / thumb.beside;
        thumb.draw(pass, { width: 58, height, largest: 7 }, colours);
      }
      diagram.connect(map.arrows);
    }
    if (drawn?.now !== now || drawn.step !== where.step) show(diagram.row.querySelector("[aria-current]"));
    drawn = { pass, now, step: where.step };
    for (const thumb of diagram.thumbs()) thumb.markHead(where.cell.head);
  };
  const show = (button) => {
    if (button) box.scrollLeft = button.offsetLeft - (box.clientWidth - button.offsetWidth) / 2;
  };
  new ResizeObserver(() => { if (shown) draw(); }).observe(box);
  return {
    element: box,
    update(pass, where) {
      shown = { pass, where };
      draw();
    },
  };
}
