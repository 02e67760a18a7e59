// Fitting heads to their box: how many stand side by side, and how large a cell of each is.

export const BETWEEN = 16; // pixels between heads, and between the two passes of one
const LINE = 1.45, // of the letters' size
  HEADING = 1.9,
  STATISTIC = 6.7, // how wide one is, in bold letters
  LONGEST_LABEL = [8, 5.5], // of rows, of columns
  BOLD = 1.08, // how much wider a label in focus is
  SMALLEST_CELL = 4, // pixels: in a smaller one the box is scrolled
  LARGEST_CELL = 4.4, // of the page's letters
  LARGEST_ALONE = 5.5,
  AROUND_DIGITS = 0.55,
  GROWTH = 1.15; // of a cell, for which letters are small

/** `counts` are {heads, layers, rows, columns, sides, statistics}; `widths`, in units of a font's size, those of the longest {row, column} label,
 * of {digits} and of a {statistic}. Returns the size of a cell, how many heads stand side by side, and the space for labels; `every` is
 * which of them have space, as 1 for all and 3 for every third. @param {Record<string, number>} counts
 * @param {Record<string, number>} widths @param {Record<string, any>} space */
export function fitHeads(counts, widths, space) {
  const { heads, layers, sides } = counts,
    { isNarrow, width } = space,
    isAlone = heads * layers === 1,
    narrow = Math.min(heads, Math.max(2, Math.floor(width / 240)), sides > 1 && width < 480 ? 1 : heads),
    across = isNarrow ? [isAlone ? 1 : narrow] : Array.from({ length: heads }, (_, nth) => nth + 1);
  const layoutsIn = (/** @type {number} */ label) =>
    across.flatMap(each =>
      [false, true].flatMap(upright =>
        [false, true].map(aside => laidOut(counts, widths, { ...space, label }, each, { upright, aside })),
      ),
    );
  const [usual, small] = [space.label, space.leastLabel].map(label =>
      layoutsIn(label).reduce((one, other) => (other.cell > one.cell ? other : one)),
    ),
    largest = small.cell > GROWTH * usual.cell ? small : usual,
    // Where so many are scrolled, as many side by side as have space.
    scrolled = layoutsIn(space.leastLabel).findLast(({ wide, upright }) => upright && wide >= SMALLEST_CELL),
    best = largest.cell >= SMALLEST_CELL ? largest : (scrolled ?? largest),
    cell = Math.max(best.cell, SMALLEST_CELL),
    font = Math.min(space.base, (cell - 1) / (widths.digits + AROUND_DIGITS));
  return {
    ...best,
    cell,
    every: [best.label, best.upright ? best.label : best.longest].map(size => Math.max(1, Math.ceil(size / cell))),
    font,
    written: font >= space.smallest,
  };
}

/** Statistics stand below a head's cells, or aside in a column. @param {Record<string, number>} counts @param {Record<string, number>} widths
 * @param {Record<string, any>} space @param {number} across @param {{ upright: boolean, aside: boolean }} props */
function laidOut(counts, widths, space, across, { upright, aside }) {
  const { heads, layers, rows, columns, sides, statistics } = counts,
    { width, height, base, label, isNarrow } = space,
    lines = layers * Math.ceil(heads / across),
    room = (width - (across - 1) * BETWEEN) / across,
    statistic = (STATISTIC + widths.statistic) * label,
    fitting = aside || !statistics ? 1 : Math.min(statistics, Math.max(1, Math.floor(room / statistic))),
    beside = statistics % fitting ? Math.max(1, fitting - 1) : fitting,
    below = aside ? 0 : Math.ceil(statistics / beside) * LINE * label,
    ofLayers = layers > 1 ? layers * HEADING * label : 0,
    high = isNarrow
      ? Number.POSITIVE_INFINITY
      : (height - (lines - 1) * BETWEEN - ofLayers) / lines - below - HEADING * label,
    longest = widths.column * label,
    rowLabel = Math.min(BOLD * widths.row * label, LONGEST_LABEL[0] * label, (0.36 * room) / sides) + 7,
    columnLabel = upright ? Math.min(longest, LONGEST_LABEL[1] * label) + 5 : 1.4 * label,
    most = (heads * layers === 1 ? LARGEST_ALONE : LARGEST_CELL) * base,
    ofMaps = room - (sides - 1) * BETWEEN - (aside && statistics ? statistic + BETWEEN : 0),
    wide = (ofMaps / sides - rowLabel) / columns,
    cell = Math.floor(Math.min(wide, (high - columnLabel) / rows, most));
  const isTooNarrow = !upright && longest > cell - 2;
  return { across, upright, aside, cell: isTooNarrow ? 0 : cell, rowLabel, columnLabel, beside, label, longest, wide };
}
