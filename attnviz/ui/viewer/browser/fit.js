// Fit: where the matrices of pictures stand, and how large one cell is, so that all of them fit a box.
//
// A block is what a slot takes: {rows, columns, rowLabel, columnLabel, rowNames, columnNames, before, after, sums, bands,
// caption, symbol, digits}. `rows` and `columns` count its cells; `rowLabel`, `columnLabel`, `before`, `after`, `sums`,
// `caption`, `symbol` and `digits` are widths of text in units of its font's size, 0 where there is none; `rowNames` and
// `columnNames` are what labels say; `bands` is whether heads are named over it.
// A picture is {grid, turns}: rows of blocks or null. Blocks of one row of the grid share their upper edge, those of one
// column their left edge, and labels that stand there already.
// `options` are {smallest, largest, base}: font sizes of digits, and that of the text around.

const GAP = 10;
const SIGN = 1.15, CAPTION = 0.85; // how large signs and captions are beside the text around
const LEAST = 1; // pixels of a cell: a smaller one can't be pointed at

const DEAR = 1.25; // how much larger cells must become by leaving out titles
const WIDEST_CELL = 40, TALLEST_CELL = 24; // without digits

// Returns {written, titled, font, label, cell: [width, height], width, height, pictures: [[row of places]]}: whether digits
// and titles are written, the font sizes of digits and labels, and where each block stands. A place is {x, y, room, bands,
// labels, upright, all}: the upper left of its cells, the width for its caption, the height of the heads' names, the room of
// its row and its column labels, whether those of columns stand upright, and whether all labels of its rows and of its columns are there.
export function fit(pictures, box, options) {
  const [titled, bare] = ["caption", "symbol"].map((named) => fitNamed(arrangements(pictures, named), box, options));
  return sizeOf(bare, box) > DEAR * sizeOf(titled, box) ? bare : titled;
}

function fitNamed(layouts, box, options) {
  for (let font = options.largest; font >= options.smallest; font -= 0.5) {
    const found = layouts.map((layout) => writtenAt(layout, font, box, options)).filter((each) => isInside(each, box));
    if (found.length) return best(found, box);
  }
  return best(layouts.map((layout) => unwritten(layout, box, options)), box);
}

// Pictures beside each other or one above the other; those that turn, as a row or as a column.
function arrangements(pictures, named) {
  const turned = pictures.reduce((made, { grid, turns }) => made.flatMap((before) => [
    [...before, grid],
    ...(turns ? [[...before, grid[0].map((block) => [block])]] : []),
  ]), [[]]);
  const besides = pictures.length > 1 ? [true, false] : [true];
  return turned.flatMap((grids) => besides.map((beside) => ({ grids, beside, named })));
}

function isInside({ width, height }, box) {
  return width <= box.width && height <= box.height;
}

// How good it is: digits are worth more than any size of cells, and what is not inside is worth little.
function sizeOf(found, box) {
  const size = Math.sqrt(found.cell[0] * found.cell[1]);
  return isInside(found, box) ? size + (found.written ? 1000 * found.font : 0) : size / 1000;
}

function best(found, box) {
  return found.reduce((one, other) => (sizeOf(other, box) > sizeOf(one, box) ? other : one));
}

function writtenAt(layout, font, box, options) {
  const digits = Math.max(...blocksOf(layout).map((block) => block.digits));
  const least = [Math.ceil((digits + 0.6) * font), Math.ceil(1.42 * font)];
  const tight = laidOut(layout, least, { font, label: 0.92 * font, written: true }, options);
  if (!isInside(tight, box)) return tight;
  // What is left over makes cells easier to tell apart, up to a size that still looks like a table.
  const roomy = least.map((size, axis) => {
    const left = [box.width - tight.width, box.height - tight.height][axis] / Math.max(tight.cells[axis], 1);
    return Math.floor(size + Math.max(0, Math.min(left, [1.1, 1][axis] * font)));
  });
  const wide = laidOut(layout, roomy, { font, label: 0.92 * font, written: true }, options);
  return isInside(wide, box) ? wide : tight;
}

function unwritten(layout, box, options) {
  const at = (width, height) => {
    const label = Math.min(Math.max(height * 0.95, 9), 0.75 * options.base);
    return laidOut(layout, [width, height], { font: label, label, written: false }, options);
  };
  const height = greatest(TALLEST_CELL, (each) => at(each, each).height <= box.height);
  const width = greatest(Math.min(WIDEST_CELL, 2.5 * height), (each) => at(each, height).width <= box.width);
  return at(width, Math.min(height, Math.max(LEAST, 1.6 * width)));
}

// The greatest size up to `most` that fits; LEAST if none does.
function greatest(most, isFitting) {
  let low = LEAST, high = most;
  while (high - low > 0.25) {
    const middle = (low + high) / 2;
    if (isFitting(middle)) low = middle;
    else high = middle;
  }
  return low > 4 ? Math.floor(low) : low;
}

function laidOut({ grids, beside, named }, cell, text, options) {
  const made = grids.map((grid) => laidOutGrid(grid, cell, { ...text, named }, options));
  const shift = beside ? "x" : "y", along = beside ? "width" : "height", across = beside ? "height" : "width";
  let from = 0;
  for (const each of made) {
    for (const place of each.places.flat()) if (place) place[shift] += from;
    from += each[along] + 3 * GAP;
  }
  const cells = [0, 1].map((axis) => {
    const counts = made.map((each) => each.cells[axis]);
    return (axis === 0) === beside ? counts.reduce((sum, n) => sum + n, 0) : Math.max(...counts);
  });
  return {
    ...text, cell, cells, titled: named === "caption",
    [along]: from - 3 * GAP,
    [across]: Math.max(...made.map((each) => each[across])),
    pictures: made.map((each) => each.places),
  };
}

function laidOutGrid(grid, cell, text, { base }) {
  const { font, label, written, named: name } = text;
  const named = withoutRepeated(grid), sign = Math.max(SIGN * base, written ? 0.9 * font : 0);
  const columns = named[0].map((_, column) => {
    const blocks = named.map((row) => row[column]).filter(Boolean);
    const before = widest(blocks, "before") * sign;
    const labels = widest(blocks, "rowLabel") && widest(blocks, "rowLabel") * label + 8;
    const n = widest(blocks, "columns");
    const after = widest(blocks, "sums") * font + widest(blocks, "after") * sign;
    return { before, labels, n, cells: Math.max(n * cell[0], widest(blocks, name) * CAPTION * base), after };
  });
  const rows = named.map((row) => {
    const blocks = row.filter(Boolean);
    const longest = widest(blocks, "columnLabel") * label;
    const upright = longest > cell[0] - 2 && (written || cell[0] >= label);
    const labels = longest && (upright ? Math.min(longest, 6.5 * label) + 4 : 1.35 * label);
    const bands = blocks.some((block) => block.bands) ? 1.35 * label : 0;
    const isEveryOneThere = written || upright || longest <= cell[0];
    return { labels, bands, upright, isEveryOneThere, above: 1.9 * CAPTION * base + labels + bands, n: widest(blocks, "rows") };
  });
  const xs = edges(columns.map(({ before, labels, cells, after }) => before + labels + cells + after));
  const ys = edges(rows.map(({ above, n }) => above + n * cell[1]));
  const places = named.map((row, i) => row.map((block, j) => block && {
    x: Math.round(xs[j] + columns[j].before + columns[j].labels),
    y: Math.round(ys[i] + rows[i].above),
    labels: [block.rowLabel && columns[j].labels, block.columnLabel && rows[i].labels],
    room: columns[j].cells + columns[j].after,
    bands: block.bands ? rows[i].bands : 0,
    upright: rows[i].upright,
    all: [written || cell[1] >= 0.95 * label, rows[i].isEveryOneThere],
  }));
  const cells = [columns, rows].map((each) => each.reduce((sum, { n }) => sum + n, 0));
  return { places, width: xs.at(-1) - GAP, height: ys.at(-1) - GAP, cells };
}

// Labels that stand at the left in the same row, or above in the same column, are not there a second time.
function withoutRepeated(grid) {
  return grid.map((row, i) => row.map((block, j) => {
    if (!block) return null;
    const isRepeated = row.slice(0, j).some((other) => other?.rowNames === block.rowNames);
    const isAbove = grid.slice(0, i).some((other) => other[j]?.columnNames === block.columnNames);
    return { ...block, rowLabel: isRepeated ? 0 : block.rowLabel, columnLabel: isAbove ? 0 : block.columnLabel };
  }));
}

// Where each of some lengths begins when they follow one another, and where the next would.
function edges(lengths) {
  const made = [0];
  for (const length of lengths) made.push(made.at(-1) + length + GAP);
  return made;
}

function widest(blocks, name) {
  return Math.max(0, ...blocks.map((block) => block[name]));
}

function blocksOf({ grids }) {
  return grids.flat(2).filter(Boolean);
}
