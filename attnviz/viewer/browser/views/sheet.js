// The One word view: every column a word, from the query through scores and attention weights to the output.
import { isMuted } from "../model/changes.js";
import { percent } from "../model/numeral.js";
import { isSheet, sourceAt, focusOf, stepAt } from "../model/state.js";
import { background, css, textOn } from "../dom/colour.js";
import { element, h, redraw, svgElement, write } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { makeByHand } from "../dom/numberInput.js";
import { arcsOf, drawArcs } from "./arcs.js";
import { drawSentences, keptIn, showsProducts } from "./bandFace.js";
import { makeBandTable, widthOf } from "./bandTable.js";
import { contentOf, partsIn } from "./content.js";
import { makeHand } from "./hand.js";
import { awaitLetters, fittingParts, frameOf, setSizes } from "./sizes.js";

// A sentence too long for a column for each word. bring(key) gives a word a column.
function makeSentence(bring) {
  const box = element("div", "sentence");
  const line = h("p", { class: "words", "aria-label": "The sentence", role: "group" });
  const note = element("p", "note");
  box.append(line, note);
  box.hidden = true;
  let words = [];
  rovingFocus(line, () => [words]);
  const build = texts => {
    words = texts.map((text, key) => {
      return h("button", { type: "button", onclick: () => bring(key) }, text);
    });
    line.replaceChildren(...words.flatMap(word => [word, " "]));
  };
  return {
    element: box,
    // `columns` are the words that have a column; null where all have.
    update(props) {
      box.hidden = props === null;
      if (box.hidden) return;
      const {
          pass,
          where: { cell },
          look,
          attention,
          columns,
        } = props,
        texts = pass.document.words.key,
        stage = pass.stages.get(attention);
      const { unit, shared } = pass.document.words,
        does = shared ? "lets it ask" : "selects it";
      write(note, `A click on a ${unit} brings it into the sheet; a click on its column ${does}.`);
      if (String(words.map(({ textContent }) => textContent)) !== String(texts)) build(texts);
      words.forEach((word, key) => {
        const index = pass.indexAt(attention, { ...cell, key }),
          share = look.shown(attention, index) ? pass.number(attention, index) : undefined;
        const colour = share === undefined ? null : background(share, stage, look.colours);
        Object.assign(word.style, {
          backgroundColor: colour ? css(colour) : "",
          color: colour ? css(textOn(colour)) : "",
        });
        word.ariaDescription = share === undefined ? "" : percent(share);
        word.title = share === undefined ? "" : percent(share);
        word.classList.toggle("there", columns.includes(key));
        word.classList.toggle("asks", pass.document.words.shared && key === cell.query);
        word.classList.toggle("chosen", key === cell.key);
        word.setAttribute("aria-pressed", columns.includes(key));
      });
      setTabStop(words, words[cell.key]);
    },
  };
}

// The arcs over the columns of `header`; a strip without height is hidden. Its space is kept before the attention weights are shown.
function makeStrip(tools) {
  const svg = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
  return {
    element: svg,
    update({ pass, where: { cell }, look, attention }, header, height) {
      svg.toggleAttribute("hidden", !height);
      const words = height ? header.middles(svg) : [],
        at = part => pass.indexAt(attention, { ...cell, ...part });
      drawArcs(
        svg,
        {
          from: words,
          to: words,
          height,
          side: "above",
          most: pass.stages.get(attention).limit,
          isMuted: isMuted(pass, attention, cell.head),
        },
        height ? arcsOf(pass, look, attention, cell) : [],
        {
          pick: ({ key }) => tools.pick(attention, at({ key })),
          point: arc => tools.point(attention, arc && at(arc)),
        },
      );
    },
  };
}

// A number input over the cell that is set; open(pass, cell, at) shows it over the element `at`, which gets the focus back.
function makeInPlace(set) {
  const { element: box, input, update } = makeByHand(set);
  box.classList.add("in-place");
  box.hidden = true;
  let over = null;
  const close = () => {
    box.hidden = true;
    over?.focus();
    over = null;
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" || (key === "Enter" && input.getAttribute("aria-invalid") !== "true")) close();
  });
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (!box.contains(relatedTarget) && input.getAttribute("aria-invalid") !== "true") box.hidden = true;
  });
  return {
    element: box,
    open(pass, cell, at) {
      over = at;
      update(pass, cell);
      box.hidden = false;
      Object.assign(box.style, { left: `${at.offsetLeft}px`, top: `${at.offsetTop + at.offsetHeight}px` });
      input.focus();
      input.select();
    },
    update: (pass, cell) => {
      if (!box.hidden) update(pass, cell);
    },
  };
}

// now() gives {pass, where}; edit(cell, at) sets a number by hand where it stands; open(key) opens or closes a part.
function makeSheetActs(tools, now, { edit, open }) {
  return {
    ...tools,
    edit,
    open,
    // In self-attention a click selects a word as the query, with Shift as the key, as in the line of words.
    select: (axis, position, isShifted) => {
      const { pass, where } = now(),
        role = axis === "key" && pass.document.words.shared && !isShifted ? "query" : axis;
      tools.go({ cell: { ...where.cell, [role]: position }, trail: [] });
    },
    // Shows the layer before for the word that a key or value comes from.
    follow: layer => {
      const { pass, where } = now(),
        step = pass.document.steps.findLast(({ page, bands }) => page === `words-${layer}` && bands.length);
      tools.go({ step: step.id, reveal: null, cell: { ...where.cell, query: where.cell.key }, trail: [] });
    },
    trace: from => {
      const { pass, where } = now(),
        source = sourceAt(pass, { ...where, from });
      tools.go({ from, trail: [], ...(source && { picked: source.bands.at(-1).cells.stage }) });
    },
  };
}

/** @returns {View} */
// `withoutText` leaves out the text beside bands, and bands whose step is still to come, as in a lesson.
export function makeSheet(tools, withoutText = false) {
  const box = element("section", "sheet"),
    caption = element("div", "told"),
    opened = new Set();
  let shown = null,
    extent = null, // the size of the box: to ask costs a layout of what is to become another
    brought = [];
  const now = () => shown;
  const inPlace = makeInPlace(tools.set);
  const acts = makeSheetActs(tools, now, {
    edit: (cell, at) => inPlace.open(shown.pass, cell, at),
    open: key => {
      if (!opened.delete(key)) opened.add(key);
      draw();
    },
  });
  const sentence = makeSentence(key => {
    brought = [...brought.filter(each => each !== key), key];
    tools.go({ cell: { ...shown.where.cell, key }, trail: [] });
  });
  const strip = makeStrip(tools),
    table = makeBandTable(acts),
    hand = makeHand(acts);
  box.setAttribute("aria-label", "The sheet");
  box.hidden = true;
  box.append(sentence.element, ...(withoutText ? [] : [caption]));
  box.append(strip.element, table.element, inPlace.element, hand.element);

  const measured = () => ({ clientWidth: box.clientWidth, clientHeight: box.clientHeight });
  const above = () => heightOf(sentence.element) + heightOf(caption);
  const draw = () => {
    if (box.hidden) return; // letters came late: of what is hidden the extent is none
    extent ??= measured();
    const content = contentOf(shown, acts, withoutText),
      frame = frameOf(box, extent, content),
      parts = drawSentence(content, frame);
    box.classList.toggle("in-hand", frame.isHeld);
    if (frame.isHeld) {
      box.removeAttribute("style"); // the sizes of a wider one
      hand.update(parts, content.paint);
    } else {
      hand.clear();
      drawTable(content, frame, parts, above()); // asked before the table is another, which would be laid out for it
    }
  };
  // Draws the sentence above the table and returns the parts that fit below it.
  const drawSentence = (content, frame) => {
    const hasCaption = frame.least && !withoutText,
      { paint, pass, where, look, attention } = content;
    if (hasCaption) redraw(caption, [element("p", "", "\u00a0")]); // its line is there before what it says
    const parts = fittingParts(content, frame, {
      partsOf: space => partsIn(content, { opened, space, brought, isHeld: frame.isHeld }),
      above,
    });
    if (hasCaption) redraw(caption, drawSentences(parts, paint, acts));
    const narrow = parts.find(({ rest }) => rest.length);
    sentence.update(narrow ? { pass, where, look, attention, columns: narrow.columns } : null);
    return parts;
  };
  const drawTable = (content, frame, parts, taken) => {
    const { pass, where, source, paint } = content,
      focus = focusOf(pass, where);
    table.update(parts, paint, {
      label: `${pass.document.words.query[where.cell.query]}: ${stepAt(pass, where).page.startsWith("words") ? "its attention" : "what it becomes"}`,
      isKept: keptIn(pass, where) !== null && !source,
    });
    const height = setSizes(box, {
      ...frame,
      lines: table.lines(),
      parts: parts.length,
      columns: widthOf(parts),
      multiplies: parts.some(showsProducts),
      wanted: hasStrip(content, frame, parts),
      above: taken,
    });
    strip.update(content, table.lines()[0], height);
    table.setTabStop(pass.address(focus.name, focus.index));
    mark(focus);
    awaitLetters(box, draw);
    inPlace.update(pass, focus);
  };
  const mark = ({ name, index }) => {
    const {
        pass,
        look: { pair },
      } = shown,
      inA = pair?.toA(name, index);
    table.mark(marked(pass, name, index), inA ? marked(pair.pass, name, inA) : ["", new Set()]);
  };
  tools.onPoint((name, index) => {
    if (!box.hidden) mark(index ? { name, index } : focusOf(shown.pass, shown.where));
  });
  const observer = new ResizeObserver(() => {
    if (box.hidden) return;
    const other = measured();
    if (JSON.stringify(other) === JSON.stringify(extent)) return;
    extent = other;
    draw();
  });
  observer.observe(box);
  return {
    element: box,
    update(pass, where, look) {
      box.hidden = !isSheet(pass, where);
      if (String(shown?.pass.document.words.key) !== String(pass.document.words.key)) brought = [];
      if (box.hidden || isElsewhere(shown?.where, where)) extent = null; // what is said of the step has other lines
      if (box.hidden) return;
      shown = { pass, where, look };
      draw();
    },
  };
}

function isElsewhere(before, { step, present }) {
  return before?.step !== step || before.present !== present;
}

// 0 for an empty or hidden element, without measuring it.
function heightOf(element) {
  return element.hidden || !element.childElementCount ? 0 : element.offsetHeight;
}

// A cell of a pass by its address, and the addresses of those that it was computed from.
function marked(pass, name, index) {
  return [
    pass.address(name, index),
    new Set(pass.cellsOf(name, index).map(each => pass.address(each.name, each.index))),
  ];
}

// Whether arcs are drawn: every word has a column and, on paper, the attention weights are shown.
function hasStrip({ pass, look, source, attention, selection }, { isPaper }, parts) {
  return (
    !source &&
    pass.document.words.shared &&
    parts[0].cells.columns.name === "key" &&
    !parts.some(({ rest }) => rest.length) &&
    !(isPaper && !look.shown(attention, pass.indexAt(attention, selection)))
  );
}
