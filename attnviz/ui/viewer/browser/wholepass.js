// The whole pass: the map, large, with the path of one number lit through every stage, as strongly as each number takes
// part in it.
import { hasWords } from "./axes.js";
import { coloursOf } from "./colour.js";
import { makeDiagram } from "./diagram.js";
import { element } from "./element.js";
import { typeset } from "./formula.js";
import { focusOf, isFirst, slotsOf, stepAt } from "./state.js";
import { indexIn } from "./tiling.js";

const ROOM_OF_WORDS = 56; // pixels, as in the style of the row
const SMALLEST_WORD = 9; // pixels of a row that can be named
const LINES_OF_TEXT = 2.4; // lines of text over and between thumbs

export function makeWholePass(tools) {
  const box = element("section", "whole");
  box.setAttribute("aria-label", "The whole pass");
  const said = element("p", "said");
  box.append(said);
  const diagram = makeDiagram(box, {
    stage: (thumb) => {
      const figure = element("span", "stage-of");
      figure.append(element("span", "symbol"), thumb.element);
      thumb.element.append(element("span", "words-of"));
      return figure;
    },
    step: ({ step, title }, layers) => {
      const column = element("div", "step");
      column.style.flexGrow = layers.children.length;
      const button = element("button", "title", title);
      button.type = "button";
      button.onclick = () => tools.go({ step, reveal: null });
      column.append(layers, button);
      return column;
    },
  });
  let shown = null;

  const at = (event) => {
    const thumb = diagram.thumbs().find(({ canvas }) => canvas === event.target);
    if (!thumb) return null;
    const { left, top } = thumb.canvas.getBoundingClientRect();
    const index = indexIn(thumb.tiled, shown.pass.stages.get(thumb.name), { x: event.clientX - left, y: event.clientY - top });
    return index && { name: thumb.name, index };
  };
  diagram.row.addEventListener("pointermove", (event) => {
    const cell = at(event);
    tools.point(cell?.name ?? "", cell?.index ?? null);
  });
  diagram.row.addEventListener("pointerleave", () => tools.point("", null));
  diagram.row.addEventListener("click", (event) => {
    const cell = at(event);
    if (cell) tools.pick(cell.name, cell.index);
  });

  const draw = () => {
    const { pass, where } = shown;
    const { map, palette } = pass.document;
    diagram.build({ ...map, columns: map.columns.filter(({ stages }) => stages.length) });
    const focus = focusOf(pass, where), parts = pass.parts(focus.name, focus.index);
    said.textContent = `The path of ${pass.nameOf(focus.name, focus.index)}: the more a number takes part in it, the stronger it is drawn.`;
    const colours = coloursOf(box, palette), line = Number.parseFloat(getComputedStyle(box).fontSize);
    const layers = diagram.row.querySelectorAll(".layer").length;
    const room = { width: (diagram.row.clientWidth - ROOM_OF_WORDS) / layers - 17, largest: where.present ? 48 : 24 };
    const high = box.clientHeight - said.offsetHeight - LINES_OF_TEXT * line;
    for (const thumb of diagram.thumbs()) {
      const none = new Float64Array(pass.stages.get(thumb.name).length);
      thumb.draw(pass, { ...room, height: high / thumb.beside - 1.8 * line }, colours, parts.get(thumb.name) ?? none);
      thumb.markCell(thumb.name === focus.name ? focus.index : null);
      const symbol = thumb.element.parentNode.firstChild;
      symbol.replaceChildren(typeset(pass.stages.get(thumb.name).symbol));
      thumb.element.parentNode.className = `stage-of ${pass.stages.get(thumb.name).role}`;
    }
    nameRows(pass, where, diagram.thumbs()[0]);
    diagram.connect(map.arrows);
  };
  // The words of the first stage's rows, where there is room for them: all others have the same rows, or the heads' below.
  const nameRows = (pass, where, thumb) => {
    const words = thumb.element.lastChild, { axes } = pass.stages.get(thumb.name), { cell } = thumb.tiled;
    const isNamed = axes.length === 2 && hasWords(axes[0]) && cell >= SMALLEST_WORD;
    words.replaceChildren(...(isNamed ? axes[0].labels : []).map((label, row) => {
      const word = element("span", row === pass.indexAt(thumb.name, where.cell)[0] ? "selected" : "", label);
      Object.assign(word.style, { height: `${cell}px`, lineHeight: `${cell}px` });
      return word;
    }));
  };
  const isHere = ({ pass, where }) => !slotsOf(stepAt(pass, where)).length && !isFirst(pass, where);
  new ResizeObserver(() => { if (shown && isHere(shown)) draw(); }).observe(box);
  return {
    element: box,
    update(pass, where) {
      shown = { pass, where };
      box.hidden = !isHere(shown);
      if (!box.hidden) draw();
    },
  };
}
