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
    stand = () => NOWHERE,
    connect = () => {}; // of what was written last: where arcs lead, and their drawing

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
    const { pass, where, look } = shown;
    const { query: queries, key: keys, shared, unit } = pass.document.words;
    const step = stepAt(pass, where),
      { attention } = step;
    const isLarge = step.arcs && !slotsOf(step).length && isFirst(pass, where),
      pair = isLarge && shared && queries.length <= MOST_IN_LINE ? lastTwo(pass) : null;
    // A share of the layer before is another word's: what the selected query looks at stays in sight beside it.
    const cell =
      pointed && pointed.name !== pair?.[0].attention
        ? pass.selectionAt(pointed.name, pointed.index, where.cell)
        : where.cell;
    const isLong = isLarge && shared && queries.length > MOST_IN_LINE,
      beside = isLarge && shared && !pair && !isLong && look.pair?.isThere ? look.pair : null;
    box.classList.toggle("long", isLong);
    box.classList.toggle("shared", shared);
    box.classList.toggle("with-arcs", step.arcs);
    box.classList.toggle("large", isLarge);
    box.classList.toggle("before-next", Boolean(pass.document.next)); // which stands on the same page
    box.classList.toggle("paired", Boolean(pair ?? beside));
    box.classList.toggle("beside", Boolean(beside));
    const sides = look.pair ? ["B ", "A "] : [""];
    box.setAttribute("aria-label", `The ${unit}s`);
    writeWords([queries, shared ? [] : keys, unit, ...sides]);
    purposes.forEach((line, nth) => {
      line.write(pair?.[nth] ?? { name: beside ? "BA"[nth] : "", purpose: beside ? sideText(pass, 2 - nth) : "" });
    });
    const ownArcs = step.arcs ? arcsOf(pass, look, attention, cell) : [];
    const shareOf = (whose, { shown: isShown }, index) => {
      const share = index && isShown(attention, index) ? whose.number(attention, index) : undefined;
      if (share === undefined || ((where.present || beside) && isLarge && share < LEAST_SHARE)) return "";
      return share === 0 && whose.isHidden(attention, index) ? "hidden" : percent(share);
    };
    const textAt = (key, nth = 0) => {
      if (!step.arcs || (nth && !beside)) return "";
      const index = pass.indexAt(attention, { ...cell, key }),
        [whose, seen, at] = nth ? [beside.pass, beside.look, beside.toA(attention, index)] : [pass, look, index];
      return shareOf(whose, seen, at);
    };
    lines.query.light(
      { query: cell.query, key: shared ? cell.key : null, held: shared ? where.cell.key : null },
      shared ? textAt : () => "",
    );
    lines.key.light({ query: null, key: cell.key, held: where.cell.key }, textAt);
    glance.update(pass, { ...where, cell }, look, isLong ? attention : null);
    const isDashed = svg => svg.classList.contains("muted") && svg.children.length > 0;
    const drawIn = (stands, svg, height, side, of, all, whose = pass) =>
      drawArcs(
        svg,
        { ...stands, height, side, most: pass.stages.get(of).limit, isMuted: isMuted(whose, of, cell.head) },
        all,
        {
          pick: arc => tools.inspect(of, pass.indexAt(of, { ...cell, ...arc })),
          point: arc => tools.point(of, arc && pass.indexAt(of, { ...cell, ...arc })),
        },
      );
    stand = () => (step.arcs ? standing([box.className, cell.query, cell.key]) : NOWHERE);
    connect = () => {
      const stands = stand();
      const [above, under] = stands.heights;
      if (isLong) drawIn(stands, arcs, above, "above", attention, []);
      else if (pair)
        drawIn(
          stands,
          arcs,
          above,
          "above",
          pair[0].attention,
          notedArcs(pass, look, pair[0].attention, cell, { arcs: ownArcs, focus: pointed ?? focusOf(pass, where) }),
        );
      else drawIn(stands, arcs, above, shared ? "above" : "between", attention, ownArcs);
      drawIn(
        stands,
        below,
        under,
        "below",
        attention,
        pair ? ownArcs : beside ? arcsBeside(beside, attention) : [],
        beside && !pair ? beside.pass : pass,
      );
      muted.hidden = ![arcs, below].some(isDashed);
    };
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
