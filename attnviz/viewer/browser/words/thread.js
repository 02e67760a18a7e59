// The thread: the words, on every step, with the selected query and key lit, and arcs as thick as the attention.
import { makeAnswers } from "./modelAnswer.js";
import { drawArcs } from "./arcs.js";
import { element, roomy, svgElement, write } from "../elements/element.js";
import { PERCENTS, percent } from "../pass/numeral.js";
import { setTabStop, rovingFocus } from "../elements/roving.js";
import { isFirst, slotsOf, stepAt } from "../scene/state.js";

const NOWHERE = { from: [], to: [], height: 0 };
const SAID = 4.7; // letters of a word as wide as "under 1 %", which stands below it

export function makeThread(tools) {
  const box = element("section", "thread");
  box.setAttribute("aria-label", "The words");
  const inner = element("div", "inner"), arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
  const lines = { query: makeLine("Queries", pick), key: makeLine("Keys", pick) };
  const spoken = makeAnswers(tools, lines.query.element);
  inner.append(spoken.element, arcs, lines.key.element);
  box.append(inner);
  let shown = null, pointed = null, written = "", stood = "", places = null, sought = "";

  // In one sentence a word is taken as the query, with Shift as the key; in two, each line has a role of its own.
  function pick(line, place, isShifted) {
    const { pass, where } = shown;
    const role = pass.document.words.shared && isShifted ? "key" : line === lines.query ? "query" : "key";
    tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
  }
  const indexAt = ({ head, query }, key) => [head, query, key];
  const draw = () => {
    const { pass, where, look } = shown;
    const { query: queries, key: keys, shared } = pass.document.words;
    const step = stepAt(pass, where), { attention } = step;
    const cell = pointed ?? where.cell;
    box.classList.toggle("shared", shared);
    box.classList.toggle("with-arcs", step.arcs);
    box.classList.toggle("large", step.arcs && !slotsOf(step).length && isFirst(pass, where));
    if (written !== String([queries, keys, shared])) {
      written = String([queries, keys, shared]);
      lines.query.write(queries);
      lines.key.write(shared ? [] : keys);
    }
    const shares = keys.map((_, key) => (step.arcs && look.shown(attention, indexAt(cell, key))
      ? pass.number(attention, indexAt(cell, key)) : undefined));
    const said = (place) => {
      if (shares[place] === undefined) return "";
      return shares[place] === 0 && pass.isHidden(attention, indexAt(cell, place)) ? "hidden" : percent(shares[place]);
    };
    lines.query.light({ query: cell.query, key: shared ? cell.key : null }, shared ? said : () => "");
    lines.key.light({ query: null, key: cell.key }, said);
    drawArcs(arcs, { ...(step.arcs ? standing(`${written} ${box.className} ${cell.query} ${cell.key}`) : NOWHERE), shared, cell, shares }, {
      pick: (key) => tools.pick(attention, indexAt(cell, key)),
      point: (key) => tools.point(attention, key === null ? null : indexAt(cell, key)),
    });
  };
  // Where the words stand: asking costs a layout, and only other words, another selection or another size move them.
  const standing = (now) => {
    if (stood !== now) {
      stood = now;
      const from = lines.query.middles(inner);
      places = { from, to: shown.pass.document.words.shared ? from : lines.key.middles(inner), height: arcs.clientHeight };
    }
    return places;
  };
  tools.onPoint((name, index) => {
    pointed = index && shown ? shown.pass.selectionAt(name, index, shown.where.cell) : null;
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
