// Layouts: where the matrices of pictures stand, for cells and letters of given sizes.
//
// A block is what a slot takes: {rows, columns, rowLabel, columnLabel, rowNames, columnNames, before, after, sums, bands,
// caption, symbol, digits}. `rows` and `columns` count its cells; `rowLabel`, `columnLabel`, `before`, `after`, `sums`,
// `caption`, `symbol` and `digits` are widths of text in units of its font's size, 0 where there is none; `rowNames` and
// `columnNames` are what labels say; `bands` is whether heads are named over it. Blocks in one row of a grid share their
// upper edge, those in one column their left edge, and labels that stand there already.

const GAP = 10; // pixels
const SIGN = 1.15,
  CAPTION = 0.85; // how large signs and captions are beside the text around

// `layout` is {grids, beside, named}: whether the grids stand beside each other, and whether "caption" or "symbol" is written
// over the blocks; `text` is {font, label, written}. Returns {width, height, cells, titled, pictures} with them: how many
// cells there are across and down, and {x, y, room, bands, labels, upright, all} of each block: the upper left of its cells,
// the width for its caption, the height of the heads' names, the room of its row and its column labels, whether those of
// columns stand upright, and whether all labels of its rows and of its columns are there.
export function laidOut({ grids, beside, named }, cell, text, options) {
  const made = grids.map(grid => laidOutGrid(grid, cell, { ...text, named }, options));
  const shift = beside ? "x" : "y",
    along = beside ? "width" : "height",
    across = beside ? "height" : "width";
  let from = 0;
  for (const each of made) {
    for (const place of each.places.flat()) if (place) place[shift] += from;
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
          room: columns[j].cells + columns[j].after,
          bands: block.bands ? rows[i].bands : 0,
          upright: rows[i].upright,
          all: [written || cell[1] >= 0.95 * label, rows[i].isEveryOneThere],
        },
    ),
  );
  const cells = [columns, rows].map(each => each.reduce((sum, { n }) => sum + n, 0));
  return { places, width: xs.at(-1) - GAP, height: ys.at(-1) - GAP, cells };
}

// Labels that stand at the left in the same row, or above in the same column, are not there a second time.
function withoutRepeated(grid) {
  return grid.map((row, i) =>
    row.map((block, j) => {
      if (!block) return null;
      const isRepeated = row.slice(0, j).some(other => other?.rowNames === block.rowNames);
      const isAbove = grid.slice(0, i).some(other => other[j]?.columnNames === block.columnNames);
      return { ...block, rowLabel: isRepeated ? 0 : block.rowLabel, columnLabel: isAbove ? 0 : block.columnLabel };
    }),
  );
}

// Where each of some lengths begins when they follow one another, and where the next would.
function edges(lengths) {
  const made = [0];
  for (const length of lengths) made.push(made.at(-1) + length + GAP);
  return made;
}

function widest(blocks, name) {
  return Math.max(0, ...blocks.map(block => block[name]));
}

export function blocksOf({ grids }) {
  return grids.flat(2).filter(Boolean);
}
