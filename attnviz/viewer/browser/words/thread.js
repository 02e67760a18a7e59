// The thread: the words, on every step, with the selected query and key lit, and arcs as thick as the attention. At first
// those of the last of several layers hang below the words, and those of the layer before it rise above them.
import { arcsOf, drawArcs } from "../picture/arcs.js";
import { makeGlance } from "./glance.js";
import { makeAnswers } from "./modelAnswer.js";
import { element, svgElement } from "../elements/element.js";
import { makeLine } from "./line.js";
import { makePurpose } from "./purpose.js";
import { sideText } from "./pairing.js";
import { nameOf } from "../pass/layers.js";
import { notedArcs } from "./noted.js";
import { isMuted } from "../pass/muting.js";
import { percent } from "../pass/numeral.js";
import { focusOf, isFirst, slotsOf, stepAt } from "../scene/state.js";
import { whenOther } from "../elements/whenOther.js";

const MOST_IN_LINE = 16; // words that arcs can lead to; more stand in several lines
const LEAST_SHARE = 0.01; // in a talk, and of two passes: of many words few have such a share
const NOWHERE = { from: [], to: [], heights: [0, 0] };

/** @returns {View} */
export function makeThread(tools) {
  const box = element("section", "thread");
  const inner = element("div", "inner"),
    arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" }),
    below = arcs.cloneNode();
  const purposes = [makePurpose(), makePurpose()],
    glance = makeGlance(tools);
  const lines = { query: makeLine("Queries", { pick, inspect }), key: makeLine("Keys", { pick, inspect }) };
  const spoken = makeAnswers(tools, lines.query.element);
  const muted = element("p", "muted-said", "Dashed arcs are muted: what they collect is not passed on.");
  inner.append(
    muted,
    purposes[0].element,
    spoken.element,
    arcs,
    lines.key.element,
    below,
    purposes[1].element,
    glance.element,
  );
  box.append(inner);
  let shown = null,
    pointed = null,
    sight = null; // what was written last

  // In one sentence a word is taken as the query, with Shift as the key; in two, each line has a role of its own.
  function pick(line, place, isShifted) {
    const { pass, where } = shown;
    const role = pass.document.words.shared && isShifted ? "key" : line === lines.query ? "query" : "key";
    tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
  }
  // Leads to the share of the selected query for a key; a step that shows none has the key selected.
  function inspect(key) {
    const { pass, where } = shown,
      { arcs, attention } = stepAt(pass, where),
      cell = { ...where.cell, key };
    if (arcs) tools.inspect(attention, pass.indexAt(attention, cell));
    else tools.go({ cell, trail: [] });
  }
  const writeWords = whenOther(([queries, keys, unit, ...sides]) => {
    lines.query.write(queries, unit, sides);
    lines.key.write(keys, unit, sides);
    standing.forget();
    seek.forget();
  });
  // Where the words stand: asking costs a layout, and only other words, another selection or another size move them.
  const standing = whenOther(() => {
    const from = lines.query.middles(inner);
    return {
      from,
      to: shown.pass.document.words.shared ? from : lines.key.middles(inner),
      heights: [arcs.clientHeight, below.clientHeight],
    };
  });
  const seek = whenOther(query => lines.query.show(query, box));
  const write = () => {
    sight = sightOf(shown, pointed);
    const { pass, where, look, step, cell, isLarge, isLong, pair, beside } = sight,
      { query: queries, key: keys, shared, unit } = pass.document.words;
    const is = { long: isLong, shared, "with-arcs": step.arcs, large: isLarge, paired: pair ?? beside, beside };
    for (const [name, value] of Object.entries(is)) box.classList.toggle(name, Boolean(value));
    box.classList.toggle("before-next", Boolean(pass.document.next)); // which stands on the same page
    box.setAttribute("aria-label", `The ${unit}s`);
    writeWords([queries, shared ? [] : keys, unit, ...(look.pair ? ["B ", "A "] : [pass.other ? "B " : ""])]);
    purposes.forEach((line, nth) => {
      line.write(pair?.[nth] ?? { name: beside ? "BA"[nth] : "", purpose: beside ? sideText(pass, 2 - nth) : "" });
    });
    const textAt = (key, nth) => shareText(sight, key, nth);
    lines.query.light(
      { query: cell.query, key: shared ? cell.key : null, held: shared ? where.cell.key : null },
      shared ? textAt : () => "",
    );
    lines.key.light({ query: null, key: cell.key, held: where.cell.key }, textAt);
    glance.update(pass, { ...where, cell }, look, isLong ? step.attention : null);
  };
  const stand = () => (sight?.step.arcs ? standing([box.className, sight.cell.query, sight.cell.key]) : NOWHERE);
  const connect = () => {
    if (!sight) return;
    const { heights, ...stands } = stand(),
      [above, under] = [arcsAbove(sight), arcsBelow(sight)],
      { shared } = sight.pass.document.words;
    draw(arcs, { ...stands, height: heights[0], side: shared ? "above" : "between" }, above);
    draw(below, { ...stands, height: heights[1], side: "below" }, under);
    muted.hidden = ![arcs, below].some(svg => svg.classList.contains("muted") && svg.children.length > 0);
  };
  const draw = (svg, stands, { of, all, whose }) => {
    const { pass, cell } = sight,
      indexOf = arc => pass.indexAt(of, { ...cell, ...arc });
    drawArcs(svg, { ...stands, most: pass.stages.get(of).limit, isMuted: isMuted(whose, of, cell.head) }, all, {
      pick: arc => tools.inspect(of, indexOf(arc)),
      point: arc => tools.point(of, arc && indexOf(arc)),
    });
  };
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (!shown) return;
    write();
    connect();
  });
  const observer = new ResizeObserver(() => {
    const before = JSON.stringify(stand());
    standing.forget();
    if (JSON.stringify(stand()) !== before) connect();
  });
  for (const each of [inner, ...spoken.element.children]) observer.observe(each); // answers push the words aside
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      pointed = null;
      spoken.update(pass, where, look);
      write();
    },
    connect() {
      seek(shown.where.cell.query);
      connect();
    },
  };
}

// The sight of the thread: the cell that is lit, whether that is all there is on the step, whether its words stand in several lines,
// and the two layers, or the pass beside this one, whose arcs are both there.
function sightOf({ pass, where, look }, pointed) {
  const { shared, query } = pass.document.words,
    step = stepAt(pass, where),
    isLarge = step.arcs && !slotsOf(step).length && isFirst(pass, where),
    isLong = isLarge && shared && query.length > MOST_IN_LINE,
    hasRoom = isLarge && shared && !isLong;
  const pair = hasRoom ? lastTwo(pass) : null,
    beside = hasRoom && !pair && look.pair?.isThere ? look.pair : null;
  // A share of the layer before is another word's: what the selected query looks at stays in sight beside it.
  const cell =
    pointed && pointed.name !== pair?.[0].attention
      ? pass.selectionAt(pointed.name, pointed.index, where.cell)
      : where.cell;
  return { pass, where, look, pointed, step, cell, isLarge, isLong, pair, beside };
}

// The share that a key has, over its word; that in the pass beside it with `nth` 1.
function shareText({ pass, where, look, step: { arcs, attention }, cell, isLarge, beside }, key, nth = 0) {
  if (!arcs || (nth && !beside)) return "";
  const at = pass.indexAt(attention, { ...cell, key }),
    [whose, { shown }, index] = nth ? [beside.pass, beside.look, beside.toA(attention, at)] : [pass, look, at];
  const share = index && shown(attention, index) ? whose.number(attention, index) : undefined;
  if (share === undefined || ((where.present || beside) && isLarge && share < LEAST_SHARE)) return "";
  return share === 0 && whose.isHidden(attention, index) ? "hidden" : percent(share);
}

// The arcs over the words: of which stage and whose pass, and all of them.
function arcsAbove({ pass, where, look, pointed, step: { arcs, attention }, cell, isLong, pair }) {
  const all = arcs && !isLong ? arcsOf(pass, look, attention, cell) : [],
    of = pair ? pair[0].attention : attention;
  const noted = { arcs: all, focus: pointed ?? focusOf(pass, where) };
  return { of, whose: pass, all: pair ? notedArcs(pass, look, of, cell, noted) : all };
}

// And those below them.
function arcsBelow({ pass, look, step: { arcs, attention }, cell, pair, beside }) {
  if (beside) return { of: attention, whose: beside.pass, all: arcsBeside(beside, attention) };
  return { of: attention, whose: pass, all: pair && arcs ? arcsOf(pass, look, attention, cell) : [] };
}

// The arcs of the other of two passes, over the words of this one.
function arcsBeside({ pass, where: { cell }, look, toB }, attention) {
  if (!pass.stages.has(attention)) return [];
  return arcsOf(pass, look, attention, cell).flatMap(arc => {
    const inB = toB(attention, pass.indexAt(attention, { ...cell, key: arc.key }));
    return inB ? [{ ...arc, query: inB[1], key: inB[2] }] : [];
  });
}

// The last two of several layers: {name, attention, purpose}; null where there is one.
/** @param {Pass} pass */
function lastTwo({ document: { layers } }) {
  return layers.length > 1 ? layers.map((layer, nth) => ({ ...layer, name: nameOf(nth + 1) })).slice(-2) : null;
}
