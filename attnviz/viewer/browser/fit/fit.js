// Fitting a picture to its box: the largest cells whose matrices, captions and headings have space, and tilings of heads.
import { flattened, isHeaded, unflattened } from "../model/axes.js";

export const APART = 18; // pixels between the matrices and what is beside them
const NARROW = 820; // pixels, as in the styles: a page that is not wider grows downwards
const SMALL = 1200; // pixels: in one that is not wider, matrices may be scrolled
const SCROLLBAR = 16;

// Returns a function that gives the space for a step's matrices: remembered, because measuring costs a layout. draw() is called as it changes.
export function watchSpace(box, bars, legend, draw) {
  let known = {},
    last = "";
  const observer = new ResizeObserver(() => {
    if (box.hidden) return;
    const space = spaceIn(box, bars, legend);
    if (JSON.stringify(space) === JSON.stringify(known[last])) return;
    known = { [last]: space };
    draw();
  });
  for (const each of [box, bars, legend]) observer.observe(each);
  return step => {
    last = JSON.stringify(step);
    known[last] ??= spaceIn(box, bars, legend);
    return known[last];
  };
}

// The space that a picture's bars, beside the matrices, and its legend, below them, leave in its box.
function spaceIn(box, bars, legend) {
  const { fontFamily, fontSize } = getComputedStyle(box);
  const isPaper = Boolean(box.closest(".printed")),
    isNarrow = !isPaper && globalThis.innerWidth <= NARROW;
  const barsWidth = isNarrow || bars.hidden ? 0 : bars.offsetWidth + APART;
  return {
    isPaper,
    isNarrow,
    isSmall: !isNarrow && globalThis.innerWidth <= SMALL,
    family: fontFamily,
    base: Number.parseFloat(fontSize),
    top: box.offsetTop,
    least: Number.parseFloat(getComputedStyle(document.documentElement).fontSize), // in a talk (model/present.js)
    width: box.clientWidth - barsWidth - 4,
    height: heightIn(box, legend, isNarrow),
  };
}

export const scrolled = (space, times) => ({
  ...space,
  width: space.width - SCROLLBAR,
  height: times * space.height,
  isScrolled: true,
});

// Where the page is narrow it grows downwards, and only its width is given.
function heightIn(box, legend, isNarrow) {
  if (isNarrow) return 1.1 * box.clientWidth;
  return box.clientHeight - 8 - (legend.classList.contains("in-corner") ? 0 : legend.offsetHeight);
}

/**
 * The largest size from `low` to `high` that fits, within `precision`, by bisection; `low` if none does. A size that is
 * smaller than one that fits must fit too. Only `high` and low + k * (high - low) / 2^n are tried.
 * @param {number} low @param {number} high @param {(size: number) => boolean} fits @param {number} precision
 */
export function largestThatFits(low, high, fits, precision) {
  if (fits(high)) return high;
  let [fitting, tooLarge] = [low, high];
  while (tooLarge - fitting > precision) {
    const middle = (fitting + tooLarge) / 2;
    if (fits(middle)) fitting = middle;
    else tooLarge = middle;
  }
  return fitting;
}

const GAP = 10; // pixels
const SIGN = 1.15,
  CAPTION = 0.85; // how large signs and captions are beside the text around

// Lays out pictures for cells and letters of given sizes. A block is what a slot takes: `rows` and `columns` count its cells; `rowLabel`,
// `columnLabel`, `before`, `after`, `sums`, `caption`, `symbol` and `digits` are widths of text in units of the font's size, 0 where there
// is none; `rowNames` and `columnNames` are what labels say; `bands` is whether heads are named over it. Blocks in one row of a grid share
// their upper edge, those in one column their left edge, and labels that stand there already. `layout` is {grids, beside, named}: whether
// the grids stand beside each other, and whether "caption" or "symbol" is written over the blocks; `text` is {font, label, written}.
// Returns {width, height, cells, titled, pictures} with them: how many cells there are across and down, and {x, y, captionWidth, bands,
// labels, upright, all} of each block: the upper left of its cells, the width for its caption, the height of the heads' names, the room of
// its row and its column labels, whether those of columns stand upright, and whether all labels of its rows and of its columns are there.
function laidOut({ grids, beside, named }, cell, text, options) {
  const made = grids.map(grid => laidOutGrid(grid, cell, { ...text, named }, options));
  const shift = beside ? "x" : "y",
    along = beside ? "width" : "height",
    across = beside ? "height" : "width";
  let from = 0;
  for (const each of made) {
    for (const position of each.places.flat()) if (position) position[shift] += from;
    from += each[along] + 3 * GAP;
  }
  const cells = [0, 1].map(axis => {
    const counts = made.map(each => each.cells[axis]);
    return (axis === 0) === beside ? counts.reduce((sum, n) => sum + n, 0) : Math.max(...counts);
  });
  return {
    ...text,
    cell,
    cells,
    titled: named === "caption",
    [along]: from - 3 * GAP,
    [across]: Math.max(...made.map(each => each[across])),
    pictures: made.map(each => each.places),
  };
}

function laidOutGrid(grid, cell, text, { base, caption = CAPTION }) {
  const { font, label, written, named: name } = text;
  const named = withoutRepeated(grid),
    sign = Math.max(SIGN * base, written ? 0.9 * font : 0);
  const columns = named[0].map((_, column) => {
    const blocks = named.map(row => row[column]).filter(Boolean);
    const before = widest(blocks, "before") * sign;
    const labels = widest(blocks, "rowLabel") && widest(blocks, "rowLabel") * label + 8;
    const n = widest(blocks, "columns");
    const after = widest(blocks, "sums") * font + widest(blocks, "after") * sign;
    return { before, labels, n, cells: Math.max(n * cell[0], widest(blocks, name) * caption * base), after };
  });
  const rows = named.map(row => {
    const blocks = row.filter(Boolean);
    const longest = widest(blocks, "columnLabel") * label;
    const upright = longest > cell[0] - 2 && (written || cell[0] >= label);
    const labels = longest && (upright ? Math.min(longest, 6.5 * label) + 4 : 1.35 * label);
    const bands = blocks.some(block => block.bands) ? 1.35 * label : 0;
    const isEveryOneThere = written || upright || longest <= cell[0];
    return {
      labels,
      bands,
      upright,
      isEveryOneThere,
      above: 1.9 * caption * base + labels + bands,
      n: widest(blocks, "rows"),
    };
  });
  const xs = edges(columns.map(({ before, labels, cells, after }) => before + labels + cells + after));
  const ys = edges(rows.map(({ above, n }) => above + n * cell[1]));
  const places = named.map((row, i) =>
    row.map(
      (block, j) =>
        block && {
          x: Math.round(xs[j] + columns[j].before + columns[j].labels),
          y: Math.round(ys[i] + rows[i].above),
          labels: [block.rowLabel && columns[j].labels, block.columnLabel && rows[i].labels],
          captionWidth: columns[j].cells + columns[j].after,
          bands: block.bands ? rows[i].bands : 0,
          upright: rows[i].upright,
          all: [written || cell[1] >= 0.95 * label, rows[i].isEveryOneThere],
        },
    ),
  );
  const cells = [columns, rows].map(each => each.reduce((sum, { n }) => sum + n, 0));
  return { places, width: xs[columns.length] - GAP, height: ys[rows.length] - GAP, cells };
}

// Labels that stand at the left in the same row, or above in the same column, are not there a second time.
const withoutRepeated = grid =>
  grid.map((row, i) =>
    row.map((block, j) => {
      if (!block) return null;
      const isRepeated = row.slice(0, j).some(other => other?.rowNames === block.rowNames);
      const isAbove = grid.slice(0, i).some(other => other[j]?.columnNames === block.columnNames);
      return { ...block, rowLabel: isRepeated ? 0 : block.rowLabel, columnLabel: isAbove ? 0 : block.columnLabel };
    }),
  );

// Where each of some lengths begins when they follow one another, and where the next would.
function edges(lengths) {
  const found = [0];
  for (const length of lengths) found.push(found[found.length - 1] + length + GAP);
  return found;
}

const widest = (blocks, name) => Math.max(0, ...blocks.map(block => block[name]));
const blocksOf = ({ grids }) => grids.flat(2).filter(Boolean);

const MIN_CELL_PX = 1; // a cell: a smaller one can't be pointed at
const MIN_LABEL_PX = 9.4; // 7 points on paper
const DEAR = 1.25; // how much larger cells must become by leaving out titles
const FONT_STEP = 0.5; // pixels between the sizes of digits that are tried
const WIDEST_CELL = 40,
  TALLEST_CELL = 24; // without digits

// `pictures` are {grid, turns}: rows of blocks (see laidOut) or null, and whether its one row may stand as several. `options`
// are {smallest, largest, base, labels, around, line}: font sizes of digits, that of the text around, and in units of the
// digits' how large labels are, what is at least free beside digits and how high a line is. Returns a layout with {written, titled,
// font, label, cell: [width, height]}: whether digits and titles are written, and the font sizes of digits and labels.
export function fit(pictures, box, options) {
  const [titled, bare] = ["caption", "symbol"].map(named => fitNamed(arrangements(pictures, named), box, options));
  return sizeOf(bare, box) > DEAR * sizeOf(titled, box) ? bare : titled;
}

function fitNamed(layouts, box, options) {
  const fitting = font =>
    layouts
      .map(layout => writtenAt(layout, Math.max(font, options.smallest), box, options))
      .find(each => isInside(each, box)); // the first, with digits of one size in all: a row, as it is read
  const largest = Math.max(options.largest, options.smallest),
    range = 2 ** 8 * FONT_STEP; // a power of two times the step, so that only whole steps are tried
  const written = fitting(largestThatFits(largest - range, largest, font => Boolean(fitting(font)), FONT_STEP));
  if (written) return written;
  return best(
    layouts.map(layout => unwritten(layout, box, options)),
    box,
  );
}

// Pictures beside each other or one above the other; those that turn, as one row, as a column or as some rows.
function arrangements(pictures, named) {
  const turned = pictures.reduce(
    (made, { grid, turns }) =>
      made.flatMap(before => (turns ? rowsOf(grid[0]) : [grid]).map(each => [...before, each])),
    [[]],
  );
  const besides = pictures.length > 1 ? [true, false] : [true];
  return turned.flatMap(grids => besides.map(beside => ({ grids, beside, named })));
}

// A row as rows of any length, the longest first; the last may have fewer blocks.
const rowsOf = row =>
  row
    .map((_, left) => row.length - left)
    .map(length =>
      Array.from({ length: Math.ceil(row.length / length) }, (_, nth) =>
        Array.from({ length }, (__, position) => row[nth * length + position] ?? null),
      ),
    );

const isInside = ({ width, height }, box) => width <= box.width && height <= box.height;

// The worth of a layout: digits are worth more than any size of cells, and what is not inside is worth little.
function sizeOf(layout, box) {
  const size = Math.sqrt(layout.cell[0] * layout.cell[1]);
  return isInside(layout, box) ? size + (layout.written ? 1000 * layout.font : 0) : size / 1000;
}

const best = (layouts, box) => layouts.reduce((one, other) => (sizeOf(other, box) > sizeOf(one, box) ? other : one));

function writtenAt(layout, font, box, options) {
  const digits = Math.max(...blocksOf(layout).map(block => block.digits));
  const least = [digits + options.around, options.line].map(size => Math.ceil(size * font));
  const label = Math.max(options.labels * font, options.least ?? 0),
    tight = laidOut(layout, least, { font, label, written: true }, options);
  if (!isInside(tight, box)) return tight;
  // The room left over makes cells easier to tell apart, up to a size that still looks like a table.
  const roomy = least.map((size, axis) => {
    const spare = [box.width - tight.width, box.height - tight.height][axis] / Math.max(tight.cells[axis], 1);
    return Math.floor(size + Math.max(0, Math.min(spare, [1.1, 1][axis] * font)));
  });
  const wide = laidOut(layout, roomy, { font, label, written: true }, options);
  return isInside(wide, box) ? wide : tight;
}

function unwritten(layout, box, options) {
  const at = (width, height) => {
    const label = Math.min(Math.max(height * 0.95, MIN_LABEL_PX), 0.75 * options.base);
    return laidOut(layout, [width, height], { font: label, label, written: false }, options);
  };
  const height = greatest(TALLEST_CELL, each => at(each, each).height <= box.height);
  const width = greatest(Math.min(WIDEST_CELL, 2.5 * height), each => at(each, height).width <= box.width);
  const highest = Math.min(height, Math.max(MIN_CELL_PX, 1.6 * width)); // labels that stand upright over narrow columns need room
  return at(
    width,
    greatest(highest, each => at(width, each).height <= box.height),
  );
}

// The greatest size up to `most` that fits; MIN_CELL_PX if none does.
function greatest(most, fits) {
  const size = most > MIN_CELL_PX ? largestThatFits(MIN_CELL_PX, most, fits, 0.25) : most;
  return size > 4 && size < most ? Math.floor(size) : size;
}

const MAX_HEADS_APART = 16; // heads that stand apart

// A tiling of the heads of a stage in a box {width, height, largest}, so that cells are largest, up to `largest`.
export function tiling(stage, box) {
  const { shape } = stage,
    hasHeads = isHeaded(stage) || shape.length > 2; // or groups of them
  const heads = hasHeads ? shape[0] : 1,
    ofHead = shape.slice(hasHeads ? 1 : 0),
    rows = ofHead.length > 1 ? ofHead[0] : 1, // one row of a vector; of more than two axes all but the first are columns
    columns = ofHead.reduce((product, length) => product * length, 1) / rows;
  const apart = heads > MAX_HEADS_APART ? 0 : 2;
  const sizeAt = across => {
    const down = Math.ceil(heads / across);
    const wide = (box.width - (across - 1) * apart) / (across * columns),
      high = (box.height - (down - 1) * apart) / (down * rows);
    return Math.min(wide, high, box.largest);
  };
  let across = 1;
  for (let each = 2; each <= heads; each += 1) if (sizeAt(each) > sizeAt(across) * 1.001) across = each;
  const size = sizeAt(across),
    cell = Math.max(0.1, size >= 2 ? Math.floor(size * 2) / 2 : size),
    down = Math.ceil(heads / across);
  const width = across * columns * cell + (across - 1) * apart,
    height = down * rows * cell + (down - 1) * apart;
  return { hasHeads, heads, shape, apart, rows, columns, across, cell, width, height };
}

export const tileAt = ({ across, columns, rows, cell, apart }, head) => ({
  x: (head % across) * (columns * cell + apart),
  y: Math.floor(head / across) * (rows * cell + apart),
});

export function spotOf(tiled, index) {
  const { hasHeads, shape, columns, cell } = tiled,
    { x, y } = tileAt(tiled, hasHeads ? index[0] : 0),
    start = hasHeads ? 1 : 0,
    position = flattened(shape.slice(start), index.slice(start));
  return { x: x + (position % columns) * cell, y: y + Math.floor(position / columns) * cell };
}

// The index of the number at a point, in a stage; null between heads and beside them.
export function indexIn(tiled, { shape }, { x, y }) {
  const { hasHeads, heads, rows, columns, across, cell, apart } = tiled,
    right = Math.floor(x / (columns * cell + apart)),
    head = Math.floor(y / (rows * cell + apart)) * across + right,
    tile = tileAt(tiled, head),
    row = Math.floor((y - tile.y) / cell),
    column = Math.floor((x - tile.x) / cell),
    isWithin = (position, length) => position >= 0 && position < length;
  if (!isWithin(right, across) || !isWithin(head, heads) || !isWithin(row, rows) || !isWithin(column, columns))
    return null;
  return [...(hasHeads ? [head] : []), ...unflattened(shape.slice(hasHeads ? 1 : 0), row * columns + column)];
}
