// The hand: the sheet on a phone, where it grows downwards alone. A word, or an answer, is a row of numbers, a vector wraps,
// and how a number was computed opens below the row that was tapped.
import { element, redraw } from "../elements/element.js";
import { isNarrowFrame } from "../elements/narrow.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { hasWords, isOfHeads } from "../pass/axes.js";
import { drawWays } from "./bandWords.js";
import { cellAt, numberAt } from "./bandFace.js";
import { inA } from "./handPair.js";
import { sentenceOf } from "./handWords.js";
import { drawPlaces } from "./placeLines.js";
import { QUESTIONS } from "../scene/state.js";
import { drawWordRows } from "./wordRows.js";
import { drawWorkings } from "./workings.js";

const HAND = "(max-width: 599px)",
  MOST_PLACES = 16,
  MOST_NUMBERS = 6; // of a word, beside each other

export function isInHand() {
  return globalThis.matchMedia(HAND).matches || isNarrowFrame(globalThis);
}

// `acts` are those of the sheet. Returns {element, update(parts, paint)}.
export function makeHand(acts) {
  const box = element("div", "hand");
  let shown = null,
    opened = "",
    at = "",
    question = QUESTIONS[0],
    picked = false;

  // A tap in a cell opens its working below it, or closes it.
  const tap = (id, { name, index }) => {
    opened = opened === id ? "" : id;
    picked = true;
    acts.pick(name, index);
  };
  const draw = () => {
    const { parts, paint } = shown;
    const state = {
      isOpen: id => id === opened,
      tap,
      inA: face => inA(paint, face),
      workings: (part, face, collected) => drawWorkings(part, face, paint, acts, collected),
    };
    redraw(box, drawGroups(parts, paint, state, acts));
    const rows = rowsIn(box),
      cells = rows.flat();
    setTabStop(cells, cells.find(each => each.getAttribute("aria-expanded") === "true") ?? cells[0]);
  };
  rovingFocus(box, () => rowsIn(box));
  return {
    element: box,
    update(parts, paint) {
      const { step, reveal, picked: name } = paint.where,
        isFirst = !shown,
        now = `${step} ${reveal}`,
        isOther = now !== at;
      shown = { parts, paint };
      if (isOther && !picked) opened = isFirst && name ? ownOf(parts, paint, name) : "";
      draw();
      if (paint.where.ask !== question)
        bring(box.querySelector('[aria-expanded="true"]')?.closest("tr")); // above the panel
      else if (picked) bring(box.querySelector(".workings"));
      else if (isOther && !isFirst) bring(box.querySelector(".lit"));
      question = paint.where.ask;
      at = now;
      picked = false;
    },
    clear() {
      shown = null;
      box.replaceChildren();
    },
  };
}

function bring(place) {
  place?.scrollIntoView({ block: "nearest" });
}

function rowsIn(box) {
  return [...box.querySelectorAll("tr")]
    .map(line => [...line.querySelectorAll("button.stop")])
    .filter(({ length }) => length);
}

// The name, as state.isOpen knows it, of the cell that an address has picked; "" where it isn't seen here.
function ownOf(parts, { pass, where }, name) {
  const part = parts.find(({ cells, band, left }) => cells.name === name && !band.array && !left);
  const place = part?.cells.placeOf(pass.indexAt(name, where.cell));
  return place ? `${part.key}@${place}` : "";
}

// Parts that follow each other with the same columns stand in one table, where their columns are words; those of a step that
// has no room beside the others in one of its own.
function drawGroups(parts, paint, state, acts) {
  const groups = [];
  for (const part of parts) {
    const isList = hasWords(part.cells.columns) && !isOfHeads(part.cells.rows),
      last = groups.at(-1);
    if (isList && last?.isList && hasRoomFor(part, last.parts, parts)) last.parts.push(part);
    else groups.push({ isList, parts: [part] });
  }
  const first = parts.find(({ left }) => left);
  return [
    ...groups
      .filter(group => group.parts.some(({ isThere }) => isThere))
      .flatMap(group =>
        group.isList
          ? drawList(group.parts, paint, state, { ...acts, isAsked: group === groups[0] })
          : drawVectors(group.parts[0], parts, paint, state),
      ),
    ...(first?.isThere && !paint.isBare ? drawWays(first, acts) : []),
  ];
}

function hasRoomFor(part, together, parts) {
  if (together[0].cells.columns.name !== part.cells.columns.name) return false;
  const numbersIn = some => some.filter(({ left, right }) => !left && !right).length,
    ofStep = parts.filter(({ step }) => step === part.step);
  return together.at(-1).step === part.step || numbersIn([...together, ...ofStep]) <= MOST_NUMBERS;
}

// Words, or answers, with what their values add up to below them.
function drawList(parts, paint, state, acts) {
  const collected = parts.find(({ right }) => right),
    lines = parts.filter(part => part !== collected);
  return [
    drawWordRows(lines, collected, paint, state, acts),
    ...(collected?.isThere ? [drawFound(collected, paint, state)] : []),
  ];
}

// The rows of a matrix as places of a vector beside it: all of them, or of many the largest.
function placesOf({
  rows,
  others,
  cells: {
    size: [length],
  },
}) {
  return length > MOST_PLACES ? rows : [...rows, ...others].sort((one, other) => one - other);
}

function drawFound(part, paint, state) {
  const face = row => numberAt(part.right, paint, row, 0),
    { stage } = part.right;
  return vectorOf(
    part,
    stage.title,
    {
      labels: part.right.rows.labels,
      places: placesOf(part),
      faceOf: part.isWhole ? face : null,
      idOf: row => `${part.key} sum@${row}`,
    },
    paint,
    state,
  );
}

// A vector, what a matrix multiplies, or one vector for each head.
function drawVectors(part, parts, paint, state) {
  const { cells, left, right, band, columns, rightColumns } = part;
  if (!part.isThere) return [];
  if (left) {
    const isSeen = parts.some(({ cells: { name } }) => name === left.name);
    const places = placesOf(part);
    const idOf = row => `${part.key} left@${row}`,
      faceOf = row => numberAt(left, paint, row, 0);
    return isSeen
      ? [sectionOf(part, paint)]
      : [vectorOf(part, left.stage.title, { labels: left.rows.labels, places, faceOf, idOf }, paint, state)];
  }
  const slot = isOfHeads(cells.rows) && right ? right : cells,
    places = slot === right ? rightColumns : columns;
  return part.rows.map((row, nth) => {
    const name = isOfHeads(cells.rows)
      ? `${cells.rows.labels[row]}${right ? looksAt(part, paint, row) : ""}`
      : band.label;
    const faceOf = column => (slot === right ? numberAt(right, paint, row, column) : cellAt(part, paint, row, column));
    return vectorOf(
      nth ? { ...part, band: { ...band, sentence: [] } } : part,
      name,
      { labels: slot.columns.labels, places, faceOf, idOf: column => `${part.key}@${[row, column]}` },
      paint,
      state,
    );
  });
}

// Where a head looks most.
function looksAt({ cells }, { pass }, row) {
  const shares = cells.columns.labels.map((_, column) => pass.number(cells.name, cells.index(row, column)) ?? 0),
    most = shares.indexOf(Math.max(...shares));
  return `, most from “${cells.columns.labels[most]}”`;
}

function sectionOf(part, paint, ...children) {
  const made = element("section", part.isLit ? "lit" : "");
  made.append(...sentenceOf(part, paint), ...children);
  return made;
}

function vectorOf(part, name, vector, paint, state) {
  return sectionOf(part, paint, drawPlaces({ ...vector, name, part }, state));
}
