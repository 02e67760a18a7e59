// The sheet: the selected word's whole attention on one screen, band below band, with a column for every word.
import { element, redraw } from "../elements/element.js";
import { focusOf, isSheet, stepAt } from "../scene/state.js";
import { makeBandTable, widthOf } from "./bandTable.js";
import { drawSentences, showsProducts } from "./bandWords.js";
import { contentOf, partsIn } from "./content.js";
import { fittingParts, frameOf } from "./fitting.js";
import { makeHand } from "./hand.js";
import { makeInPlace } from "./inPlace.js";
import { keptIn } from "./keptLine.js";
import { awaitLetters } from "./lettering.js";
import { makeSentence } from "./sentence.js";
import { makeSheetActs } from "./sheetActs.js";
import { setSizes } from "./sizes.js";
import { makeStrip } from "./strip.js";

/** @returns {View} */
// `isBare` says that nothing is said beside its bands, and that none stands there before its step, as in a lesson.
export function makeSheet(tools, isBare = false) {
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
  box.append(sentence.element, ...(isBare ? [] : [caption]));
  box.append(strip.element, table.element, inPlace.element, hand.element);

  const measured = () => ({ clientWidth: box.clientWidth, clientHeight: box.clientHeight });
  const above = () => heightOf(sentence.element) + heightOf(caption);
  const draw = () => {
    if (box.hidden) return; // letters came late: of what is hidden the extent is none
    extent ??= measured();
    const content = contentOf(shown, acts, isBare),
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
  // Draws the sentence above the table; returns the parts that there is room for below it.
  const drawSentence = (content, frame) => {
    const hasCaption = frame.least && !isBare,
      { paint, pass, where, look, attention } = content;
    if (hasCaption) redraw(caption, [element("p", "", "\u00a0")]); // its line is there before what it says
    const parts = fittingParts(content, frame, {
      partsOf: room => partsIn(content, { opened, room, brought, isHeld: frame.isHeld }),
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

// What is empty or hidden has none, and isn't asked.
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

// Whether arcs may stand over the words: each has a column, and on paper the shares are there.
function hasStrip({ pass, look, source, attention, selection }, { isPaper }, parts) {
  return (
    !source &&
    pass.document.words.shared &&
    parts[0].cells.columns.name === "key" &&
    !parts.some(({ rest }) => rest.length) &&
    !(isPaper && !look.shown(attention, pass.indexAt(attention, selection)))
  );
}
