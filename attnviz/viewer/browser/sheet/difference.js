// The difference of two parts of a pair: which of their numbers are apart, and what is said of that.
import { digits } from "../pass/numeral.js";
import { areApart } from "../scene/looks.js";
import { endsOf } from "./bandParts.js";

// Of parts of A and of B: {note, cells, ends, areAll, columns: {a, b}}: in words, whether some of their cells, of what is at the
// right, and all of their cells differ; of an array that is in no stage, the columns that do.
export function differenceOf(a, b, paintB) {
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

// Their numbers beside each other, row by row.
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

// The distance of pairs of numbers: how many differ, how many of those hide a key in one of them, and by how much at most.
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
