// The sheet: the selected word's whole attention on one screen, band below band, with a column for every word.
import { arcsOf, drawArcs } from "../picture/arcs.js";
import { isSheet, sourceAt, sourceBands, standing } from "../scene/bands.js";
import { element, redraw, svgElement } from "../elements/element.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { isMuted } from "../pass/muting.js";
import { sharedLimit } from "../picture/face.js";
import { hasWords } from "../pass/axes.js";
import { focusOf, stepAt } from "../scene/state.js";
import { isInHand, makeHand } from "./hand.js";
import { makeInPlace } from "./inPlace.js";
import { makeHeader } from "./header.js";
import { keptIn, makeKeptLine } from "./keptLine.js";
import { makeLine } from "./bandLine.js";
import { amplyFor, endsOf, narrowed, partsOf, slotted } from "./bandParts.js";
import { drawTold, showsProducts } from "./bandWords.js";
import { pairedParts } from "./pairParts.js";
import { makeSentence } from "./sentence.js";
import { awaitLetters, lettersOf } from "./lettering.js";
import { roomForColumns, roomForLines, setSizes, weightOf } from "./sizes.js";

const MOST_IN_HAND = 16; // words that have a row on a phone
const MOST_ANSWERS = 11; // columns of them in a talk

/** @returns {View} */
// `isBare` says that nothing is said beside its bands, and that none stands there before its step, as in a lesson.
export function makeSheet(tools, isBare = false) {
  const box = element("section", "sheet"),
    table = element("table"),
    opened = new Set(),
    told = element("div", "told"),
    arcs = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
  box.setAttribute("aria-label", "The sheet");
  table.setAttribute("role", "grid");
  box.hidden = true;
  let shown = null,
    built = "",
    lines = [],
    room = "",
    brought = [];

  const inPlace = makeInPlace(tools.set);
  const sentence = makeSentence(key => {
    brought = [...brought.filter(each => each !== key), key];
    tools.go({ cell: { ...shown.where.cell, key }, trail: [] });
  });
  box.append(sentence.element, ...(isBare ? [] : [told]), arcs, table, inPlace.element);
  const acts = {
    ...tools,
    edit: (cell, at) => inPlace.open(shown.pass, cell, at),
    // In one sentence a word asks, and with Shift it is asked, as in the line of words.
    select: (axis, place, isShifted) => {
      const { pass, where } = shown,
        role = axis === "key" && pass.document.words.shared && !isShifted ? "query" : axis;
      tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
    },
    // The sheet of the word that a key or value of a later layer is from: what the layer before made of it.
    follow: layer => {
      const { pass, where } = shown,
        step = pass.document.steps.findLast(({ page, bands }) => page === `words-${layer}` && bands.length);
      tools.go({ step: step.id, reveal: null, cell: { ...where.cell, query: where.cell.key }, trail: [] });
    },
    trace: from => {
      const source = sourceAt(shown.pass, { ...shown.where, from });
      tools.go({ from, trail: [], ...(source && { picked: source.bands.at(-1).cells.stage }) });
    },
    open: key => {
      if (!opened.delete(key)) opened.add(key);
      draw();
    },
  };
  // Pass A where its sheet stands beside that of B: {pass, where, selection, attention, paint, acts}; null where there is none.
  const besideIn = ({ look: { pair, colours } }) => {
    if (!pair?.isThere || !isSheet(pair.pass, pair.where)) return null;
    const { pass, where, look, toB, isApart } = pair,
      { attention } = stepAt(pass, where);
    const inB = act => (name, index) => {
      const cell = index && toB(name, index);
      if (cell || !index) act(name, cell);
    };
    const paint = {
      pass,
      where,
      look,
      colours,
      limit: 1,
      before: () => undefined,
      isBare,
      isApart: (name, index) => {
        const cell = toB(name, index);
        return cell !== null && isApart(name, cell);
      },
    };
    return {
      pass,
      where,
      selection: where.cell,
      attention,
      paint,
      acts: { ...acts, pick: inB(acts.pick), point: inB(acts.point), edit: () => {} },
    };
  };
  const hand = makeHand(acts);
  box.append(hand.element);
  const draw = () => {
    const { pass, where, look } = shown,
      { attention } = stepAt(pass, where);
    const source = sourceAt(pass, where),
      isReplaced = ({ band: { array, cells } }) => array && look.titleOf(cells.stage); // by slopes, say, which it has none of
    const beside = besideIn(shown),
      own = source ? sourceBands(pass, where, source) : standing(pass, where);
    const bands = (beside && !source ? withThoseOfA(own, standing(beside.pass, beside.where), pass) : own).filter(
      each => !isReplaced(each) && (each.isThere || !isBare),
    );
    const selection = source?.word === "key" ? { ...where.cell, query: where.cell.key } : where.cell;
    const slots = slotted(pass, { selection, attention }, bands),
      all = slots.flatMap(({ cells, left, right }) => [cells, left, right]).filter(Boolean);
    const slotsOfA = beside
      ? slotted(
          beside.pass,
          beside,
          bands.filter(({ band }) => canStand(beside.pass, pass, band)),
        )
      : [];
    const paint = {
      pass,
      where,
      isApart: look.pair?.isApart,
      look: source ? { ...look, shown: () => true } : look,
      colours: look.colours,
      limit: sharedLimit(all, look),
      before: beside ? () => undefined : beforeOf(pass),
      isBare,
    };
    const isPaper = Boolean(box.closest(".printed")),
      isHeld = isInHand() && !isPaper;
    const letters = lettersOf(box, [...slots, ...slotsOfA], [...all, ...slotsOfA.map(({ cells }) => cells)], paint),
      least = where.present && !isHeld ? smallestInTalk() : 0;
    const partsIn = room => {
      const own = partsOf(pass, { opened, room, brought }, slots).map(part => ({ ...part, isTraced: Boolean(source) }));
      return beside && !source && !isHeld
        ? pairedParts(pass, own, partsOf(beside.pass, { opened, room, brought: [] }, slotsOfA), {
            acts: beside.acts,
            paint: beside.paint,
            paintB: paint,
            opened,
          })
        : own;
    };
    const hasRoom = room => {
      const there = partsIn(room);
      return (
        weightOf(there.flatMap(outlineOf)) <=
        roomForLines(box, {
          parts: there.length,
          above: aboveIn(),
          least,
          buttons: there.filter(({ others }) => others.length).length,
        })
      );
    };
    const isTold = least && !isBare;
    const ample = isHeld ? amplyFor(MOST_IN_HAND) : roomIn(slots, { pass, letters, least, isPaper });
    if (isTold) redraw(told, [element("p", "", "\u00a0")]);
    const parts = partsIn(isHeld || isPaper ? ample : narrowed(ample, hasRoom));
    if (isTold) redraw(told, drawTold(parts, paint, acts));
    const { columns: there, rest } = parts.find(({ rest }) => rest.length) ?? { columns: [], rest: [] };
    sentence.update(rest.length ? { pass, where, look, attention, there } : null);
    box.classList.toggle("in-hand", isHeld);
    if (isHeld) {
      box.removeAttribute("style"); // the sizes of a wider one
      return hand.update(parts, paint);
    }
    hand.clear();
    const width = Math.max(
        ...parts.map(
          part => part.columns.length + Math.min(part.rest.length, 1) + Math.max(endsOf(part).length - 1, 0),
        ),
      ),
      isKept = keptIn(pass, where) !== null && !source,
      stands = structureOf(parts, width, isKept);
    if (stands !== built) {
      lines = parts.flatMap((part, place) => linesOf(part, parts[place - 1], { place, width, isKept }, acts));
      table.replaceChildren(columnsOf(width), ...lines.map(line => line.element));
    }
    built = stands;
    table.setAttribute(
      "aria-label",
      `${pass.document.words.query[where.cell.query]}: ${stepAt(pass, where).page.startsWith("words") ? "its attention" : "what it becomes"}`,
    );
    for (const line of lines) line.update(parts[line.place], parts[line.place].paint ?? paint);
    const isOfWords =
      !source &&
      pass.document.words.shared &&
      parts[0].cells.columns.name === "key" &&
      !rest.length &&
      !(isPaper && !look.shown(attention, pass.indexAt(attention, selection)));
    drawStrip(
      setSizes(box, {
        lines,
        parts: parts.length,
        columns: width,
        letters,
        least,
        multiplies: parts.some(showsProducts),
        isPaper,
        isBare,
        wanted: isOfWords,
        above: aboveIn(),
      }),
      attention,
    );
    setTabStops(lines.flatMap(line => line.cells()));
    mark(focusOf(pass, where));
    awaitLetters(box, draw);
    inPlace.update(pass, focusOf(pass, where));
  };
  const aboveIn = () => sentence.element.offsetHeight + told.offsetHeight;
  // For how many columns there is room, and rows: in a talk for as many as have large letters.
  const roomIn = (slots, { pass, letters, least, isPaper }) => {
    const others = Math.max(1, ...slots.map(({ beside }) => beside.length)),
      words = pass.document.words.key.length;
    const roomFor = (words, sizes) =>
      roomForColumns(box, { others: 1, letters, least, isPaper, isBare, words, ...sizes });
    const ample = amplyFor(roomFor(words, { others }));
    if (!least && !isBare) return ample;
    const answers = slots.find(({ cells }) => cells.columns.name === "answer")?.cells.size[1] ?? 0;
    return {
      ...ample,
      answers: roomFor(answers, { most: MOST_ANSWERS }),
      ...(least ? { places: roomFor(ample.places, { letters: { ...letters, names: 2 } }) } : {}),
    };
  };
  const addressOf = ({ name, index }) => shown.pass.address(name, index);
  const setTabStops = cells => {
    setTabStop(
      cells,
      cells.find(cell => cell === table.getRootNode().activeElement) ??
        cells.find(({ dataset }) => dataset.cell === addressOf(focusOf(shown.pass, shown.where))) ??
        cells[0],
    );
  };
  // Where the selected word looks, above the words; its room is there before that was computed.
  const drawStrip = (height, attention) => {
    const {
      pass,
      where: { cell },
      look,
    } = shown;
    arcs.toggleAttribute("hidden", !height);
    const words = height ? lines[0].middles(arcs) : [];
    drawArcs(
      arcs,
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
        pick: ({ key }) => tools.pick(attention, pass.indexAt(attention, { ...cell, key })),
        point: arc => tools.point(attention, arc && pass.indexAt(attention, { ...cell, ...arc })),
      },
    );
  };
  const mark = cell => {
    const {
        pass,
        look: { pair },
      } = shown,
      there = pair?.toA(cell.name, cell.index);
    const marked = (of, { name, index }) => [
      of.address(name, index),
      new Set(of.cellsOf(name, index).map(each => of.address(each.name, each.index))),
    ];
    const own = marked(pass, cell),
      beside = there ? marked(pair.pass, { ...cell, index: there }) : ["", new Set()];
    for (const line of lines) line.mark(...(line.side === "A" ? beside : own));
  };
  tools.onPoint((name, index) => {
    if (!box.hidden) mark(index ? { name, index } : focusOf(shown.pass, shown.where));
  });
  rovingFocus(table, () => lines.map(line => line.cells()).filter(({ length }) => length));
  const observer = new ResizeObserver(() => {
    const now = `${box.clientWidth} ${box.clientHeight}`; // other sizes of its own
    if (!box.hidden && now !== room) draw();
    room = now;
  });
  observer.observe(box);
  return {
    element: box,
    update(pass, where, look) {
      box.hidden = !isSheet(pass, where);
      if (String(shown?.pass.document.words.key) !== String(pass.document.words.key)) brought = [];
      if (box.hidden) return;
      shown = { pass, where, look };
      draw();
    },
  };
}

// Pixels: the letters that all others of a page are counted in (scene/present.js).
function smallestInTalk() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

// What is said, what stands before a row, one for each word or place, and what is at the right.
function columnsOf(width) {
  const group = element("colgroup");
  group.append(
    ...["said", "label"].map(name => element("col", name)),
    ...Array.from({ length: width + 1 }, () => element("col")),
  );
  return group;
}

function structureOf(parts, width, isKept) {
  return JSON.stringify([
    width,
    isKept,
    parts.map(({ key, side, columns, rest, beside, ends, left, right, rows, others }) => [
      key,
      side,
      columns.length,
      rest.length,
      beside,
      ends?.length,
      left?.name,
      right?.name,
      rows.length,
      others.length,
    ]),
  ]);
}

// The lines of a part: its columns' names, where they are others than those above, and its rows.
function linesOf(part, above, { place, width, isKept }, acts) {
  const { cells } = part,
    height = heightOf(part);
  return [
    ...(isNamed(part, above)
      ? [makeHeader(part, part.side === "A" && hasWords(cells.columns) ? place + 1 : place, width, acts)]
      : []), // B's words, which A may lack
    ...(isKept && place === 0 && cells.columns.name === "key" ? [makeKeptLine(place, width)] : []),
    ...Array.from({ length: height }, (_, nth) => makeLine(part, { place, nth, height, width }, part.acts ?? acts)),
  ];
}

function heightOf({ rows, others }) {
  return rows.length + (others.length ? 1 : 0);
}

// Whether the names of a part's columns stand over it.
function isNamed({ cells, ends }, above) {
  return (
    above?.cells.columns.name !== cells.columns.name ||
    (Boolean(above.right?.columns.name) && above.side !== "A") ||
    Boolean(ends)
  );
}

// What of lines their heights follow from, before they are made.
function outlineOf(part, place, parts) {
  const height = heightOf(part);
  return [
    ...(isNamed(part, parts[place - 1]) ? [{ isHeader: true }] : []),
    ...Array(height).fill({ isSingle: height === 1 && !part.side }),
  ];
}

// The bands of B, and those that A's sheet alone has of stages of both, as of scores that only A scales.
function withThoseOfA(bands, ofA, pass) {
  const nameOf = ({ band: { cells, array } }) => `${cells.stage} ${array}`,
    all = [...bands];
  for (const [place, each] of ofA.entries()) {
    if (all.some(other => nameOf(other) === nameOf(each)) || !pass.stages.has(each.band.cells.stage)) continue;
    const before = place ? all.findIndex(other => nameOf(other) === nameOf(ofA[place - 1])) : -1;
    all.splice(before + 1, 0, each);
  }
  return all;
}

// Whether another pass has the stages of a band, with as many axes.
function canStand(other, pass, { cells, left, right }) {
  return [cells, left, right]
    .filter(Boolean)
    .every(({ stage }) => other.stages.get(stage)?.axes.length === pass.stages.get(stage).axes.length);
}

// What a number was before any was set by hand; undefined where it is none of those that moved.
/** @param {Pass} pass */
function beforeOf(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  return (name, index) => (Object.hasOwn(before, name) ? old.number(name, index) : undefined);
}
