// What the One word view shows of one pass, or of two and their difference, as data.
import { hasWords } from "../model/axes.js";
import { digits } from "../model/numeral.js";
import { isSheet, sourceAt, sourceBands, standing, stepAt } from "../model/state.js";
import { areApart } from "../model/looks.js";
import { sharedLimit } from "./slot.js";
import { isMarked } from "./bandFace.js";
import { endsOf, partsOf, slotted, withRows } from "./bandParts.js";

// Of parts of A and of B: {note, cells, ends, areAll, columns: {a, b}}: in words, whether some of their cells, of what is at the
// right, and all of their cells differ; of an array that is in no stage, the columns that do.
function differenceOf(a, b, paintB) {
  const comparison = compared(a, b, paintB),
    columns = b.columns.map((_, nth) => comparison.isColumnOther(nth)),
    isLeftOther = comparison.isLeftOther(),
    pairs = comparison.pairs();
  const { text, tolerance, matched, other } = paintB.pass.document.other.stages[b.cells.name],
    isRestOther = b.rest.length > 0 && !(matched && !other),
    areOnlyFactors = isLeftOther && !columns.includes(true);
  const { areAsMany } = comparison,
    some = b.band.array && columns.includes(false) ? columns : [],
    among = part => new Set(part.columns.filter((_, nth) => some[nth]));
  return {
    areAll: areAsMany && pairs.every(([one, now]) => areApart(one, now, tolerance)),
    note: !areAsMany
      ? text
      : areOnlyFactors
        ? "the same, times other numbers"
        : noteOn(pairs, tolerance, paintB.pass.document.words.unit),
    cells: columns.includes(true) || isLeftOther || isRestOther,
    ends: comparison.isEndOther(),
    columns: { a: among(a), b: among(b) },
  };
}

// The pairs of numbers of two parts, row by row.
function compared(a, b, paintB) {
  const { stages } = paintB.pass.document.other,
    isOther = (one, other, name) => areApart(one, other, stages[name].tolerance),
    areAsMany = a.rows.length === b.rows.length && a.columns.length === b.columns.length,
    inA = (row, nth) => cellAt(a, a.paint, row, a.columns[nth]),
    inB = (row, nth) => cellAt(b, paintB, row, b.columns[nth]),
    isIn = nth => a.columns[nth] !== null && a.columns[nth] !== undefined;
  const isSlotOther = (slotA, columnA, slotB, columnB) =>
    b.rows.some(row =>
      isOther(numberAt(a.paint, slotA, row, columnA), numberAt(paintB, slotB, row, columnB), slotB.name),
    );
  return {
    areAsMany,
    isColumnOther: nth =>
      !areAsMany || b.rows.some(row => !isIn(nth) || isOther(inA(row, nth), inB(row, nth), b.cells.name)),
    isLeftOther: () => Boolean(a.left && b.left) && isSlotOther(a.left, 0, b.left, 0),
    isEndOther: () => {
      if (!b.right) return false;
      const [ends, endsB] = [endsOf(a), endsOf(b)];
      return (
        !areAsMany ||
        ends.length !== endsB.length ||
        endsB.some(({ column, slot }, nth) => isSlotOther(ends[nth].slot, ends[nth].column, slot, column))
      );
    },
    pairs: () =>
      areAsMany
        ? b.rows.flatMap(row =>
            b.columns.flatMap((_, nth) => (a.columns[nth] === null ? [] : [[inA(row, nth), inB(row, nth)]])),
          )
        : [],
  };
}

// The number of a cell of a part, or of the array of its own that it shows.
function cellAt({ band, cells }, paint, row, column) {
  return band.array
    ? paint.pass.named(cells.name, band.array, cells.index(0, column))[column]
    : numberAt(paint, cells, row, column);
}

function numberAt({ pass }, { name, index }, row, column) {
  return pass.number(name, index(row, column));
}

// How many pairs differ, how many of those are hidden in one pass only, and the largest difference.
function noteOn(pairs, tolerance, unit) {
  const others = pairs.filter(([one, other]) => areApart(one, other, tolerance)),
    sizes = others.map(([one, other]) => Math.abs(other - one));
  const finite = sizes.filter(Number.isFinite),
    hidden = sizes.length - finite.length;
  const parts = [
    `${others.length} of ${pairs.length} differ`,
    ...(hidden ? [`${hidden} hidden in one`] : []),
    ...(finite.length ? [`by up to ${digits(Math.max(...finite))}`] : []),
  ];
  return others.length ? parts.join(", ") : `only among the other ${unit}s`;
}

const MOST_ROWS = 4,
  ALONE = 2;
const SAME = "same in both";

// `parts` are those of B, `others` those of A, with `acts` and `paint` of their own. Returns the parts that
// stand there, each with its `side`, "" where it is of both, and a `note` on how far they are apart; the first that differs
// `isFirst`.
/** @param {Pass} pass */
function pairedParts(pass, parts, others, { acts, paint, paintB, opened }) {
  const besides = new Map(others.map(part => [part.key, { ...part, acts, paint }]));
  const visibleParts = parts.flatMap(b => pairOf(pass, besides.get(b.key), b, { paintB, opened })),
    first = visibleParts.findIndex(({ side, ends }) => side || ends);
  return visibleParts.map((part, position) => ({ ...part, isFirst: position === first }));
}

// One part if A and B agree or one of them is missing, else A's above B's.
function pairOf(pass, ofA, b, { paintB, opened }) {
  const { text } = pass.document.other.stages[b.cells.name],
    { unit } = pass.document.words;
  if (!ofA)
    return [
      { ...b, side: "B", isAlone: true, note: text === SAME ? `${SAME}, but A has no ${lackedByA(pass, b)}` : text },
    ];
  if (hasWords(b.cells.columns) && !isAnyInA(pass, b))
    return [{ ...b, side: "B", isAlone: true, note: `A has other ${unit}s` }];
  const a = { ...alongside(pass, whole(ofA), whole(b)), side: "A" },
    names = namesOf(a, b),
    difference = differenceOf(a, whole(b), paintB);
  if (difference.cells) return bothOf(pass, a, { ...b, names }, difference, { paintB, opened });
  if (difference.ends) {
    const ends = a.rightColumns.length ? [...endsIn(a, "A", a.paint, a.acts), ...endsIn(b, "B")] : [];
    return [{ ...b, names, side: "", ends, note: "the same, added up in other shares" }];
  }
  return [{ ...b, names, side: "", note: text === SAME ? SAME : `same for this ${unit}` }];
}

// What A lacks for a part whose numbers it has: the stage that they are multiplied by or mixed to; else the part as such.
/** @param {Pass} pass */
function lackedByA(pass, { left, right }) {
  const lacked = [left, right].find(slot => slot && !pass.document.other.stages[slot.name].matched);
  return lacked ? pass.stages.get(lacked.name).title.toLowerCase() : "such row";
}

// A's part over B's.
function bothOf(pass, a, b, { areAll, note, columns }, { paintB, opened }) {
  const briefB = briefly(pass, b, opened),
    isAsLarge = b.cells.size[0] === a.cells.size[0],
    briefA = isAsLarge
      ? { ...a, rows: briefB.rows, others: briefB.others, isLong: briefB.isLong }
      : briefly(a.paint.pass, a, opened);
  const standing = paint => (areAll ? { ...paint, isApart: () => false } : paint); // where all differ, none stands out
  return [
    { ...briefA, paint: standing(a.paint), note: "", apart: columns.a },
    {
      ...briefB,
      paint: standing(paintB),
      side: "B",
      note: `${note}${isMarked(a, a.paint) ? `. Marked: ${a.cells.stage.overriddenBy}` : ""}`,
      apart: columns.b,
    },
  ];
}

// A part with a line for every row.
function whole(part) {
  return { ...part, rows: [...part.rows, ...part.others].sort((one, other) => one - other), others: [] };
}

// The column names of both, A's word first where they differ.
function namesOf(a, b) {
  const labelOf = ({ cells: { columns }, columns: positions }, nth) => columns.labels[positions[nth]];
  return b.columns.map((_, nth) =>
    [...new Set([labelOf(a, nth), labelOf(b, nth)])].filter(each => each !== undefined).join(" / "),
  );
}

// Two matrices need twice the rows: of a long one only the largest get a line.
function briefly(pass, part, opened) {
  const isLong = part.cells.size[0] > MOST_ROWS;
  return { ...(isLong && !opened.has(part.key) ? withRows(pass, part, ALONE) : part), isLong };
}

/** @param {Pass} pass */
function isAnyInA(pass, { cells: { columns }, columns: positions }) {
  const inA = pass.document.other.places[columns.coordinates[0][0]];
  return positions.some(position => inA[position] !== null);
}

function endsIn(part, side, paint, acts) {
  return endsOf(part).map(end => ({ ...end, side, paint, acts }));
}

// A part of A with its words in the columns of B's part, and the same rows and positions, where there are as many.
/** @param {Pass} pass */
function alongside(pass, a, b) {
  const [role] = b.cells.columns.coordinates[0] ?? [],
    positions = pass.document.other.places[role];
  const isAsLarge = axis => a.cells.size[axis] === b.cells.size[axis];
  const columns = hasWords(b.cells.columns)
    ? b.columns.map(column => positions[column])
    : isAsLarge(1)
      ? b.columns
      : a.columns;
  const all = Array.from({ length: a.cells.size[1] }, (_, position) => position);
  return {
    ...a,
    ...(isAsLarge(0) ? { rows: b.rows, others: b.others } : {}),
    columns,
    rest: b.rest.length ? all.filter(position => !columns.includes(position)) : [],
    rightColumns: a.right?.size[1] === b.right?.size[1] ? b.rightColumns : a.rightColumns,
  };
}

// {pass, where, look, attention, source, selection, other, slots, all, paint}: `other` is pass A with its own {slots}, null where no
// sheet of it stands there; `all` are the slots of both whose numbers need room.
export function contentOf({ pass, where, look }, acts, withoutText) {
  const { attention } = stepAt(pass, where),
    source = sourceAt(pass, where),
    selection = source?.word === "key" ? { ...where.cell, query: where.cell.key } : where.cell,
    a = otherIn(look, acts, withoutText),
    bands = bandsIn({ pass, where, look }, source, a, withoutText);
  const slots = slotted(pass, { selection, attention }, bands),
    other = a && { ...a, slots: slotsOfOther(a, bands, pass) },
    ofB = slots.flatMap(({ cells, left, right }) => [cells, left, right]).filter(Boolean);
  const paint = {
    pass,
    where,
    isApart: look.pair?.isApart,
    look: source ? { ...look, shown: () => true } : look,
    colours: look.colours,
    limit: sharedLimit(ofB, look),
    before: other ? () => undefined : beforeOf(pass),
    withoutText,
  };
  const all = [...ofB, ...(other?.slots ?? []).map(({ cells }) => cells)];
  return { pass, where, look, attention, source, selection, other, slots, all, paint };
}

// The parts of a content that fit some space (see bandParts.js); on a phone only B's.
export function partsIn({ pass, source, other, slots, paint }, { opened, space, brought, isHeld }) {
  const parts = partsOf(pass, { opened, space, brought }, slots).map(part => ({ ...part, isTraced: Boolean(source) }));
  if (!other || source || isHeld) return parts;
  const others = partsOf(other.pass, { opened, space, brought: [] }, other.slots);
  return pairedParts(pass, parts, others, { acts: other.acts, paint: other.paint, paintB: paint, opened });
}

// Pass A where its sheet stands beside that of B: {pass, where, selection, attention, paint, acts}; null where there is none.
function otherIn({ pair, colours }, acts, withoutText) {
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
    acts: { ...acts, pick: inB(acts.pick), point: inB(acts.point), edit: () => {} },
  };
}

function bandsIn({ pass, where, look }, source, a, withoutText) {
  const isReplaced = ({ band: { array, cells } }) => array && look.titleOf(cells.stage); // by slopes, say, which it has none of
  const ofB = source ? sourceBands(pass, where, source) : standing(pass, where),
    isOnePage = a && stepAt(a.pass, a.where).page === stepAt(pass, where).page; // which it isn't where only B goes by blocks
  const bands = isOnePage && !source ? withThoseOfA(ofB, standing(a.pass, a.where), pass) : ofB;
  return bands.filter(each => !isReplaced(each) && (each.isThere || !withoutText));
}

// The bands of B, and those that A's sheet alone has of stages of both, as of scores that only A scales.
function withThoseOfA(bands, ofA, pass) {
  const nameOf = ({ band: { cells, array } }) => `${cells.stage} ${array}`,
    all = [...bands];
  for (const [position, each] of ofA.entries()) {
    if (all.some(other => nameOf(other) === nameOf(each)) || !pass.stages.has(each.band.cells.stage)) continue;
    const before = position ? all.findIndex(other => nameOf(other) === nameOf(ofA[position - 1])) : -1;
    all.splice(before + 1, 0, each);
  }
  return all;
}

function slotsOfOther(a, bands, pass) {
  const inBoth = bands.filter(({ band }) => canStand(a.pass, pass, band));
  return slotted(a.pass, a, inBoth);
}

// Whether the other pass has a band's stages, with the same number of axes.
function canStand(other, pass, { cells, left, right }) {
  return [cells, left, right]
    .filter(Boolean)
    .every(({ stage }) => other.stages.get(stage)?.axes.length === pass.stages.get(stage).axes.length);
}

// The old value of a number, before any was set by hand; undefined where it did not move.
/** @param {Pass} pass */
function beforeOf(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  return (name, index) => (Object.hasOwn(before, name) ? old.number(name, index) : undefined);
}
