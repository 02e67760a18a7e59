// Fit: how large one cell of pictures is, so that all of them fit a box.
import { blocksOf, laidOut } from "./layout.js";

const MIN_CELL_PX = 1; // a cell: a smaller one can't be pointed at
const MIN_LABEL_PX = 9.4; // 7 points on paper
const DEAR = 1.25; // how much larger cells must become by leaving out titles
const WIDEST_CELL = 40,
  TALLEST_CELL = 24; // without digits

// `pictures` are {grid, turns}: rows of blocks (layout.js) or null, and whether its one row may stand as several. `options`
// are {smallest, largest, base, labels, around, line}: font sizes of digits, that of the text around, and in units of the
// digits' how large labels are, what is at least free beside digits and how high a line is. Returns a layout with {written, titled,
// font, label, cell: [width, height]}: whether digits and titles are written, and the font sizes of digits and labels.
export function fit(pictures, box, options) {
  const [titled, bare] = ["caption", "symbol"].map(named => fitNamed(arrangements(pictures, named), box, options));
  return sizeOf(bare, box) > DEAR * sizeOf(titled, box) ? bare : titled;
}

function fitNamed(layouts, box, options) {
  for (let font = Math.max(options.largest, options.smallest); font > options.smallest - 0.5; font -= 0.5) {
    const fitting = layouts
      .map(layout => writtenAt(layout, Math.max(font, options.smallest), box, options))
      .filter(each => isInside(each, box));
    if (fitting.length) return fitting[0]; // with digits as large in all, as it is read: in a row
  }
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
function rowsOf(row) {
  return row
    .map((_, left) => row.length - left)
    .map(length =>
      Array.from({ length: Math.ceil(row.length / length) }, (_, nth) =>
        Array.from({ length }, (__, place) => row[nth * length + place] ?? null),
      ),
    );
}

function isInside({ width, height }, box) {
  return width <= box.width && height <= box.height;
}

// The worth of a layout: digits are worth more than any size of cells, and what is not inside is worth little.
function sizeOf(layout, box) {
  const size = Math.sqrt(layout.cell[0] * layout.cell[1]);
  return isInside(layout, box) ? size + (layout.written ? 1000 * layout.font : 0) : size / 1000;
}

function best(layouts, box) {
  return layouts.reduce((one, other) => (sizeOf(other, box) > sizeOf(one, box) ? other : one));
}

function writtenAt(layout, font, box, options) {
  const digits = Math.max(...blocksOf(layout).map(block => block.digits));
  const least = [digits + options.around, options.line].map(size => Math.ceil(size * font));
  const label = Math.max(options.labels * font, options.least ?? 0),
    tight = laidOut(layout, least, { font, label, written: true }, options);
  if (!isInside(tight, box)) return tight;
  // The room left over makes cells easier to tell apart, up to a size that still looks like a table.
  const roomy = least.map((size, axis) => {
    const left = [box.width - tight.width, box.height - tight.height][axis] / Math.max(tight.cells[axis], 1);
    return Math.floor(size + Math.max(0, Math.min(left, [1.1, 1][axis] * font)));
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
function greatest(most, isFitting) {
  if (isFitting(most)) return most;
  let low = MIN_CELL_PX,
    high = most;
  while (high - low > 0.25) {
    const middle = (low + high) / 2;
    if (isFitting(middle)) low = middle;
    else high = middle;
  }
  return low > 4 ? Math.floor(low) : low;
}
