// Parts of a pair: the bands of two passes under each other, A above B, their words in the same columns. What is the same in
// both stands there once; where only what is added up differs, that stands there twice.
import { hasWords } from "../pass/axes.js";
import { digits } from "../pass/numeral.js";
import { areApart } from "../scene/pair.js";
import { endsOf, withRows } from "./bandParts.js";

const MOST_ROWS = 4,
  ALONE = 2;
const SAME = "same in both";

// `parts` are those of B, `others` those of A, with `acts` and `paint` of their own. Returns the parts that
// stand there, each with its `side`, "" where it is of both, and a `note` on how far they are apart.
/** @param {Pass} pass */
export function pairedParts(pass, parts, others, { acts, paint, paintB, opened }) {
  const besides = new Map(others.map(part => [part.key, part]));
  const { unit } = pass.document.words;
  let areAlike = true;
  const parting = part => {
    const isFirst = areAlike;
    areAlike = false;
    return { ...part, isFirst };
  };
  return parts.flatMap(b => {
    const { said } = pass.document.beside.stages[b.cells.name],
      found = besides.get(b.key);
    if (!found) return [parting({ ...b, side: "B", isAlone: true, note: said })];
    if (hasWords(b.cells.columns) && !isAnyInA(pass, b))
      return [parting({ ...b, side: "B", isAlone: true, note: `A has other ${unit}s` })];
    const whole = part => ({
      ...part,
      rows: [...part.rows, ...part.others].sort((one, other) => one - other),
      others: [],
    });
    const a = { ...alongside(pass, whole(found), whole(b)), side: "A", acts, paint },
      names = namesOf(a, b);
    const isOther = alike(a, whole(b), paintB),
      ends = a.beside.length ? [...endsIn(a, "A", paint, acts), ...endsIn(b, "B")] : [];
    if (!isOther.cells && !isOther.ends)
      return [{ ...b, names, side: "", note: said === SAME ? SAME : `same for this ${unit}` }];
    if (!isOther.cells) return [parting({ ...b, names, side: "", ends, note: "the same, added up in other shares" })];
    const briefB = briefly(pass, b, opened),
      briefA =
        b.cells.size[0] === a.cells.size[0]
          ? { ...a, rows: briefB.rows, others: briefB.others, isLong: briefB.isLong }
          : briefly(paint.pass, a, opened);
    const standing = own => (isOther.areAll ? { ...own, isApart: () => false } : own); // where all differ, none stands out
    return [
      parting({ ...briefA, paint: standing(paint), note: "", apart: isOther.columns.a }),
      {
        ...briefB,
        names,
        paint: standing(paintB),
        side: "B",
        isFirst: false,
        note: isOther.note,
        apart: isOther.columns.b,
      },
    ];
  });
}

// What the columns of both are called: A's word before B's where it is another.
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
  const inA = pass.document.beside.places[columns.coordinates[0][0]];
  return places.some(place => inA[place] !== null);
}

function endsIn(part, side, paint, acts) {
  return endsOf(part).map(end => ({ ...end, side, paint, acts }));
}

// A part of A with its words in the columns of B's part, and the same rows and places, where there are as many.
/** @param {Pass} pass */
function alongside(pass, a, b) {
  const [role] = b.cells.columns.coordinates[0] ?? [],
    places = pass.document.beside.places[role];
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
    beside: a.right?.size[1] === b.right?.size[1] ? b.beside : a.beside,
  };
}

// What differs between two parts: {note, cells, ends, areAll, columns: {a, b}}: in words, whether some of their cells, of what is at
// the right, and all of their cells do; of an array that is in no stage, the columns that do.
function alike(a, b, paintB) {
  const { stages } = paintB.pass.document.beside,
    isOther = (one, other, name) => areApart(one, other, stages[name].tolerance);
  const number = ({ pass }, { name, index }, row, column) => pass.number(name, index(row, column));
  const inArray = (part, { pass }, column) =>
    pass.named(part.cells.name, part.band.array, part.cells.index(0, column))[column];
  const at = b.band.array
    ? (part, paint, _, column) => inArray(part, paint, column)
    : (part, paint, row, column) => number(paint, part.cells, row, column);
  const isPlaceOther = (row, nth) =>
    a.columns[nth] === null ||
    a.columns[nth] === undefined ||
    isOther(at(a, a.paint, row, a.columns[nth]), at(b, paintB, row, b.columns[nth]), b.cells.name);
  const areAsMany = a.rows.length === b.rows.length && a.columns.length === b.columns.length;
  const columns = b.columns.map((_, nth) => !areAsMany || b.rows.some(row => isPlaceOther(row, nth)));
  const isLeftOther =
    a.left &&
    b.left &&
    b.rows.some(row => isOther(number(a.paint, a.left, row, 0), number(paintB, b.left, row, 0), b.left.name));
  const isRestOther = b.rest.length > 0 && !(stages[b.cells.name].matched && !stages[b.cells.name].other);
  const ends = [endsOf(a), endsOf(b)];
  const isEndOther =
    b.right &&
    (!areAsMany ||
      ends[0].length !== ends[1].length ||
      b.rows.some(row =>
        ends[1].some(({ column, slot }, nth) =>
          isOther(
            number(a.paint, ends[0][nth].slot, row, ends[0][nth].column),
            number(paintB, slot, row, column),
            slot.name,
          ),
        ),
      ));
  const some = b.band.array && columns.includes(false) ? columns : [],
    among = part => new Set(part.columns.filter((_, nth) => some[nth]));
  const apart = areAsMany
    ? b.rows.flatMap(row =>
        b.columns.flatMap((column, nth) =>
          a.columns[nth] === null ? [] : [[at(a, a.paint, row, a.columns[nth]), at(b, paintB, row, column)]],
        ),
      )
    : [];
  const areAll = areAsMany && apart.every(([one, now]) => isOther(one, now, b.cells.name));
  return {
    areAll,
    note: !areAsMany
      ? stages[b.cells.name].said
      : isLeftOther && !columns.includes(true)
        ? "the same, times other numbers"
        : noteOn(apart, stages[b.cells.name].tolerance, paintB.pass.document.words.unit),
    cells: columns.includes(true) || isLeftOther || isRestOther,
    ends: Boolean(isEndOther),
    columns: { a: among(a), b: among(b) },
  };
}

// How far apart pairs of numbers are: how many, how many of those hide a key in one of them, and by how much at most.
function noteOn(pairs, tolerance, unit) {
  const others = pairs.filter(([one, other]) => areApart(one, other, tolerance)),
    sizes = others.map(([one, other]) => Math.abs(other - one));
  const finite = sizes.filter(Number.isFinite),
    hidden = sizes.length - finite.length;
  const said = [
    `${others.length} of ${pairs.length} differ`,
    ...(hidden ? [`${hidden} hidden in one`] : []),
    ...(finite.length ? [`by up to ${digits(Math.max(...finite))}`] : []),
  ];
  return others.length ? said.join(", ") : `only among the other ${unit}s`;
}
