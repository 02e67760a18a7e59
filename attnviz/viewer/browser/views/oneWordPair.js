// What the One word view shows of one pass, or of two and how they differ, as data.
import { areApart, placesAlong } from "../model/looks.js";
import { hasWords } from "../model/axes.js";
import { digits } from "../model/numeral.js";
import { isSheet, sourceAt, sourceBands, visibleRows, stepAt } from "../model/state.js";
import { isMarked } from "./oneWordCells.js";
import { endsOf, partsOf, slotted, withRows } from "./oneWordParts.js";
import { sharedLimit } from "./slice.js";

// `other` is pass A with its own {slots}, null where it isn't shown; `all` are the slots of both whose numbers need room.
export function contentOf({ pass, where, look }, actions, withoutText) {
  const { attention } = stepAt(pass, where),
    source = sourceAt(pass, where),
    selection = source?.word === "key" ? { ...where.cell, query: where.cell.key } : where.cell,
    a = passAOf(look, actions, withoutText),
    bands = bandsOf({ pass, where, look }, source, a, withoutText),
    slots = slotted(pass, { selection, attention }, bands),
    other = a && { ...a, slots: slotted(a.pass, a, bandsInA(bands, a.pass, pass)) },
    slotsOfB = slots.flatMap(({ cells, left, right }) => [cells, left, right]).filter(Boolean);
  const paint = {
    pass,
    where,
    isApart: look.pair?.isApart,
    look: source ? { ...look, shown: () => true } : look,
    colours: look.colours,
    limit: sharedLimit(slotsOfB, look),
    before: other ? () => undefined : numbersBefore(pass),
    withoutText,
  };
  const all = [...slotsOfB, ...(other?.slots ?? []).map(({ cells }) => cells)];
  return { pass, where, look, attention, source, selection, other, slots, all, paint };
}

// The parts of a content that fit some space (see partsOf); on a phone only B's.
export function partsIn({ pass, source, other, slots, paint }, { opened, space, chosenWords, isPhone }) {
  const options = { opened, space, chosenWords },
    parts = partsOf(pass, options, slots).map(part => ({ ...part, isTraced: Boolean(source) }));
  if (!other || source || isPhone) return parts;
  const ofA = partsOf(other.pass, { ...options, chosenWords: [] }, other.slots),
    ofAByKey = new Map(ofA.map(part => [part.key, { ...part, actions: other.actions, paint: other.paint }]));
  const shown = parts.flatMap(b => pairOf(pass, ofAByKey.get(b.key), b, paint, opened)),
    first = shown.findIndex(({ side, ends }) => side || ends); // that differs
  return shown.map((part, nth) => ({ ...part, isFirst: nth === first }));
}

// Pass A where it is shown above pass B: {pass, where, selection, attention, paint, actions}; else null.
function passAOf({ pair, colours }, actions, withoutText) {
  if (!pair?.isThere || !isSheet(pair.pass, pair.where)) return null;
  const { pass, where, look, toB } = pair;
  const inB = act => (name, index) => {
    const cell = index && toB(name, index);
    if (cell || !index) act(name, cell);
  };
  const isApart = (name, index) => {
    const cell = toB(name, index);
    return cell !== null && pair.isApart(name, cell);
  };
  return {
    pass,
    where,
    selection: where.cell,
    attention: stepAt(pass, where).attention,
    paint: { pass, where, look, colours, limit: 1, before: () => undefined, withoutText, isApart },
    actions: { ...actions, pick: inB(actions.pick), point: inB(actions.point), edit: () => {} },
  };
}

function bandsOf({ pass, where, look }, source, a, withoutText) {
  const isReplaced = ({ band: { array, cells } }) => array && look.titleOf(cells.stage), // by slopes, say, which an array has none of
    ofB = source ? sourceBands(pass, where, source) : visibleRows(pass, where),
    isOnePage = a && stepAt(a.pass, a.where).page === stepAt(pass, where).page; // not where only B goes by blocks
  const bands = isOnePage && !source ? withBandsOfA(ofB, visibleRows(a.pass, a.where), pass) : ofB;
  return bands.filter(each => !isReplaced(each) && (each.isThere || !withoutText));
}

// The bands of B, and those that only A shows of stages of both, as of scores that only A scales.
function withBandsOfA(bands, ofA, pass) {
  const nameOf = ({ band: { cells, array } }) => `${cells.stage} ${array}`,
    all = [...bands];
  for (const [nth, each] of ofA.entries()) {
    if (all.some(other => nameOf(other) === nameOf(each)) || !pass.stages.has(each.band.cells.stage)) continue;
    const before = nth ? all.findIndex(other => nameOf(other) === nameOf(ofA[nth - 1])) : -1;
    all.splice(before + 1, 0, each);
  }
  return all;
}

// The bands whose stages are in A too, with as many axes.
function bandsInA(bands, a, pass) {
  const isInA = ({ stage }) => a.stages.get(stage)?.axes.length === pass.stages.get(stage).axes.length;
  return bands.filter(({ band: { cells, left, right } }) => [cells, left, right].filter(Boolean).every(isInA));
}

/** The old value of a number, before any was set by hand; undefined where it did not move. @param {Pass} pass */
function numbersBefore(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  return (name, index) => (Object.hasOwn(before, name) ? old.number(name, index) : undefined);
}

const ROWS_OF_TWO = 4, // two matrices need twice the rows: of one with more only the largest get a line
  ROWS_ALONE_OF_TWO = 2;
const SAME = "same in both";

// One part if A and B agree or one of them is missing, else A's above B's, with a `note` on how far they are apart.
function pairOf(pass, ofA, b, paint, opened) {
  const { text } = pass.document.other.stages[b.cells.name],
    { unit } = pass.document.words;
  if (!ofA) {
    const note = text === SAME ? `${SAME}, but A has no ${missingInA(pass, b)}` : text;
    return [{ ...b, side: "B", isAlone: true, note }];
  }
  if (hasWords(b.cells.columns) && !hasColumnsInA(pass, b))
    return [{ ...b, side: "B", isAlone: true, note: `A has other ${unit}s` }];
  const a = { ...alignedWith(pass, withAllRows(ofA), withAllRows(b)), side: "A" },
    names = namesOf(a, b),
    difference = differenceOf(a, withAllRows(b), paint);
  if (difference.cells) return bothOf(pass, a, { ...b, names }, difference, paint, opened);
  if (difference.ends) {
    const endsOfA = endsOf(a).map(end => ({ ...end, side: "A", paint: a.paint, actions: a.actions })),
      endsOfB = endsOf(b).map(end => ({ ...end, side: "B" })),
      ends = a.rightColumns.length ? [...endsOfA, ...endsOfB] : [];
    return [{ ...b, names, side: "", ends, note: "the same, added up in other shares" }];
  }
  return [{ ...b, names, side: "", note: text === SAME ? SAME : `same for this ${unit}` }];
}

// What A lacks for a part whose numbers it has: the stage that they are multiplied by or mixed to; else the part as such.
function missingInA(pass, { left, right }) {
  const missing = [left, right].find(slot => slot && !pass.document.other.stages[slot.name].matched);
  return missing ? pass.stages.get(missing.name).title.toLowerCase() : "such row";
}

function bothOf(pass, a, b, { areAll, note, columns }, paint, opened) {
  const shortB = shortened(pass, b, opened),
    isAsLong = b.cells.size[0] === a.cells.size[0],
    { rows, others, isLong } = isAsLong ? shortB : shortened(a.paint.pass, a, opened);
  const paintOf = each => (areAll ? { ...each, isApart: () => false } : each), // where all differ, none stands out
    marked = isMarked(a, a.paint) ? `. Marked: ${a.cells.stage.overriddenBy}` : "";
  return [
    { ...a, rows, others, isLong, paint: paintOf(a.paint), note: "", apart: columns.a },
    { ...shortB, paint: paintOf(paint), side: "B", note: note + marked, apart: columns.b },
  ];
}

function shortened(pass, part, opened) {
  const isLong = part.cells.size[0] > ROWS_OF_TWO;
  return { ...(isLong && !opened.has(part.key) ? withRows(pass, part, ROWS_ALONE_OF_TWO) : part), isLong };
}

const withAllRows = part => ({
  ...part,
  rows: [...part.rows, ...part.others].sort((one, other) => one - other),
  others: [],
});

// The column names of both, A's word first where they differ.
function namesOf(a, b) {
  const labelOf = ({ cells, columns }, nth) => cells.columns.labels[columns[nth]],
    isName = label => label !== undefined;
  return b.columns.map((_, nth) => [...new Set([labelOf(a, nth), labelOf(b, nth)])].filter(isName).join(" / "));
}

function hasColumnsInA(pass, { cells, columns }) {
  const inA = placesAlong(pass.document.other.places, cells.name, cells.columns);
  return !inA || columns.some(position => inA[position] !== null);
}

// A part of A with its words in the columns of B's part, and the same rows and positions, where there are as many.
function alignedWith(pass, a, b) {
  const positions = placesAlong(pass.document.other.places, b.cells.name, b.cells.columns),
    isAsLong = axis => a.cells.size[axis] === b.cells.size[axis];
  const sameColumns = isAsLong(1) ? b.columns : a.columns,
    columns = positions ? b.columns.map(column => positions[column]) : sameColumns,
    all = Array.from({ length: a.cells.size[1] }, (_, position) => position);
  return {
    ...a,
    ...(isAsLong(0) ? { rows: b.rows, others: b.others } : {}),
    columns,
    rest: b.rest.length ? all.filter(position => !columns.includes(position)) : [],
    rightColumns: a.right?.size[1] === b.right?.size[1] ? b.rightColumns : a.rightColumns,
  };
}

// Which cells differ between A and B: in the part, at the right, everywhere; for an array in no stage, the columns.
function differenceOf(a, b, paint) {
  const { stages } = paint.pass.document.other,
    { text, tolerance, matched, other } = stages[b.cells.name],
    hasSameSize = a.rows.length === b.rows.length && a.columns.length === b.columns.length,
    isMissing = nth => a.columns[nth] === null || a.columns[nth] === undefined;
  const numbersAt = (row, nth) => [cellOf(a, a.paint, row, a.columns[nth]), cellOf(b, paint, row, b.columns[nth])],
    areOther = pair => areApart(pair[0], pair[1], tolerance);
  // Whether a column of a slot of A is another than one of a slot of B.
  const isOther = (slotA, columnA, slotB, columnB) =>
    b.rows.some(row => {
      const [one, now] = [numberOf(slotA, a.paint, row, columnA), numberOf(slotB, paint, row, columnB)];
      return areApart(one, now, stages[slotB.name].tolerance);
    });
  const columns = b.columns.map(
      (_, nth) => !hasSameSize || b.rows.some(row => isMissing(nth) || areOther(numbersAt(row, nth))),
    ),
    isLeftOther = Boolean(a.left && b.left) && isOther(a.left, 0, b.left, 0),
    isRestOther = b.rest.length > 0 && !(matched && !other);
  const pairs = hasSameSize
    ? b.rows.flatMap(row => b.columns.flatMap((_, nth) => (a.columns[nth] === null ? [] : [numbersAt(row, nth)])))
    : [];
  const areEndsOther = () => {
    const [ends, endsB] = [endsOf(a), endsOf(b)];
    if (!hasSameSize || ends.length !== endsB.length) return true;
    return endsB.some(({ column, slot }, nth) => isOther(ends[nth].slot, ends[nth].column, slot, column));
  };
  const areSomeSame = b.band.array && columns.includes(false),
    among = part => new Set(areSomeSame ? part.columns.filter((_, nth) => columns[nth]) : []),
    isLeftAlone = isLeftOther && !columns.includes(true);
  const noteOfPairs = () =>
    isLeftAlone ? "the same, times other numbers" : noteOn(pairs, tolerance, paint.pass.document.words.unit);
  return {
    note: hasSameSize ? noteOfPairs() : text,
    cells: columns.includes(true) || isLeftOther || isRestOther,
    ends: Boolean(b.right) && areEndsOther(),
    areAll: hasSameSize && pairs.every(areOther),
    columns: { a: among(a), b: among(b) },
  };
}

// The number of a cell of a part, or of the array of its own that it shows.
function cellOf({ band, cells }, paint, row, column) {
  if (!band.array) return numberOf(cells, paint, row, column);
  return paint.pass.named(cells.name, band.array, cells.index(0, column))[column];
}

const numberOf = ({ name, index }, { pass }, row, column) => pass.number(name, index(row, column));

// How many pairs differ, how many of those are hidden in one pass only, and the largest difference.
export function noteOn(pairs, tolerance, unit) {
  const others = pairs.filter(([one, other]) => areApart(one, other, tolerance)),
    finite = others.map(([one, other]) => Math.abs(other - one)).filter(Number.isFinite),
    hidden = others.length - finite.length;
  if (!others.length) return `only among the other ${unit}s`;
  return [
    `${others.length} of ${pairs.length} differ`,
    ...(hidden ? [`${hidden} hidden in one`] : []),
    ...(finite.length ? [`by up to ${digits(Math.max(...finite))}`] : []),
  ].join(", ");
}
