// Parts of a pair: the bands of two passes under each other, A above B, their words in the same columns. What is the same in
// both stands there once; where only what is added up differs, that stands there twice.
import { hasWords } from "../pass/axes.js";
import { isMarked } from "./bandFace.js";
import { endsOf, withRows } from "./bandParts.js";
import { differenceOf } from "./difference.js";

const MOST_ROWS = 4,
  ALONE = 2;
const SAME = "same in both";

// `parts` are those of B, `others` those of A, with `acts` and `paint` of their own. Returns the parts that
// stand there, each with its `side`, "" where it is of both, and a `note` on how far they are apart; the first that differs
// `isFirst`.
/** @param {Pass} pass */
export function pairedParts(pass, parts, others, { acts, paint, paintB, opened }) {
  const besides = new Map(others.map(part => [part.key, { ...part, acts, paint }]));
  const standing = parts.flatMap(b => pairOf(pass, besides.get(b.key), b, { paintB, opened })),
    first = standing.findIndex(({ side, ends }) => side || ends);
  return standing.map((part, place) => ({ ...part, isFirst: place === first }));
}

// A part of B with that of A: one part where they are the same, or one of them is missing, else both.
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

// A part of A over that of B.
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

// A part all of whose rows stand alone.
function whole(part) {
  return { ...part, rows: [...part.rows, ...part.others].sort((one, other) => one - other), others: [] };
}

// The names of the columns of both: A's word before B's where it is another.
function namesOf(a, b) {
  const labelOf = ({ cells: { columns }, columns: places }, nth) => columns.labels[places[nth]];
  return b.columns.map((_, nth) =>
    [...new Set([labelOf(a, nth), labelOf(b, nth)])].filter(each => each !== undefined).join(" / "),
  );
}

// Two matrices need twice the rows: of many the largest stand alone.
function briefly(pass, part, opened) {
  const isLong = part.cells.size[0] > MOST_ROWS;
  return { ...(isLong && !opened.has(part.key) ? withRows(pass, part, ALONE) : part), isLong };
}

/** @param {Pass} pass */
function isAnyInA(pass, { cells: { columns }, columns: places }) {
  const inA = pass.document.other.places[columns.coordinates[0][0]];
  return places.some(place => inA[place] !== null);
}

function endsIn(part, side, paint, acts) {
  return endsOf(part).map(end => ({ ...end, side, paint, acts }));
}

// A part of A with its words in the columns of B's part, and the same rows and places, where there are as many.
/** @param {Pass} pass */
function alongside(pass, a, b) {
  const [role] = b.cells.columns.coordinates[0] ?? [],
    places = pass.document.other.places[role];
  const isAsLarge = axis => a.cells.size[axis] === b.cells.size[axis];
  const columns = hasWords(b.cells.columns)
    ? b.columns.map(column => places[column])
    : isAsLarge(1)
      ? b.columns
      : a.columns;
  const all = Array.from({ length: a.cells.size[1] }, (_, place) => place);
  return {
    ...a,
    ...(isAsLarge(0) ? { rows: b.rows, others: b.others } : {}),
    columns,
    rest: b.rest.length ? all.filter(place => !columns.includes(place)) : [],
    rightColumns: a.right?.size[1] === b.right?.size[1] ? b.rightColumns : a.rightColumns,
  };
}
