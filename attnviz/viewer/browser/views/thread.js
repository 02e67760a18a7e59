// The line over the picture: the sentence, the attention weights of its words as arcs, and the model's answer.
import { isMuted } from "../model/changes.js";
import { LITTLE, PERCENTS, littleLine, percent } from "../model/numeral.js";
import { focusOf, isFirst, slotsOf, stepAt, withHead } from "../model/state.js";
import { layerName } from "../model/words.js";
import { h, memoLast, middlesOf, roomy, rovingFocus, setTabStop, svgElement, write } from "../dom/element.js";
import { arcsOf, drawArcs } from "./arcs.js";
import { makeAnswers } from "./modelAnswer.js";
import { sideText } from "./pairing.js";
import { hasTwoRows } from "../model/twoTexts.js";
import { makeTwoRows } from "./twoRows.js";

const LOOKS_FROM = 0.02; // the smallest attention weight that counts as a look
const MAX_IN_LINE = 16; // words that arcs can lead to; more stand in several lines
const NOWHERE = { from: [], to: [], heights: [0, 0] };

/** @returns {View & Pick<ReturnType<typeof makeTwoRows>, "film" | "end" | "isRunning">} */
export function makeThread(tools) {
  const arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" }),
    below = arcs.cloneNode(),
    purposes = [makePurpose(), makePurpose()],
    glance = makeGlance(tools),
    rows = makeTwoRows(tools);
  const lines = { query: makeWords("Queries", { pick, inspect }), key: makeWords("Keys", { pick, inspect }) },
    answers = makeAnswers(tools, lines.query.element);
  const muted = h("p", { class: "muted-said" }, "Dashed arcs are muted: what they collect is not passed on.");
  const little = h("p", { class: "little" });
  const inner = h(
    "div",
    { class: "inner" },
    muted,
    purposes[0].element,
    answers.element,
    arcs,
    lines.key.element,
    below,
    little,
    purposes[1].element,
    glance.element,
  );
  const box = h("section", { class: "thread" }, inner, rows.element);
  let shown = null,
    pointed = null,
    threadState = null; // what was written last
  // In self-attention a click selects the query, with Shift the key; in cross-attention each line has its own role.
  function pick(line, position, isShifted) {
    const { pass, where } = shown,
      isKey = line === lines.key || (pass.wordsAt(where.step).shared && isShifted);
    tools.go({ cell: { ...where.cell, [isKey ? "key" : "query"]: position }, trail: [] });
  }
  // Selects the attention weight of the selected query and a key; on a step without weights, the key.
  function inspect(key) {
    const { pass, where } = shown,
      step = stepAt(pass, where),
      cell = { ...where.cell, key };
    if (step.arcs) tools.inspect(step.attention, pass.indexAt(step.attention, cell));
    else tools.go({ cell, trail: [] });
  }
  const writeWords = memoLast(([queries, keys, unit, texts, ...sides]) => {
    lines.query.write(queries, unit, sides, texts[0]);
    lines.key.write(keys, unit, sides, texts[1]);
    wordPositions.forget();
    scrollToQuery.forget();
  });
  // The words' positions, remembered because measuring costs a layout: only new words, selections or sizes move them.
  const wordPositions = memoLast(() => {
    const from = lines.query.middles(inner),
      to = shown.pass.wordsAt(shown.where.step).shared ? from : lines.key.middles(inner);
    return { from, to, heights: [arcs.clientHeight, below.clientHeight] };
  });
  const scrollToQuery = memoLast(query => lines.query.scrollTo(query, box));
  const writeAll = () => {
    threadState = threadStateOf(shown, pointed);
    const { pass, where, look, step, cell, isLarge, isLong, pair, passA } = threadState,
      { query: queries, key: keys, shared, unit, sides: texts } = pass.wordsAt(where.step);
    const is = { long: isLong, shared, "with-arcs": step.arcs, large: isLarge, paired: pair ?? passA, beside: passA };
    for (const [name, value] of Object.entries(is)) box.classList.toggle(name, Boolean(value));
    box.classList.toggle("before-next", Boolean(pass.document.next)); // which stands on the same page
    box.setAttribute("aria-label", `The ${unit}s`);
    writeWords([queries, shared ? [] : keys, unit, texts, ...(look.pair ? ["B ", "A "] : [pass.other ? "B " : ""])]);
    const sides = passA ? ["B", "A"].map((name, nth) => ({ name, purpose: sideText(pass, 2 - nth, look) })) : [];
    for (const [nth, line] of purposes.entries()) line.write(pair?.[nth] ?? sides[nth] ?? { name: "", purpose: "" });
    const textAt = (key, nth) => weightText(threadState, key, nth),
      key = { key: cell.key, held: where.cell.key };
    lines.query.light({ query: cell.query, ...(shared ? key : { key: null, held: null }) }, shared ? textAt : () => "");
    lines.key.light({ query: null, ...key }, textAt);
    little.hidden = !isLarge || isLong || passA !== null; // an empty line keeps its place, so that nothing moves
    write(little, little.hidden ? "" : littleText(threadState));
    glance.update(pass, { ...where, cell }, look, isLong ? step.attention : null);
  };
  const currentPositions = () =>
    threadState?.step.arcs ? wordPositions([box.className, threadState.cell.query, threadState.cell.key]) : NOWHERE;
  const connect = () => {
    if (!threadState) return;
    const { heights, ...positions } = currentPositions(),
      { shared } = threadState.pass.wordsAt(threadState.where.step);
    draw(arcs, { ...positions, height: heights[0], side: shared ? "above" : "between" }, arcsAbove(threadState));
    draw(below, { ...positions, height: heights[1], side: "below" }, arcsBelow(threadState));
    muted.hidden = ![arcs, below].some(svg => svg.classList.contains("muted") && svg.children.length > 0);
  };
  const draw = (svg, positions, { name, owner, all }) => {
    const { pass, cell } = threadState,
      indexOf = arc => pass.indexAt(name, { ...cell, ...arc }),
      most = pass.stages.get(name).limit;
    drawArcs(svg, { ...positions, most, isMuted: isMuted(owner, name, cell.head) }, all, {
      pick: arc => tools.inspect(name, indexOf(arc)),
      point: arc => tools.point(name, arc && indexOf(arc)),
    });
  };
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (!shown || !rows.element.hidden) return;
    writeAll();
    connect();
  });
  const observer = new ResizeObserver(() => {
    if (!rows.element.hidden) return;
    const before = JSON.stringify(currentPositions());
    wordPositions.forget();
    if (JSON.stringify(currentPositions()) !== before) connect();
  });
  for (const each of [inner, ...answers.element.children]) observer.observe(each); // answers push the words aside
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      const isRows = hasTwoRows(pass, where);
      inner.hidden = isRows;
      rows.element.hidden = !isRows;
      box.classList.toggle("rows", isRows);
      if (isRows) return rows.update(pass, where, look);
      rows.end();
      pointed = null;
      answers.update(pass, where, look);
      writeAll();
    },
    connect() {
      if (!rows.element.hidden) return rows.connect();
      scrollToQuery(shown.where.cell.query);
      connect();
    },
    film: rows.film,
    end: rows.end,
    get isRunning() {
      return rows.isRunning;
    },
  };
}

function makePurpose() {
  const title = h("strong"),
    text = h("span");
  return {
    element: h("p", { class: "purpose" }, title, " ", text),
    write({ name, purpose }) {
      write(title, name);
      write(text, purpose);
    },
  };
}

// What the thread shows: the selected cell, and the two layers, or the other pass, whose arcs are both there.
function threadStateOf({ pass, where, look }, pointed) {
  const { shared, query } = pass.wordsAt(where.step),
    step = stepAt(pass, where),
    isLarge = step.arcs && !slotsOf(step).length && isFirst(pass, where),
    isLong = isLarge && shared && query.length > MAX_IN_LINE,
    hasRoom = isLarge && shared && !isLong,
    pair = hasRoom ? lastTwoLayers(pass) : null,
    passA = hasRoom && !pair && look.pair?.isThere ? look.pair : null;
  // A weight of the layer before is another word's: what the selected query looks at stays in sight.
  const isOfLast = pointed && pointed.name !== pair?.[0].attention,
    cell = isOfLast ? pass.selectionAt(pointed.name, pointed.index, where.cell) : where.cell;
  return { pass, where, look, pointed, step, cell, isLarge, isLong, pair, passA };
}

/** The last two of several layers: {name, attention, purpose}; null where there is one. @param {Pass} pass */
const lastTwoLayers = ({ document }) =>
  document.layers.length > 1
    ? document.layers.map((layer, nth) => ({ ...layer, name: layerName(document, nth + 1) })).slice(-2)
    : null;

// The attention weight under a key's word; with `nth` 1, the other pass's.
function weightText({ pass, where, look, step: { arcs, attention }, cell, isLarge, passA }, key, nth = 0) {
  if (!arcs || (nth && !passA)) return "";
  const at = pass.indexAt(attention, { ...cell, key }),
    [owner, { shown }, index] = nth ? [passA.pass, passA.look, passA.toA(attention, at)] : [pass, look, at],
    weight = index && shown(attention, index) ? owner.number(attention, index) : undefined;
  if (weight === undefined) return "";
  if (weight === 0 && owner.isHidden(attention, index)) return isLarge && (where.present || passA) ? "" : "hidden";
  return isLarge && isLittle(weight) ? "" : percent(weight);
}

const isLittle = weight => weight >= 0 && weight < LITTLE;

// The keys whose attention weights are under 1 %, in one line; "" if there are none.
function littleText({ pass, look, step: { attention }, cell }) {
  const names = pass.stages.get(attention).axes[2].labels.filter((_, key) => {
    const index = pass.indexAt(attention, { ...cell, key });
    return look.shown(attention, index) && isLittle(pass.number(attention, index)) && !pass.isHidden(attention, index);
  });
  return littleLine(names);
}

// The arcs over the words: of which stage and whose pass, and all of them.
function arcsAbove({ pass, where, look, pointed, step: { arcs, attention }, cell, isLong, pair }) {
  const all = arcs && !isLong ? arcsOf(pass, look, attention, cell) : [];
  if (!pair) return { name: attention, owner: pass, all };
  const [{ attention: name }] = pair;
  return { name, owner: pass, all: arcsOfLayerBefore(pass, look, name, cell, all, pointed ?? focusOf(pass, where)) };
}

// The arcs below the words: of the last of two layers, or of the other pass.
function arcsBelow({ pass, look, step: { arcs, attention }, cell, pair, passA }) {
  if (passA) return { name: attention, owner: passA.pass, all: arcsOfPassA(passA, attention) };
  return { name: attention, owner: pass, all: pair && arcs ? arcsOf(pass, look, attention, cell) : [] };
}

// The arcs of the layer before to the words that `arcs`, those of the selected query, lead to: of each of these words what it looked
// at, and of each other its largest weight, faint. The cell in `focus` is there in any case.
/** @param {Pass} pass @param {Look} look */
function arcsOfLayerBefore(pass, look, attention, cell, arcs, focus) {
  const seen = new Set(arcs.filter(({ share }) => share > LOOKS_FROM).map(({ key }) => key)),
    focused = focus.name === attention ? focus.index : null;
  return pass.stages.get(attention).axes[1].labels.flatMap((_, query) => {
    const index = pass.indexAt(attention, { ...cell, query }),
      weights = pass.row(attention, index),
      most = Math.max(...weights);
    const isFocus = key => focused?.[0] === index[0] && focused[1] === query && focused[2] === key,
      isLit = key => (focused ? isFocus(key) : query === cell.key),
      isLook = key => weights[key] === most || (seen.has(query) && weights[key] > LOOKS_FROM);
    const keys = [...weights.keys()].filter(
      key => weights[key] >= LITTLE && (isLook(key) || isFocus(key)) && look.shown(attention, index.with(2, key)),
    );
    return keys.map(key => ({
      query,
      key,
      share: weights[key],
      isLit: isLit(key),
      isFaint: !seen.has(query) && !isLit(key),
    }));
  });
}

function arcsOfPassA({ pass, where: { cell }, look, toB }, attention) {
  if (!pass.stages.has(attention)) return [];
  return arcsOf(pass, look, attention, cell).flatMap(arc => {
    const inB = toB(attention, pass.indexAt(attention, { ...cell, key: arc.key }));
    return inB ? [{ ...arc, query: inB[1], key: inB[2] }] : [];
  });
}

const PERCENT_LETTERS = 4.7; // of "under 1 %", which stands below a word

// A line of words. Calls pick(line, position, isShifted) for a click on a word, inspect(position) for one on its attention weight.
function makeWords(name, { pick, inspect }) {
  const list = h("div", { class: "words", role: "listbox", "aria-label": name, "aria-multiselectable": "true" });
  let words = [],
    sides = [""];
  rovingFocus(list, () => [words]);
  const makeWord = (text, position) => {
    const texts = sides.map((side, nth) => makeWeightText(side, nth ? "said in-a" : "said")),
      word = h("button", { type: "button", role: "option" }, h("span", { class: "text" }, text), ...texts);
    word.onclick = ({ target, shiftKey }) =>
      target.closest(".said") ? inspect(position) : pick(line, position, shiftKey);
    return word;
  };
  const line = {
    element: list,
    // Of two passes each weight is labelled with its pass: `names` are "B " and "A ".
    write(texts, unit, names, side = "") {
      const total = widthOf => texts.reduce((sum, text) => sum + widthOf([...text].length), 0);
      sides = names;
      words = texts.map(makeWord);
      list.ariaDescription = `${side && `${side}. `}Enter asks about a ${unit}, Shift and Enter about its share`;
      list.replaceChildren(...words);
      const letters = total(n => 0.5 + 0.55 * n),
        ems = total(n => 1.1 + 0.55 * Math.max(n, PERCENT_LETTERS));
      list.style.setProperty("--letters", letters);
      list.style.setProperty("--in-line", PERCENT_LETTERS + total(n => 0.95 + 0.5 * n));
      list.style.setProperty("--ems", ems);
    },
    // `held` is the selected key, whichever one points at: pointing moves no word. textAt(position, nth) is of the pass `nth`.
    light({ query, key, held }, textAt) {
      for (const [position, word] of words.entries()) {
        const is = { held: position === held, query: position === query, key: position === key };
        for (const [role, value] of Object.entries(is)) word.classList.toggle(role, value);
        word.setAttribute("aria-selected", is.query || is.key);
        word.ariaDescription = ["query", "key"].filter(role => is[role]).join(" and ");
        for (const [nth, each] of [...word.querySelectorAll(".said")].entries())
          writeWeight(each, sides[nth], textAt(position, nth));
      }
      setTabStop(words, words[query ?? key]);
    },
    middles: origin => middlesOf(words, origin),
    scrollTo(position, scroller) {
      const word = words[position];
      if (!word || scroller.scrollWidth <= scroller.clientWidth) return;
      scroller.scrollLeft = word.offsetLeft + word.offsetWidth / 2 - scroller.clientWidth / 2;
    },
  };
  return line;
}

// The text under a word, in the space of a percentage; with the name of its pass, where there are two.
function makeWeightText(side, className) {
  const texts = PERCENTS.map(each => side + each),
    made = roomy("span", className, "", texts);
  made.append(h("span", {}, h("span", { class: "of" }), ""));
  return made;
}

function writeWeight({ firstChild: { firstChild: name, lastChild } }, side, text) {
  write(name, text && side);
  if (lastChild.data !== text) lastChild.data = text;
}

const WORD_PX = 3; // the height of the words, below the arcs

// The arcs of every head at a glance, over words too many for a line.
function makeGlance(tools) {
  const box = h("div", { class: "glance" });
  let heads = [],
    shown = null;
  const drawHead = ({ choose, label, svg, arcs, words }, head) => {
    const { pass, where, look, attention } = shown,
      cell = { ...where.cell, head },
      { limit: most, axes } = pass.stages.get(attention),
      { labels } = axes[2],
      { clientWidth: width, clientHeight: height } = svg,
      weights = pass.row(attention, pass.indexAt(attention, cell)),
      positions = labels.map((_, position) => ({ x: ((position + 0.5) * width) / labels.length }));
    const indexOf = arc => pass.indexAt(attention, { ...cell, ...arc }),
      kindOf = position => (position === cell.query ? "query" : position === cell.key ? "key" : "word");
    choose.setAttribute("aria-pressed", head === where.cell.head);
    write(label, (heads.length > 1 ? `Head ${head + 1}: ` : "") + mostOf(weights, labels, pass.document.words.unit));
    const geometry = { from: positions, to: positions, height: height - WORD_PX, side: "above" };
    drawArcs(
      arcs,
      { ...geometry, most, isMuted: isMuted(pass, attention, head) },
      arcsOf(pass, look, attention, cell),
      {
        pick: ({ key }) => tools.inspect(attention, indexOf({ key })),
        point: arc => tools.point(attention, arc && indexOf(arc)),
      },
    );
    const marks = positions.map(({ x }, position) => {
      const left = { x: x - (0.4 * width) / labels.length, width: (0.8 * width) / labels.length };
      return svgElement("rect", { ...left, y: height - WORD_PX, height: WORD_PX, class: kindOf(position) });
    });
    words.replaceChildren(...marks);
  };
  const makeHead = head => {
    const label = h("span"),
      choose = h("button", { type: "button", onclick: () => tools.go(withHead(shown.where, head)) }, label),
      [arcs, words] = [svgElement("g"), svgElement("g")],
      svg = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
    svg.append(arcs, words);
    return { item: h("div", { class: "head" }, choose, svg), choose, label, svg, arcs, words };
  };
  const observer = new ResizeObserver(() => {
    if (shown) heads.forEach(drawHead);
  });
  observer.observe(box);
  return {
    element: box,
    // Of the stage `attention`; nothing where it is null.
    update(pass, where, look, attention) {
      box.hidden = attention === null;
      shown = box.hidden ? null : { pass, where, look, attention };
      if (!shown) return;
      const [count] = pass.stages.get(attention).shape;
      if (count !== heads.length) {
        heads = Array.from({ length: count }, (_, head) => makeHead(head));
        box.replaceChildren(...heads.map(({ item }) => item));
      }
      heads.forEach(drawHead);
    },
  };
}

// The word with the largest attention weight, and the weight.
function mostOf(weights, words, unit) {
  const most = Math.max(...weights);
  if (Number.isNaN(most)) return "click to load it";
  return most > 0 ? `“${words[weights.indexOf(most)]}” ${percent(most)}` : `sees no ${unit}`;
}
