// All heads: the attention weights of each as a small heatmap, and what it looks at on average over its rows.
import { percent, short } from "../model/numeral.js";
import { isMuted } from "../model/changes.js";
import { headStatistics } from "../model/headStatistics.js";
import { atCell, focusOf, headsAt, isFirst, isHeads, stepAt, stepsOf } from "../model/state.js";
import { hasOneText, isOfNext, layerLabel } from "../model/words.js";
import { button, h, memoLast, redraw, rovingFocus, setTabStop, write } from "../dom/element.js";
import { fitHeads } from "../fit/fitHeads.js";
import { makeTile, nameOf } from "./headTile.js";
import { makeWorking } from "./headWorking.js";
import { greyHeads } from "./map.js";
import { textWidth } from "./matrixGrid.js";
import { drawLegend, legendOf } from "./picture.js";
import { makeSlice, sharedLimit } from "./slice.js";

const MOST_HEADS = 12, // of a layer; of more, those around the selected one
  MOST_BESIDE = 6, // of layers with words of their own
  MOST_CELLS = 1600; // in tables; more are drawn on a canvas
const ASKING = "Rows ask, columns are looked at. With each head, its mean attention to the ",
  SPREAD = ", and the spread of attention (100\u00a0%: even).",
  TOLD = `${ASKING}previous token, the token itself and the first token${SPREAD}`,
  TOLD_OF_TWO_SIDES = `${ASKING}first token${SPREAD}`;

/** chosen(name, head) is what a click on the name of a head of a stage does in a lesson, where nothing says what a head does: that may be the
 * answer. Without it, the click shows this head for all words.
 * @param {any} tools @param {((name: string, head: number) => void) | null} chosen @returns {View} */
export function makeAllHeads(tools, chosen = null) {
  const told = h("p", { class: "told" }),
    note = h("p", { class: "note" }),
    tiles = h("div", { class: "tiles" }),
    legend = h("div", { class: "legend" }),
    named = h("p", { class: "named" }),
    foot = h("div", { class: "of-heads-foot" }, legend, named),
    working = makeWorking(tools),
    parts = [told, note, tiles, foot, working.element],
    box = h("section", { class: "all-heads", "aria-label": "All heads", hidden: true }, parts);
  let made = /** @type {any[]} */ ([]), // the heads that are shown
    shown = /** @type {any} */ (null),
    pointed = /** @type {Cell | null} */ (null),
    drawnIn = "";
  // The keyboard goes along.
  function enlarge(name, head) {
    const { pass, where } = shown,
      index = pass.indexAt(name, where.cell).with(0, head),
      root = /** @type {any} */ (box.getRootNode()),
      isFocused = box.contains(root.activeElement);
    tools.go({ ...atCell(pass, where, name, index), step: pass.stepOf(name).id, view: "matrices", reveal: null });
    if (isFocused) root.querySelector(`[data-stage="${name}"] [role="gridcell"][tabindex="0"]`)?.focus();
  }
  // The cell of B that a position of a slice stands for; null if B has none.
  const cellAt = ({ name, side, index }, position) =>
    side === "A" ? shown.look.pair.toB(name, index(...position)) : index(...position);
  const onCell = act => (slice, position) => {
    const cell = position && cellAt(slice, position);
    if (cell) act(slice.name, cell);
  };
  const actions = {
    point: (slice, position) => tools.point(slice.name, position && cellAt(slice, position)),
    pick: onCell(tools.pick),
    keyMoved: onCell(tools.keyMoved),
    press: () => {},
    over: () => {},
    toggle: () => false,
  };
  const buttonsOf = () => made.map(({ buttons }) => buttons.filter(each => !each.hidden));
  // A key that moves to a head selects it, so that its cells come next.
  rovingFocus(tiles, buttonsOf, nth => {
    const { name, head } = buttonsOf().flatMap((buttons, at) => buttons.map(() => made[at]))[nth];
    tools.keyMoved(name, shown.pass.indexAt(name, shown.where.cell).with(0, head));
  });
  const makeAll = memoLast(all => {
    const isDrawn = all.flatMap(({ sizes }) => sizes).reduce((sum, [n, m]) => sum + n * m, 0) > MOST_CELLS;
    made = all.map(({ name, head, sizes }) =>
      makeTile({ name, head, sizes, isDrawn: isDrawn || undefined }, actions, {
        choose: () => (chosen ?? enlarge)(name, head),
        open: (statistic, at) => working.open({ name, head, statistic }, at),
        isQuiet: chosen !== null,
      }),
    );
  });
  function draw() {
    const { pass, where, look } = shown,
      { layers } = pass.document,
      reached = headsAt(pass, where),
      names = layers.map(({ attention }) => attention),
      heads = Math.max(...names.map(name => pass.stages.get(name).shape[0])),
      first = heads > MOST_HEADS ? Math.floor(where.cell.head / MOST_HEADS) * MOST_HEADS : 0;
    const all = names.flatMap(name => {
      const count = Math.min(pass.stages.get(name).shape[0] - first, MOST_HEADS);
      return Array.from({ length: Math.max(count, 0) }, (_, nth) => contentOf(shown, name, first + nth, reached));
    });
    makeAll(all.map(({ name, head, slices }) => ({ name, head, sizes: slices.map(({ size }) => size) })));
    const slices = all.flatMap(each => each.slices),
      paint = { pass, look, limit: sharedLimit(slices, look), head: where.cell.head, colours: look.colours },
      paintOf = slice => ({ ...paint, isApart: look.pair?.isApart, ...(slice.side === "A" ? paintOfA(look) : {}) });
    write(told, chosen ? "" : layers.every(({ words }) => words.shared) ? TOLD : TOLD_OF_TWO_SIDES);
    redraw(note, noteOn(all, heads, first, where, tools));
    redraw(legend, drawLegend(legendOf(slices, look, paintOf), look.colours));
    const isOneRow = heads === 1 || (!hasOneText(pass.document) && all.length <= MOST_BESIDE), // the layers side by side
      rows = isOneRow ? [names] : names.map(name => [name]),
      layout = layOut(all, rows.length, where.present);
    drawnIn = sizeText();
    box.style.setProperty("--across", String(layout.across));
    box.style.setProperty("--beside", String(layout.beside));
    box.style.setProperty("--label", `${layout.label}px`);
    box.classList.toggle("unwritten", !layout.written);
    box.classList.toggle("beside", layout.aside);
    for (const [nth, tile] of made.entries()) {
      tile.update(all[nth], { layout, paintOf, isOfTwo: Boolean(pass.other), isOfRow: isOneRow });
    }
    arrange(rows);
    working.update(pass, all, where.cell.query);
    const { name, index } = selected(),
      now = made.find(tile => tile.name === name && tile.head === index[0]) ?? made[0],
      held = box.getRootNode().activeElement,
      buttons = made.flatMap(tile => tile.buttons);
    // In a lesson the answers beside the picture are the same, for keys.
    setTabStop(buttons, chosen ? null : buttons.includes(held) ? held : now.buttons[0]);
    const hasHeld = made.some(tile => tile !== now && tile.holds(held));
    for (const tile of made) tile.choose(tile === now && !chosen); // a frame would be taken for the answer
    mark();
    if (hasHeld) now.element.querySelector('[role="gridcell"][tabindex="0"]')?.focus({ preventScroll: true });
  }
  // The selected cell of the head that is chosen: what is unfolded in the panel may be of another stage.
  const selected = () => {
    const { pass, where } = shown,
      { name } = focusOf(pass, { ...where, trail: [] });
    return { name, index: pass.indexAt(name, where.cell) };
  };
  // The heads of a layer have a row, with its name where there are several rows.
  const arrange = rows => {
    const wanted = made.map(({ element }) => element),
      now = [...tiles.querySelectorAll(".tile")];
    if (wanted.length === now.length && wanted.every((each, nth) => each === now[nth])) return;
    const drawn = rows.map((names, nth) => [
      ...(rows.length > 1 ? [h("h3", { class: "layer" }, layerLabel(shown.pass.document, nth + 1))] : []),
      h(
        "div",
        { class: "row" },
        made.filter(({ name }) => names.includes(name)).map(({ element }) => element),
      ),
    ]);
    tiles.replaceChildren(...drawn.flat());
  };
  const layOut = (all, layers, isPresented) => {
    const { fontFamily, fontSize } = getComputedStyle(box),
      root = Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
      base = Number.parseFloat(fontSize),
      isPaper = Boolean(box.closest(".printed")),
      isNarrow = !isPaper && globalThis.innerWidth <= NARROW,
      widest = axis =>
        Math.max(...all.flatMap(({ slices }) => slices.flatMap(axis)).map(each => textWidth(each, fontFamily))),
      taken = told.offsetHeight + note.offsetHeight + foot.offsetHeight,
      longest = axis => Math.max(...all.flatMap(({ slices }) => slices.map(({ size }) => size[axis])));
    const counts = {
      heads: Math.ceil(all.length / layers),
      layers,
      rows: longest(0),
      columns: longest(1),
      sides: all[0].slices.length,
      statistics: chosen ? 0 : all[0].statistics.length,
    };
    const widths = {
      row: widest(({ rows }) => rows.labels),
      column: widest(({ columns }) => columns.labels),
      digits: textWidth(shown.look.kind === "numbers" ? "0.00" : "−0.00", fontFamily),
      statistic: all.some(({ statisticsOfA }) => statisticsOfA) ? 2.4 : 0,
    };
    const space = {
      isNarrow,
      base,
      label: isPresented ? root : 0.84 * base,
      leastLabel: isPresented ? root : isPaper ? 9.4 : Math.max(0.74 * base, 11),
      smallest: isPresented ? root : isPaper ? 9.4 : 10,
      width: box.clientWidth - 8,
      height: box.clientHeight - taken - 3 * GAP,
    };
    return { ...fitHeads(counts, widths, space), family: fontFamily };
  };
  const mark = () => {
    const { name, index } = selected(),
      cell = pointed ?? { name, index: chosen ? index.with(0, -1) : index }, // in a lesson no head is in focus
      isOpen = working.opened();
    for (const tile of made) tile.mark(shown, cell, isOpen);
    write(named, cell.index[0] < 0 ? "" : cellText(shown, cell));
  };
  const sizeText = () => `${box.clientWidth} ${box.clientHeight} ${globalThis.innerWidth <= NARROW}`;
  working.onChange = () => !box.hidden && mark();
  tools.onPoint((name, index) => {
    pointed = index && made.some(each => each.name === name) ? { name, index } : null;
    if (!box.hidden && made.length) mark();
  });
  new ResizeObserver(() => {
    if (shown && made.length && isHeads(shown.pass, shown.where) && sizeText() !== drawnIn) draw();
  }).observe(box);
  return {
    element: box,
    update(pass, where, look) {
      const isThere = isHeads(pass, where),
        isToCome = where.view === "heads" && !isThere && !isFirst(pass, where) && isBefore(pass, where);
      box.hidden = !isThere && !isToCome;
      box.classList.toggle("ahead", isToCome);
      shown = { pass, where, look };
      if (isThere) return draw();
      working.close();
      makeAll([]);
      tiles.replaceChildren();
      const { attention } = stepAt(pass, where),
        { id, title } = pass.stepOf(attention);
      redraw(
        note,
        isToCome
          ? [
              "All heads: attention weights come at the step ",
              button(`${title} ›`, () => tools.go({ step: id, reveal: null })),
            ]
          : [],
      );
    },
  };
}

const NARROW = 820, // pixels, as in the styles
  GAP = 8;

const isBefore = (pass, where) =>
  stepsOf(pass).indexOf(where.step) < stepsOf(pass).indexOf(pass.stepOf(stepAt(pass, where).attention).id);

/** A head of a stage: its slices, of A too where that is beside it, and its statistics. */
function contentOf({ pass, where, look }, name, head, reached) {
  const { pair } = look,
    isThere = reached.includes(name),
    spec = { stage: name, rows: 1, columns: 2, fixed: { 0: head }, sign: "", after: "" },
    hasA = pair?.pass.stages.get(name)?.shape[0] > head,
    a = hasA ? [{ ...makeSlice(pair.pass, spec, pair.where.cell), side: "A" }] : [],
    b = { ...makeSlice(pass, spec, where.cell), ...(pair && { side: "B" }) };
  const isShown = isThere && look.shown(name, b.index(0, 0)),
    statistics = statisticsOf(pass, name, head, isShown),
    other = pass.other?.stages.get(name)?.shape[0] > head ? statisticsOf(pass.other, name, head, isShown) : null;
  return {
    name,
    head,
    isThere,
    slices: [...a, b],
    label: pass.stages.get(name).axes[0].labels[head],
    layer: pass.document.layers.length > 1 ? layerLabel(pass.document, pass.stepOf(name).layer) : "",
    isAlone: isOnlyHead(pass, name),
    isTitled: pass.document.layers.some(({ title }) => title),
    isMuted: isMuted(pass, name, head),
    isSent: statistics.every(({ isSent }) => isSent),
    isShown,
    statistics,
    statisticsOfA: other,
  };
}

// Whether the head is the only one of a layer that has a name.
const isOnlyHead = ({ document: { layers }, stages }, name) =>
  stages.get(name).shape[0] === 1 && layers.some(({ attention, title }) => attention === name && title);

// The statistics of a head; without their values where these aren't shown, or weren't sent.
function statisticsOf(pass, name, head, isShown) {
  const [, queries, keys] = pass.stages.get(name).shape,
    rows = Array.from({ length: queries }, (_, query) => pass.row(name, [head, query, 0])),
    isSent = rows.every(row => row.length === keys && !row.some(Number.isNaN)),
    isHidden = (query, key) => pass.isHidden(name, [head, query, key]),
    all = headStatistics(rows, { isShared: pass.wordsAt(pass.stepOf(name).id).shared, isHidden });
  return all.map(each => ({ ...each, isSent, value: isShown && isSent ? each.value : null }));
}

const paintOfA = ({ pair }) => ({
  pass: pair.pass,
  look: pair.look,
  isApart: (name, index) => {
    const inB = pair.toB(name, index);
    return inB !== null && pair.isApart(name, inB);
  },
});

function noteOn(all, heads, first, where, tools) {
  const isSent = all.every(each => each.isSent),
    last = Math.min(first + MOST_HEADS, heads),
    to = head => tools.go({ cell: { ...where.cell, head } });
  return [
    heads === 1 &&
      (all.length > 1 ? "Each layer has one head alone. " : "There is one head here: this is all of its attention. "),
    heads > MOST_HEADS && `Heads ${first + 1} to ${last} of ${heads}. `,
    first > 0 && button("‹ Earlier heads", () => to(first - 1)),
    last < heads && button("Later heads ›", () => to(last)),
    all.some(({ isThere }) => !isThere) && "Grey heads are still to come.",
    !isSent && greyHeads(tools),
  ];
}

// The cell in words: head, query, key and attention weight.
function cellText({ pass, look }, { name, index }) {
  const { axes } = pass.stages.get(name),
    [head, query, key] = index.map((position, axis) => axes[axis].labels[position]),
    layer = pass.document.layers.length > 1 ? layerLabel(pass.document, pass.stepOf(name).layer) : "",
    of = nameOf({ layer, label: head, isAlone: isOnlyHead(pass, name) }),
    value = look.pass.number(name, index);
  if (value === undefined || !look.shown(name, index)) return `${of}: “${query}” and “${key}”`;
  if (look.kind !== "numbers") return `${look.nameOf(name, index)} = ${short(value)}`;
  if (pass.isHidden(name, index)) return `${of}: “${key}” is hidden from “${query}”`;
  const isOfAfter = isOfNext(pass.wordsAt(pass.stepOf(name).id));
  return `${of}: ${isOfAfter ? `after “${query}”, “${key}” gets` : `“${query}” gives “${key}”`} ${percent(value)}`;
}
