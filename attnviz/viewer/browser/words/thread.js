// The thread: the words, on every step, with the selected query and key lit, and arcs as thick as the attention. At first
// those of the last of several layers hang below the words, and those of the layer before it rise above them.
import { arcsOf, drawArcs } from "../picture/arcs.js";
import { makeAnswers } from "./modelAnswer.js";
import { notedArcs } from "./noted.js";
import { element, roomy, svgElement, write } from "../elements/element.js";
import { PERCENTS, percent } from "../pass/numeral.js";
import { nameOf } from "../pass/layers.js";
import { setTabStop, rovingFocus } from "../elements/roving.js";
import { focusOf, isFirst, slotsOf, stepAt } from "../scene/state.js";

const NOWHERE = { from: [], to: [], heights: new Map() };
const SAID = 4.7; // letters of a word as wide as "under 1 %", which stands below it

export function makeThread(tools) {
  const box = element("section", "thread");
  box.setAttribute("aria-label", "The words");
  const inner = element("div", "inner"), arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" }), below = arcs.cloneNode();
  const purposes = [makePurpose(), makePurpose()];
  const lines = { query: makeLine("Queries", pick), key: makeLine("Keys", pick) };
  const spoken = makeAnswers(tools, lines.query.element);
  inner.append(purposes[0].element, spoken.element, arcs, lines.key.element, below, purposes[1].element);
  box.append(inner);
  let shown = null, pointed = null, written = "", stood = "", places = null, sought = "";

  // In one sentence a word is taken as the query, with Shift as the key; in two, each line has a role of its own.
  function pick(line, place, isShifted) {
    const { pass, where } = shown;
    const role = pass.document.words.shared && isShifted ? "key" : line === lines.query ? "query" : "key";
    tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
  }
  const draw = () => {
    const { pass, where, look } = shown;
    const { query: queries, key: keys, shared } = pass.document.words;
    const step = stepAt(pass, where), { attention } = step;
    const isLarge = step.arcs && !slotsOf(step).length && isFirst(pass, where), pair = isLarge && shared ? lastTwo(pass) : null;
    // A share of the layer before is another word's: what the selected query looks at stays in sight beside it.
    const cell = pointed && pointed.name !== pair?.[0].attention ? pass.selectionAt(pointed.name, pointed.index, where.cell) : where.cell;
    box.classList.toggle("shared", shared);
    box.classList.toggle("with-arcs", step.arcs);
    box.classList.toggle("large", isLarge);
    box.classList.toggle("paired", Boolean(pair));
    if (written !== String([queries, keys, shared])) {
      written = String([queries, keys, shared]);
      lines.query.write(queries);
      lines.key.write(shared ? [] : keys);
    }
    purposes.forEach((line, nth) => { line.write(pair?.[nth] ?? { name: "", purpose: "" }); });
    const own = step.arcs ? arcsOf(pass, look, attention, cell) : [];
    const said = (key) => {
      const index = pass.indexAt(attention, { ...cell, key }), share = pass.number(attention, index);
      if (!step.arcs || share === undefined || !look.shown(attention, index)) return "";
      return share === 0 && pass.isHidden(attention, index) ? "hidden" : percent(share);
    };
    lines.query.light({ query: cell.query, key: shared ? cell.key : null }, shared ? said : () => "");
    lines.key.light({ query: null, key: cell.key }, said);
    const stands = step.arcs ? standing(`${written} ${box.className} ${cell.query} ${cell.key}`) : NOWHERE;
    const drawIn = (svg, side, of, all) => drawArcs(svg, { ...stands, height: stands.heights.get(svg), side }, all, {
      pick: (arc) => tools.pick(of, pass.indexAt(of, { ...cell, ...arc })),
      point: (arc) => tools.point(of, arc && pass.indexAt(of, { ...cell, ...arc })),
    });
    if (pair) drawIn(arcs, "above", pair[0].attention, notedArcs(pass, look, pair[0].attention, cell, { asked: own, focus: pointed ?? focusOf(pass, where) }));
    else drawIn(arcs, shared ? "above" : "between", attention, own);
    drawIn(below, "below", attention, pair ? own : []);
  };
  // Where the words stand: asking costs a layout, and only other words, another selection or another size move them.
  const standing = (now) => {
    if (stood !== now) {
      stood = now;
      const from = lines.query.middles(inner);
      places = { from, to: shown.pass.document.words.shared ? from : lines.key.middles(inner), heights: new Map([arcs, below].map((svg) => [svg, svg.clientHeight])) };
    }
    return places;
  };
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (shown) draw();
  });
  const observer = new ResizeObserver(() => {
    stood = "";
    if (shown) draw();
  });
  for (const each of [inner, ...spoken.element.children]) observer.observe(each); // answers push the words aside
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      pointed = null;
      spoken.update(pass, where, look);
      draw();
      const now = `${written} ${where.cell.query}`;
      if (now !== sought) lines.query.show(where.cell.query, box);
      sought = now;
    },
  };
}

// The last two of several layers: {name, attention, purpose}; null where there is one.
function lastTwo({ document: { layers } }) {
  return layers.length > 1 ? layers.map((layer, nth) => ({ ...layer, name: nameOf(nth + 1) })).slice(-2) : null;
}

// What a layer is called, and what it is for.
function makePurpose() {
  const line = element("p", "purpose"), called = element("strong"), is = element("span");
  line.append(called, " ", is);
  return {
    element: line,
    write({ name, purpose }) {
      write(called, name);
      write(is, purpose);
    },
  };
}

// A line of words: Tab leads to one of them, arrow keys from word to word.
function makeLine(name, pick) {
  const list = element("div", "words");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
  list.setAttribute("aria-multiselectable", "true");
  list.ariaDescription = "Enter asks about a word, Shift and Enter about its share";
  let words = [];
  const line = {
    element: list,
    write(texts) {
      words = texts.map((text, place) => {
        const word = element("button");
        word.type = "button";
        word.setAttribute("role", "option");
        word.append(element("span", "text", text), roomy("span", "said", "", PERCENTS));
        word.onclick = (event) => pick(line, place, event.shiftKey || event.target.className === "said");
        return word;
      });
      list.replaceChildren(...words);
      list.style.setProperty("--letters", texts.reduce((sum, text) => sum + 0.5 + 0.55 * [...text].length, 0));
      list.style.setProperty("--in-line", texts.reduce((sum, text) => sum + 0.95 + 0.5 * [...text].length, SAID));
      list.style.setProperty("--ems", texts.reduce((sum, text) => sum + 1.1 + 0.55 * Math.max([...text].length, SAID), 0));
    },
    light({ query, key }, said) {
      words.forEach((word, place) => {
        word.classList.toggle("query", place === query);
        word.classList.toggle("key", place === key);
        word.setAttribute("aria-selected", place === query || place === key);
        word.ariaDescription = [...(place === query ? ["query"] : []), ...(place === key ? ["key"] : [])].join(" and ");
        write(word.lastChild, said(place));
      });
      setTabStop(words, words[query ?? key]);
    },
    // The middle, the upper and the lower edge of each word.
    middles(origin) {
      const { left, top } = origin.getBoundingClientRect();
      return words.map((word) => {
        const at = word.getBoundingClientRect();
        return { x: at.left - left + at.width / 2, top: at.top - top, bottom: at.bottom - top };
      });
    },
    show(place, scroller) {
      const word = words[place];
      if (!word || scroller.scrollWidth <= scroller.clientWidth) return;
      scroller.scrollLeft = word.offsetLeft + word.offsetWidth / 2 - scroller.clientWidth / 2;
    },
  };
  rovingFocus(list, () => [words]);
  return line;
}
