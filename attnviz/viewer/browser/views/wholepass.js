// The whole pass: the map, large, with the path to one number through every stage, from the words to what they became.
import { hasWords } from "../model/axes.js";
import { percent } from "../model/numeral.js";
import { pathTo, inRows, makeDiagram, onPathBy } from "./diagram.js";
import { focusOf, isFirst, slotsOf, stepAt } from "../model/state.js";
import { nameInBlock } from "../model/words.js";
import { MAX_HEADS_APART, indexIn, tileAt } from "../fit/fit.js";
import { button, h, write } from "../dom/element.js";
import { typeset } from "../dom/runs.js";

const ROOM_OF_WORDS = 60; // pixels at either end, as in the style of the row
const LANES = 14; // pixels below thumbs, for arrows that lead past them
const GAP = 6; // pixels between thumbs whose symbols stand beside them
const NARROWEST = 12; // pixels of a thumb
const WIDTH_OF_LABEL = 3; // of its letters' size
const ROOM_BETWEEN = 16; // pixels between stages, as in their style
const LEAST_LABELLED = 3; // pixels of a cell whose heads have labels
const NARROW = 20; // pixels of a thumb, unless one scrolls to the side
const LEAST_IN_A_TALK = 20; // pixels of a thumb, with titles below
const SMALLEST_WORD = 9; // pixels of a row that can be named
const LINES_OF_TEXT = 2.4; // lines of text over and between thumbs
const LEAST_LINES = 8; // lines of text that a row is high at least; of more than two layers one scrolls to the others

const sizeOf = ({ clientWidth, clientHeight }) => `${clientWidth} × ${clientHeight}`;

/** @returns {View} */
export function makeWholePass(tools) {
  const sentence = h("p", { class: "said" }),
    box = h("section", { class: "whole", "aria-label": "The whole pass", hidden: true }, sentence);
  const diagram = makeDiagram(box, {
    stage: thumb => {
      thumb.words = h("span", { class: "words-of" });
      thumb.heads = h("span", { class: "heads-of" });
      thumb.element.append(thumb.heads, thumb.words);
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
    diagram.build(
      rows,
      map.arrows,
      rows.map((_, nth) => nameInBlock(pass.document, nth + 1)),
    );
    const focus = focusOf(pass, where),
      parts = pass.parts(focus.name, focus.index);
    const whose = pass.other ? `This is B alone${look.kind === "B − A" ? ", not B − A" : ""}. ` : "",
      name = pass.nameOf(focus.name, focus.index);
    write(
      sentence,
      `${whose}Where ${name} came from: at each step, the numbers that contributed most keep their full colour; thick arrows follow the largest.`,
    );
    for (const thumb of diagram.thumbs()) nameThumb(thumb, pass.stages.get(thumb.name), rows.length > 1);
    const drawn = isUntitled => {
      box.classList.toggle("untitled", isUntitled);
      const label = Number.parseFloat(getComputedStyle(diagram.thumbs()[0].words).lineHeight);
      return fitThumbs(
        diagram,
        box,
        { space: box.clientHeight - sentence.offsetHeight, canScroll: !where.present },
        (thumb, space) => {
          sizeThumb(thumb, pass, { ...space, largest: where.present ? 48 : 24 }, label);
          thumb.draw(pass, look.colours, parts.get(thumb.name) ?? new Float64Array(pass.stages.get(thumb.name).length));
        },
      );
    };
    if (drawn(false) < LEAST_IN_A_TALK && where.present) drawn(true);
    for (const thumb of diagram.thumbs()) {
      thumb.markCell(thumb.name === focus.name ? focus.index : null);
      nameHeads(thumb, pass.stages.get(thumb.name));
    }
    const steps = pathTo(pass, focus, new Set(diagram.thumbs().map(({ name }) => name))),
      ends = [
        ...nameRows(pass, where, diagram.thumbs()[0], parts),
        ...nameEnd(pass, where, diagram.thumbs().at(-1), focus),
      ];
    diagram.follow([...steps, ...ends], JSON.stringify(steps));
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
function nameThumb(
  { beside, canvas, words, element: { parentNode: figure } },
  { symbol, role, title, shape },
  isInRows,
) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}: ${shape.join(" × ")} numbers`);
  figure.firstChild.replaceChildren(typeset(symbol));
  figure.className = `stage-of ${role}`;
  figure.classList.toggle("aside", isInRows && beside > 1);
  words.replaceChildren(); // of a pass in which it was the first
}

// Has each drawn as large as rows allow; titles that are wider than thumbs take some of that. Returns how wide they may be.
function fitThumbs(diagram, box, { space, canScroll }, draw) {
  const rows = [...diagram.rows.children],
    thumbs = diagram.thumbs(),
    longest = Math.max(...rows.map(row => row.querySelectorAll(".depth").length)),
    line = Number.parseFloat(getComputedStyle(box).fontSize),
    whole = rows.length > 2 ? Math.max(space, rows.length * LEAST_LINES * line) : space;
  box.classList.toggle("scrolls", whole > space);
  diagram.rows.parentNode.style.minWidth = "";
  diagram.rows.parentNode.style.height = whole > space ? `${whole}px` : "";
  const high = whole / rows.length - LINES_OF_TEXT * line - LANES,
    over = Math.max(...thumbs.map(thumb => thumb.element.previousSibling.offsetHeight)),
    rightOf = each => each.getBoundingClientRect().right,
    overflow = () => Math.max(...rows.map(row => rightOf(row.lastChild) + ROOM_OF_WORDS - rightOf(row)));
  const drawAt = width => {
    for (const thumb of thumbs) {
      const isAside = thumb.element.parentNode.classList.contains("aside");
      draw(thumb, { width, height: high / thumb.beside - (isAside ? GAP : over) });
    }
    return width;
  };
  let width = drawAt((diagram.rows.clientWidth - 2 * ROOM_OF_WORDS) / longest - 17);
  while (overflow() > 1 && width > NARROWEST) width = drawAt(width - overflow() / longest - 1);
  if (width >= NARROW || !canScroll) return width;
  const { style, clientWidth } = diagram.rows.parentNode;
  style.minWidth = `${clientWidth + overflow() + (NARROW - width) * longest}px`;
  return drawAt(NARROW);
}

/** Sizes a thumb, with labels over its heads unless they make it much smaller. @param {Pass} pass */
function sizeThumb(thumb, pass, space, label) {
  const { axes, shape } = pass.stages.get(thumb.name);
  thumb.resize(pass, space);
  const { cell } = thumb.tiled,
    isHeaded = axes.length > 2 && shape[0] > 1 && shape[0] <= MAX_HEADS_APART;
  if (isHeaded) thumb.resize(pass, { ...space, height: space.height - label, apart: label });
  thumb.isLabelled = isHeaded && thumb.tiled.cell >= Math.min(LEAST_LABELLED, cell);
  if (isHeaded && !thumb.isLabelled) thumb.resize(pass, space);
  thumb.element.style.marginTop = thumb.isLabelled ? `${label}px` : "";
}

// A label over each head; of narrow ones only its number.
function nameHeads({ heads, words, tiled, isLabelled }, { axes: [{ labels }] }) {
  const width = tiled.columns * tiled.cell,
    room = width + (tiled.across > 1 ? tiled.apart : ROOM_BETWEEN),
    isShort = room < WIDTH_OF_LABEL * Number.parseFloat(getComputedStyle(words).fontSize);
  heads.replaceChildren(
    ...(isLabelled ? labels : []).map((label, head) => {
      const { x, y } = tileAt(tiled, head),
        [left, top, height] = [x, y, tiled.rows * tiled.cell].map(size => `${size}px`);
      return h(
        "span",
        { style: { left, top, width: `${width}px`, height } },
        h("span", {}, isShort ? label.replace(/^\D+/, "") : label),
      );
    }),
  );
}

// The words of the first stage's rows, beside them or, where rows are too low, as a list. Returns steps of the path from those on it.
function nameRows(pass, where, { name, words, tiled }, parts) {
  const { axes, shape } = pass.stages.get(name);
  if (axes.length !== 2 || !hasWords(axes[0])) return [];
  const { fontSize, lineHeight } = getComputedStyle(words),
    isBeside = tiled.cell >= Math.max(SMALLEST_WORD, where.present ? Number.parseFloat(fontSize) : 0),
    line = isBeside ? tiled.cell : Number.parseFloat(lineHeight),
    space = words.closest(".row").clientHeight / line - LINES_OF_TEXT,
    isOnPath = onPathBy(parts.get(name) ?? []),
    style = { height: `${line}px`, lineHeight: `${line}px` };
  const all = axes[0].labels.map((label, row) => {
      const isOn = Array.from({ length: shape[1] }, (_, column) => row * shape[1] + column).some(isOnPath);
      return { row, isOn, element: h("span", { class: isOn ? "on" : "", style }, label) };
    }),
    shown = isBeside || all.length <= space ? all : all.filter(({ isOn }) => isOn).slice(0, Math.max(1, space));
  words.className = isBeside ? "words-of" : "words-of listed";
  words.replaceChildren(...shown.map(({ element }) => element));
  return shown
    .filter(({ isOn }) => isOn)
    .map(({ row, element }) => ({ from: { element }, to: { name, index: [row, 0] } }));
}

// What the path leads to, at the right of the last stage: the answer and its probability, or the word whose output it is. Returns the step
// to there from a number in focus.
function nameEnd(pass, where, { name, words, tiled }, focus) {
  const index = pass.indexAt(name, where.cell),
    { axes, scale } = pass.stages.get(name),
    labels = axes.map((axis, i) => axis.labels[index[i]]),
    value = pass.number(name, index);
  if (axes.length !== 2 || !hasWords(axes[0])) return [];
  const isAnswer = scale === "share" && value !== undefined,
    end = h("span", { class: "on" }, isAnswer ? labels[1] : labels[0]);
  words.className = "words-of end";
  words.style.top = `${(index[0] + 0.5) * tiled.cell}px`;
  words.replaceChildren(end, ...(isAnswer ? [h("span", {}, percent(value))] : []));
  return focus.name === name ? [{ from: focus, to: { element: words } }] : [];
}
