// The line over the picture: the sentence, what its words attend to, and the model's answer.
import { isMuted } from "../model/changes.js";
import { percent } from "../model/numeral.js";
import { focusOf, isFirst, slotsOf, stepAt } from "../model/state.js";
import { element, h, svgElement, write } from "../dom/element.js";
import { whenOther } from "../dom/timing.js";
import { arcsOf, drawArcs } from "./arcs.js";
import { nameOf } from "./diagram.js";
import { makeGlance, makeLine } from "./line.js";
import { makeAnswers } from "./modelAnswer.js";
import { sideText } from "./pairing.js";

const LEAST = 0.02; // the smallest attention weight that counts as a look

// The arcs of a layer whose words `arcs`, those of the selected query in the next layer, lead to: of each of these words
// what it looked at, and of each other its largest share, faint. `focus` is a cell that is there in any case.
/** @param {Pass} pass @param {Look} look */
function notedArcs(pass, look, attention, cell, { arcs, focus }) {
  const seen = new Set(arcs.filter(({ share }) => share > LEAST).map(({ key }) => key));
  const focused = focus.name === attention ? focus.index : null;
  return pass.stages.get(attention).axes[1].labels.flatMap((_, query) => {
    const index = pass.indexAt(attention, { ...cell, query }),
      shares = pass.row(attention, index),
      most = Math.max(...shares);
    const looks = key => shares[key] === most || (seen.has(query) && shares[key] > LEAST);
    const isOwn = key => focused?.[0] === index[0] && focused[1] === query && focused[2] === key;
    const isLit = key => (focused ? isOwn(key) : query === cell.key);
    return Array.from(shares, (share, key) => ({
      query,
      key,
      share,
      isLit: isLit(key),
      isFaint: !seen.has(query) && !isLit(key),
    })).filter(
      ({ key, share }) => share > 0 && (looks(key) || isOwn(key)) && look.shown(attention, index.with(2, key)),
    );
  });
}

function makePurpose() {
  const called = element("strong"),
    is = element("span");
  const line = h("p", { class: "purpose" }, called, " ", is);
  return {
    element: line,
    write({ name, purpose }) {
      write(called, name);
      write(is, purpose);
    },
  };
}

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
    threadState = null; // what was written last

  // In self-attention a click selects the query, with Shift the key; in cross-attention each line has its own role.
  function pick(line, position, isShifted) {
    const { pass, where } = shown;
    const role = pass.document.words.shared && isShifted ? "key" : line === lines.query ? "query" : "key";
    tools.go({ cell: { ...where.cell, [role]: position }, trail: [] });
  }
  // Selects the attention weight of the selected query and a key; on a step without weights, the key.
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
    wordPositions.forget();
    seek.forget();
  });
  // The words' positions, remembered because measuring costs a layout: only new words, selections or sizes move them.
  const wordPositions = whenOther(() => {
    const from = lines.query.middles(inner);
    return {
      from,
      to: shown.pass.document.words.shared ? from : lines.key.middles(inner),
      heights: [arcs.clientHeight, below.clientHeight],
    };
  });
  const seek = whenOther(query => lines.query.show(query, box));
  const write = () => {
    threadState = threadStateOf(shown, pointed);
    const { pass, where, look, step, cell, isLarge, isLong, pair, beside } = threadState,
      { query: queries, key: keys, shared, unit } = pass.document.words;
    const is = { long: isLong, shared, "with-arcs": step.arcs, large: isLarge, paired: pair ?? beside, beside };
    for (const [name, value] of Object.entries(is)) box.classList.toggle(name, Boolean(value));
    box.classList.toggle("before-next", Boolean(pass.document.next)); // which stands on the same page
    box.setAttribute("aria-label", `The ${unit}s`);
    writeWords([queries, shared ? [] : keys, unit, ...(look.pair ? ["B ", "A "] : [pass.other ? "B " : ""])]);
    purposes.forEach((line, nth) => {
      line.write(pair?.[nth] ?? { name: beside ? "BA"[nth] : "", purpose: beside ? sideText(pass, 2 - nth) : "" });
    });
    const textAt = (key, nth) => shareText(threadState, key, nth);
    lines.query.light(
      { query: cell.query, key: shared ? cell.key : null, held: shared ? where.cell.key : null },
      shared ? textAt : () => "",
    );
    lines.key.light({ query: null, key: cell.key, held: where.cell.key }, textAt);
    glance.update(pass, { ...where, cell }, look, isLong ? step.attention : null);
  };
  const currentPositions = () =>
    threadState?.step.arcs ? wordPositions([box.className, threadState.cell.query, threadState.cell.key]) : NOWHERE;
  const connect = () => {
    if (!threadState) return;
    const { heights, ...stands } = currentPositions(),
      [above, under] = [arcsAbove(threadState), arcsBelow(threadState)],
      { shared } = threadState.pass.document.words;
    draw(arcs, { ...stands, height: heights[0], side: shared ? "above" : "between" }, above);
    draw(below, { ...stands, height: heights[1], side: "below" }, under);
    muted.hidden = ![arcs, below].some(svg => svg.classList.contains("muted") && svg.children.length > 0);
  };
  const draw = (svg, stands, { of, all, whose }) => {
    const { pass, cell } = threadState,
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
    const before = JSON.stringify(currentPositions());
    wordPositions.forget();
    if (JSON.stringify(currentPositions()) !== before) connect();
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

// The thread's state: the cell that is lit, whether that is all there is on the step, whether its words stand in several lines,
// and the two layers, or the pass beside this one, whose arcs are both there.
function threadStateOf({ pass, where, look }, pointed) {
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

// The attention weight over a key's word; with `nth` 1, the other pass's.
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

// The arcs below the words.
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
