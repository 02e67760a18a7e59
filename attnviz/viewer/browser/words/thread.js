// The thread: the words, on every step, with the selected query and key lit, and arcs as thick as the attention.
import { makeAnswers } from "./modelAnswer.js";
import { drawArcs } from "./arcs.js";
import { element, svgElement } from "../elements/element.js";
import { makeLine } from "./line.js";
import { percent } from "../pass/numeral.js";
import { isFirst, slotsOf, stepAt } from "../scene/state.js";
import { whenOther } from "../elements/whenOther.js";

const NOWHERE = { from: [], to: [], height: 0 };

export function makeThread(tools) {
  const box = element("section", "thread");
  box.setAttribute("aria-label", "The words");
  const inner = element("div", "inner"), arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
  const lines = { query: makeLine("Queries", pick), key: makeLine("Keys", pick) };
  const spoken = makeAnswers(tools, lines.query.element);
  inner.append(spoken.element, arcs, lines.key.element);
  box.append(inner);
  let shown = null, pointed = null;

  // In one sentence a word is taken as the query, with Shift as the key; in two, each line has a role of its own.
  function pick(line, place, isShifted) {
    const { pass, where } = shown;
    const role = pass.document.words.shared && isShifted ? "key" : line === lines.query ? "query" : "key";
    tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
  }
  const writeWords = whenOther(([queries, keys]) => {
    lines.query.write(queries);
    lines.key.write(keys);
    standing.forget();
    seek.forget();
  });
  // Where the words stand: asking costs a layout, and only other words, another selection or another size move them.
  const standing = whenOther(() => {
    const from = lines.query.middles(inner);
    return { from, to: shown.pass.document.words.shared ? from : lines.key.middles(inner), height: arcs.clientHeight };
  });
  const seek = whenOther((query) => lines.query.show(query, box));
  const indexAt = ({ head, query }, key) => [head, query, key];
  const draw = () => {
    const { pass, where, look } = shown;
    const { query: queries, key: keys, shared } = pass.document.words;
    const step = stepAt(pass, where), { attention } = step;
    const cell = pointed ?? where.cell;
    box.classList.toggle("shared", shared);
    box.classList.toggle("with-arcs", step.arcs);
    box.classList.toggle("large", step.arcs && !slotsOf(step).length && isFirst(pass, where));
    writeWords([queries, shared ? [] : keys]);
    const shares = keys.map((_, key) => (step.arcs && look.shown(attention, indexAt(cell, key))
      ? pass.number(attention, indexAt(cell, key)) : undefined));
    const said = (place) => {
      if (shares[place] === undefined) return "";
      return shares[place] === 0 && pass.isHidden(attention, indexAt(cell, place)) ? "hidden" : percent(shares[place]);
    };
    lines.query.light({ query: cell.query, key: shared ? cell.key : null }, shared ? said : () => "");
    lines.key.light({ query: null, key: cell.key }, said);
    drawArcs(arcs, { ...(step.arcs ? standing([box.className, cell.query, cell.key]) : NOWHERE), shared, cell, shares }, {
      pick: (key) => tools.pick(attention, indexAt(cell, key)),
      point: (key) => tools.point(attention, key === null ? null : indexAt(cell, key)),
    });
  };
  tools.onPoint((name, index) => {
    pointed = index && shown ? shown.pass.selectionAt(name, index, shown.where.cell) : null;
    if (shown) draw();
  });
  const observer = new ResizeObserver(() => {
    standing.forget();
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
      seek(where.cell.query);
    },
  };
}
