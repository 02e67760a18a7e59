// The map: the row of steps, as a diagram of the pass; where that has no room, their titles alone, in as many rows as they take.
// The present step is lit, a click leads to another.
import { makeDiagram } from "./diagram.js";
import { element } from "../elements/element.js";
import { afterFrame } from "../elements/afterFrame.js";
import { showDistances } from "./distance.js";
import { folded } from "../pass/layers.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { stepAt } from "../scene/state.js";

const HEIGHT = 44,
  WIDTH = 58;
const LEAST = 32,
  SHARE = 1 / 27; // of a thumb where there are several layers or many steps: pixels, and of the map's width
const BETWEEN = 3;
const MANY = 16; // steps, which have no room for large thumbs

/** @returns {View} */
export function makeMap(tools) {
  const box = element("div", "map");
  box.setAttribute("role", "toolbar");
  box.setAttribute("aria-label", "All steps");
  const diagram = makeDiagram(box, {
    stage: ({ element: thumb }) => thumb,
    step: ({ step, title, opens }, depths) => {
      const button = element("button", "step");
      button.type = "button";
      button.dataset.step = step;
      button.append(depths, element("span", "title", title));
      if (opens) button.prepend(nameAside(opens));
      button.onclick = () => tools.go({ step, reveal: null });
      return button;
    },
  });
  rovingFocus(box, () => [diagram.steps()]);
  let drawn = null,
    shown = null,
    breadth = null,
    isFitted = true, // the titles in their room
    isInSight = true; // the present step

  const draw = () => {
    const { pass, where, colours } = shown;
    const { map, steps } = pass.document;
    const attentionOf = layer => steps.find(step => step.layer === layer).attention;
    const { columns, arrows } = folded(map, stepAt(pass, where).layer, attentionOf);
    const isHeld = box.querySelector(":focus") !== null,
      isOther = diagram.build([columns], arrows);
    const isLayered = columns.some(({ layer }) => layer > 0) || columns.length > MANY;
    box.classList.toggle("layered", isLayered);
    for (const button of diagram.steps()) {
      if (button.dataset.step === where.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    if (isOther || drawn?.pass !== pass) showDistances(diagram.steps(), columns, pass.document);
    const current = diagram.rows.querySelector("[aria-current]");
    setTabStop(diagram.steps(), current ?? diagram.steps()[0]);
    if (isHeld && isOther) current?.focus();
    breadth ??= box.clientWidth;
    const isMoved = drawn?.breadth !== breadth;
    if (isOther || isMoved || drawn.pass !== pass || drawn.colours !== colours) {
      const width = isLayered ? widthIn(breadth) : WIDTH;
      const areAsLarge = diagram
        .thumbs()
        .map(thumb => {
          const height = (HEIGHT - (thumb.beside - 1) * BETWEEN) / thumb.beside;
          return thumb.resize(pass, { width, height, largest: 7 });
        })
        .every(Boolean);
      if (!isOther && (isMoved || !areAsLarge)) afterFrame(diagram.connect); // other steps the diagram connects as it sees them
      afterFrame(drawThumbs); // what one asked for is in neither
    }
    if (isMoved) fit();
    isFitted &&= isMoved || !isOther;
    isInSight &&= !isMoved && drawn.step === where.step;
    drawn = { pass, colours, breadth, step: where.step };
    for (const thumb of diagram.thumbs()) thumb.markHead(where.cell.head);
  };
  const fit = () => {
    box.classList.remove("titles");
    box.classList.toggle("titles", diagram.rows.scrollWidth > box.clientWidth);
  };
  const drawThumbs = () => {
    for (const thumb of diagram.thumbs()) thumb.draw(shown.pass, shown.colours);
  };
  const connect = () => {
    if (!isFitted) fit();
    const current = isInSight ? null : diagram.rows.querySelector("[aria-current]");
    if (current) box.scrollLeft = current.offsetLeft - (box.clientWidth - current.offsetWidth) / 2;
    isFitted = isInSight = true;
  };
  new ResizeObserver(() => {
    breadth = null;
    if (!shown) return;
    draw();
    connect();
  }).observe(box);
  document.fonts.addEventListener("loadingdone", fit);
  return {
    element: box,
    update(pass, where, { colours }) {
      shown = { pass, where, colours };
      draw();
    },
    connect,
  };
}

function widthIn(breadth) {
  return Math.min(Math.max(SHARE * breadth, LEAST), WIDTH);
}

// The name of the layer that is open, upright beside its first step.
function nameAside(text) {
  const name = element("span", "opens", text);
  name.setAttribute("aria-hidden", "true");
  return name;
}
