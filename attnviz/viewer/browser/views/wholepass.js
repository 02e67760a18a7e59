// The whole pass: the map, large, with the path of one number lit through every stage, as strongly as each number takes part in it.
import { hasWords } from "../model/axes.js";
import { focusOf, isFirst, slotsOf, stepAt } from "../model/state.js";
import { indexIn } from "../fit/fit.js";
import { button, h, write } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { inRows, makeDiagram } from "./diagram.js";

const ROOM_OF_WORDS = 56,
  ROOM_AT_END = 12; // pixels, as in the style of the row
const LANES = 14; // pixels below thumbs, for arrows that lead past them
const GAP = 6; // pixels between thumbs whose symbols stand beside them
const NARROWEST = 12; // pixels of a thumb
const LEAST_IN_A_TALK = 20; // pixels of a thumb, with titles below
const SMALLEST_WORD = 9; // pixels of a row that can be named
const LINES_OF_TEXT = 2.4; // lines of text over and between thumbs
const LEAST_LINES = 9; // lines of text that a row is high at least; of more than two layers one scrolls to the others

const sizeOf = ({ clientWidth, clientHeight }) => `${clientWidth} × ${clientHeight}`;

/** @returns {View} */
export function makeWholePass(tools) {
  const sentence = h("p", { class: "said" }),
    box = h("section", { class: "whole", "aria-label": "The whole pass", hidden: true }, sentence);
  const diagram = makeDiagram(box, {
    stage: thumb => {
      thumb.element.append(h("span", { class: "words-of" }));
      return h("span", { class: "stage-of" }, h("span", { class: "symbol" }), thumb.element);
    },
    step: ({ step, title }, depths) => {
      const link = button(title, () => tools.go({ step, reveal: null }), "title");
      return h("div", { class: "step", style: { flexGrow: depths.children.length } }, depths, link);
    },
  });
  let shown,
    drawnIn = ""; // the size of the box when it was drawn, with the scrollbar that this may have added
  const at = event => {
    const thumb = diagram.thumbs().find(({ canvas }) => canvas === event.target);
    if (!thumb) return null;
    const { left, top } = thumb.canvas.getBoundingClientRect();
    const index = indexIn(thumb.tiled, shown.pass.stages.get(thumb.name), {
      x: event.clientX - left,
      y: event.clientY - top,
    });
    return index && { name: thumb.name, index };
  };
  diagram.rows.addEventListener("pointermove", event => {
    const cell = at(event);
    tools.point(cell?.name ?? "", cell?.index ?? null);
  });
  diagram.rows.addEventListener("pointerleave", () => tools.point("", null));
  diagram.rows.addEventListener("click", event => {
    const cell = at(event);
    if (cell) tools.pick(cell.name, cell.index);
  });
  const draw = () => {
    const { pass, where, look } = shown,
      { map } = pass.document,
      rows = inRows(map.columns.filter(({ stages }) => stages.length));
    diagram.build(rows, map.arrows);
    const focus = focusOf(pass, where),
      parts = pass.parts(focus.name, focus.index);
    const whose = pass.other ? `This is B alone${look.kind === "B − A" ? ", not B − A" : ""}. ` : "",
      name = pass.nameOf(focus.name, focus.index);
    write(sentence, `${whose}Where ${name} came from: darker cells contributed more.`);
    for (const thumb of diagram.thumbs()) nameThumb(thumb, pass.stages.get(thumb.name), rows.length > 1);
    const drawn = isUntitled => {
      box.classList.toggle("untitled", isUntitled);
      return fitThumbs(diagram, box, box.clientHeight - sentence.offsetHeight, (thumb, space) => {
        thumb.resize(pass, { ...space, largest: where.present ? 48 : 24 });
        thumb.draw(pass, look.colours, parts.get(thumb.name) ?? new Float64Array(pass.stages.get(thumb.name).length));
      });
    };
    if (drawn(false) < LEAST_IN_A_TALK && where.present) drawn(true);
    for (const thumb of diagram.thumbs()) thumb.markCell(thumb.name === focus.name ? focus.index : null);
    nameRows(pass, where, diagram.thumbs()[0]);
    diagram.connect();
    drawnIn = sizeOf(box);
  };
  const isHere = ({ pass, where }) => !slotsOf(stepAt(pass, where)).length && !isFirst(pass, where);
  new ResizeObserver(() => {
    if (shown && isHere(shown) && sizeOf(box) !== drawnIn) draw(); // for its own scrollbar it would draw for ever
  }).observe(box);
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      box.hidden = !isHere({ pass, where });
      if (!box.hidden) draw();
    },
  };
}

// A thumbnail's label and accessible name.
function nameThumb({ beside, canvas, element: { parentNode: figure } }, { symbol, role, title, shape }, isInRows) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}: ${shape.join(" × ")} numbers`);
  figure.firstChild.replaceChildren(typeset(symbol));
  figure.className = `stage-of ${role}`;
  figure.classList.toggle("aside", isInRows && beside > 1);
  canvas.parentNode.lastChild.replaceChildren(); // words, of a pass in which it was the first
}

// Has each drawn as large as rows allow; titles that are wider than thumbs take some of that. Returns how wide they may be.
function fitThumbs(diagram, box, space, draw) {
  const rows = [...diagram.rows.children],
    thumbs = diagram.thumbs(),
    longest = Math.max(...rows.map(row => row.querySelectorAll(".depth").length)),
    line = Number.parseFloat(getComputedStyle(box).fontSize),
    whole = rows.length > 2 ? Math.max(space, rows.length * LEAST_LINES * line) : space;
  box.classList.toggle("scrolls", whole > space);
  diagram.rows.parentNode.style.height = whole > space ? `${whole}px` : "";
  const high = whole / rows.length - LINES_OF_TEXT * line - LANES,
    over = Math.max(...thumbs.map(thumb => thumb.element.previousSibling.offsetHeight)),
    rightOf = each => each.getBoundingClientRect().right,
    overflow = () => Math.max(...rows.map(row => rightOf(row.lastChild) + ROOM_AT_END - rightOf(row)));
  const drawAt = width => {
    for (const thumb of thumbs) {
      const isAside = thumb.element.parentNode.classList.contains("aside");
      draw(thumb, { width, height: high / thumb.beside - (isAside ? GAP : over) });
    }
    return width;
  };
  let width = drawAt((diagram.rows.clientWidth - ROOM_OF_WORDS - ROOM_AT_END) / longest - 17);
  while (overflow() > 1 && width > NARROWEST) width = drawAt(width - overflow() / longest - 1);
  return width;
}

// The words of the first stage's rows, if there is space: all others have the same rows, or the heads' below.
function nameRows(pass, where, thumb) {
  const words = thumb.element.lastChild,
    { axes } = pass.stages.get(thumb.name),
    { cell } = thumb.tiled,
    least = Math.max(SMALLEST_WORD, where.present ? Number.parseFloat(getComputedStyle(words).fontSize) : 0),
    labels = axes.length === 2 && hasWords(axes[0]) && cell >= least ? axes[0].labels : [],
    selected = pass.indexAt(thumb.name, where.cell)[0],
    style = { height: `${cell}px`, lineHeight: `${cell}px` };
  words.replaceChildren(
    ...labels.map((label, row) => h("span", { class: row === selected ? "selected" : "", style }, label)),
  );
}
