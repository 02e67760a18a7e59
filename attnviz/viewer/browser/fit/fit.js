// Fitting a picture to its box: the largest cells whose matrices, captions and headings have space, and tilings of heads.
import { flattened, isHeaded, unflattened } from "../model/axes.js";

export const APART = 18; // pixels between the matrices and what is beside them
const NARROW = 820; // pixels, as in the styles: a page that is not wider grows downwards
const SMALL = 1200; // pixels: in one that is not wider, matrices may be scrolled
export const SCROLLBAR = 16;

/** Returns a function that gives the space for a step's matrices: remembered, because measuring costs a layout. draw() is called as it changes.
 * @param {any} box @param {any} bars @param {any} legend @param {() => void} draw @returns {(step: unknown) => Space} */
export function watchSpace(box, bars, legend, draw) {
  let known = /** @type {Record<string, Space>} */ ({}),
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

/** The space that a picture's bars, beside the matrices, and its legend, below them, leave in its box. @returns {Space} */
function spaceIn(/** @type {any} */ box, /** @type {any} */ bars, /** @type {any} */ legend) {
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

/** @param {Space} space @param {number} times @returns {Space} */
export const scrolled = (space, times) => ({
  ...space,
  width: space.width - SCROLLBAR,
  height: times * space.height,
  isScrolled: true,
});

const DOWN = 4; // how much higher matrices may be that are scrolled to the side

/** @param {Space} space @param {number} times @returns {Space} */
export const widened = (space, times) => ({
  ...space,
  width: times * space.width,
  height: DOWN * space.height,
  isScrolled: true,
});

/** Where the page is narrow it grows downwards, and only its width is given. @param {any} box @param {any} legend @param {boolean} isNarrow */
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

/** Lays out pictures for cells and letters of given sizes. Blocks in one row of a grid share their upper edge, those in one column their left
 * edge, and labels that stand there already. @param {Arrangement} arrangement @param {number[]} cell @param {Letters} text
 * @param {FitOptions} options @returns {Layout} */
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
  return /** @type {any} */ ({
    ...text,
    cell,
    cells,
    titled: named === "caption",
    [along]: from - 3 * GAP,
    [across]: Math.max(...made.map(each => each[across])),
    pictures: made.map(each => each.places),
  });
}

/** @param {(FitBlock | null)[][]} grid @param {number[]} cell @param {Letters & { named: "caption" | "symbol" }} text
 * @param {FitOptions} fitOptions */
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
    const blocks = row.filter(block => !!block);
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

/** Labels that stand at the left in the same row, or above in the same column, are not there a second time. @returns {(FitBlock | null)[][]} */
const withoutRepeated = (/** @type {(FitBlock | null)[][]} */ grid) =>
  grid.map((row, i) =>
    row.map((block, j) => {
      if (!block) return null;
      const isRepeated = row.slice(0, j).some(other => other?.rowNames === block.rowNames);
      const isAbove = grid.slice(0, i).some(other => other[j]?.columnNames === block.columnNames);
      return { ...block, rowLabel: isRepeated ? 0 : block.rowLabel, columnLabel: isAbove ? 0 : block.columnLabel };
    }),
  );

/** Where each of some lengths begins when they follow one another, and where the next would. @param {number[]} lengths */
function edges(lengths) {
  const found = [0];
  for (const length of lengths) found.push(found[found.length - 1] + length + GAP);
  return found;
}

/** @param {any[]} blocks @param {string} name @returns {number} */
const widest = (blocks, name) => Math.max(0, ...blocks.map(block => block[name]));
/** @param {{ grids: (FitBlock | null)[][][] }} props @returns {FitBlock[]} */
const blocksOf = ({ grids }) => grids.flat(2).filter(block => !!block);

const MIN_CELL_PX = 1; // a cell: a smaller one can't be pointed at
const MIN_LABEL_PX = 9.4; // 7 points on paper
const DEAR = 1.25; // how much larger cells must become by leaving out titles
const FONT_STEP = 0.5; // pixels between the sizes of digits that are tried
const WIDEST_CELL = 40,
  TALLEST_CELL = 24; // without digits

/** The layout in which digits, or else cells, are largest. @param {FitPicture[]} pictures @param {Space} box @param {FitOptions} options
 * @returns {Layout} */
export function fit(pictures, box, options) {
  const [titled, bare] = /** @type {const} */ (["caption", "symbol"]).map(named =>
    fitNamed(arrangements(pictures, named), box, options),
  );
  return sizeOf(bare, box) > DEAR * sizeOf(titled, box) ? bare : titled;
}

/** @param {Arrangement[]} layouts @param {Space} box @param {FitOptions} options @returns {Layout} */
function fitNamed(layouts, box, options) {
  const fitting = (/** @type {number} */ font) =>
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

/** Pictures beside each other or one above the other; those that turn, as one row, as a column or as some rows. @returns {Arrangement[]} */
function arrangements(/** @type {FitPicture[]} */ pictures, /** @type {"caption" | "symbol"} */ named) {
  const turned = pictures.reduce(
    (made, { grid, turns }) =>
      made.flatMap(before => (turns ? rowsOf(grid[0]) : [grid]).map(each => [...before, each])),
    /** @type {(FitBlock | null)[][][][]} */ ([[]]),
  );
  const besides = pictures.length > 1 ? [true, false] : [true];
  return turned.flatMap(grids => besides.map(beside => ({ grids, beside, named })));
}

/** A row as rows of any length, the longest first; the last may have fewer blocks. @returns {(FitBlock | null)[][][]} */
const rowsOf = (/** @type {(FitBlock | null)[]} */ row) =>
  row
    .map((_, left) => row.length - left)
    .map(length =>
      Array.from({ length: Math.ceil(row.length / length) }, (_, nth) =>
        Array.from({ length }, (__, position) => row[nth * length + position] ?? null),
      ),
    );

/** @param {{ width: number, height: number }} props @param {Space} box */
const isInside = ({ width, height }, box) => width <= box.width && height <= box.height;

// The worth of a layout: digits are worth more than any size of cells, and what is not inside is worth little.
function sizeOf(/** @type {Layout} */ layout, /** @type {Space} */ box) {
  const size = Math.sqrt(layout.cell[0] * layout.cell[1]);
  return isInside(layout, box) ? size + (layout.written ? 1000 * layout.font : 0) : size / 1000;
}

/** @param {Layout[]} layouts @param {Space} box */
const best = (layouts, box) => layouts.reduce((one, other) => (sizeOf(other, box) > sizeOf(one, box) ? other : one));

/** @param {Arrangement} layout @param {number} font @param {Space} box @param {FitOptions} options @returns {Layout} */
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

function unwritten(/** @type {Arrangement} */ layout, /** @type {Space} */ box, /** @type {FitOptions} */ options) {
  const at = (/** @type {number} */ width, /** @type {number} */ height) => {
    const label = Math.min(Math.max(height * 0.95, MIN_LABEL_PX), 0.75 * options.base);
    return laidOut(layout, [width, height], { font: label, label, written: false }, options);
  };
  const height = greatest(TALLEST_CELL, each => at(each, each).height <= box.height);
  const width = greatest(Math.min(WIDEST_CELL, 2.5 * height), each => at(each, height).width <= box.width);
  const highest = Math.min(height, Math.max(MIN_CELL_PX, 1.6 * width)); // labels that stand upright over narrow columns need room
  const fittingHeight = greatest(highest, each => at(width, each).height <= box.height);
  return at(width, fittingHeight);
}

/** The greatest size up to `most` that fits; MIN_CELL_PX if none does. @param {number} most @param {(size: number) => boolean} fits */
function greatest(most, fits) {
  const size = most > MIN_CELL_PX ? largestThatFits(MIN_CELL_PX, most, fits, 0.25) : most;
  return size > 4 && size < most ? Math.floor(size) : size;
}

export const MAX_HEADS_APART = 16; // heads that stand apart

/** A tiling of the heads of a stage in a box, so that cells are largest, up to `largest`; heads are `apart` pixels apart. @param {Stage} stage
 * @param {{ width: number, height: number, largest: number, apart?: number }} box @returns {Tiling} */
export function tiling(stage, box) {
  const { shape } = stage,
    hasHeads = isHeaded(stage) || shape.length > 2; // or groups of them
  const heads = hasHeads ? shape[0] : 1,
    ofHead = shape.slice(hasHeads ? 1 : 0),
    rows = ofHead.length > 1 ? ofHead[0] : 1, // one row of a vector; of more than two axes all but the first are columns
    columns = ofHead.reduce((product, length) => product * length, 1) / rows;
  const apart = heads > MAX_HEADS_APART ? 0 : (box.apart ?? 2);
  const sizeAt = (/** @type {number} */ across) => {
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

export const tileAt = (/** @type {Tiling} */ { across, columns, rows, cell, apart }, /** @type {number} */ head) => ({
  x: (head % across) * (columns * cell + apart),
  y: Math.floor(head / across) * (rows * cell + apart),
});

export function spotOf(/** @type {Tiling} */ tiled, /** @type {number[]} */ index) {
  const { hasHeads, shape, columns, cell } = tiled,
    { x, y } = tileAt(tiled, hasHeads ? index[0] : 0),
    start = hasHeads ? 1 : 0,
    position = flattened(shape.slice(start), index.slice(start));
  return { x: x + (position % columns) * cell, y: y + Math.floor(position / columns) * cell };
}

/** The index of the number at a point, in a stage; null between heads and beside them. @param {Tiling} tiled @param {Stage} stage
 * @param {{ x: number, y: number }} props @returns {number[] | null} */
export function indexIn(tiled, { shape }, { x, y }) {
  const { hasHeads, heads, rows, columns, across, cell, apart } = tiled,
    right = Math.floor(x / (columns * cell + apart)),
    head = Math.floor(y / (rows * cell + apart)) * across + right,
    tile = tileAt(tiled, head),
    row = Math.floor((y - tile.y) / cell),
    column = Math.floor((x - tile.x) / cell),
    isWithin = (/** @type {number} */ position, /** @type {number} */ length) => position >= 0 && position < length;
  if (!isWithin(right, across) || !isWithin(head, heads) || !isWithin(row, rows) || !isWithin(column, columns))
    return null;
  return [...(hasHeads ? [head] : []), ...unflattened(shape.slice(hasHeads ? 1 : 0), row * columns + column)];
}
