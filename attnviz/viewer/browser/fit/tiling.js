// Tilings: how the heads of a stage are set out beside each other and one above the other, so that its cells are largest.
import { flattened, isHeaded, unflattened } from "../model/axes.js";

const MAX_HEADS_APART = 16; // heads that stand apart

// The stage in a box {width, height, largest}, whose last is the most that a cell may measure.
export function tiling(stage, box) {
  const { shape } = stage,
    hasHeads = isHeaded(stage) || shape.length > 2; // or groups of them
  const heads = hasHeads ? shape[0] : 1,
    { rows, columns } = matrixIn(shape.slice(hasHeads ? 1 : 0));
  const apart = heads > MAX_HEADS_APART ? 0 : 2;
  const sizeAt = across => {
    const down = Math.ceil(heads / across);
    const wide = (box.width - (across - 1) * apart) / (across * columns),
      high = (box.height - (down - 1) * apart) / (down * rows);
    return Math.min(wide, high, box.largest);
  };
  const across = Array.from({ length: heads }, (_, i) => i + 1).reduce(
    (best, each) => (sizeAt(each) > sizeAt(best) * 1.001 ? each : best),
    1,
  );
  const size = sizeAt(across),
    cell = Math.max(0.1, size >= 2 ? Math.floor(size * 2) / 2 : size),
    down = Math.ceil(heads / across);
  return {
    hasHeads,
    heads,
    shape,
    apart,
    rows,
    columns,
    across,
    cell,
    width: across * columns * cell + (across - 1) * apart,
    height: down * rows * cell + (down - 1) * apart,
  };
}

// The rows and columns of an array: one row of a vector; of more than two axes all but the first are its columns.
function matrixIn(shape) {
  const rows = shape.length > 1 ? shape[0] : 1;
  return { rows, columns: shape.reduce((product, length) => product * length, 1) / rows };
}

// Where a head's tile begins, in pixels.
export function tileAt({ across, columns, rows, cell, apart }, head) {
  return { x: (head % across) * (columns * cell + apart), y: Math.floor(head / across) * (rows * cell + apart) };
}

// Where the number of an index stands.
export function spotOf(tiled, index) {
  const { x, y } = tileAt(tiled, tiled.hasHeads ? index[0] : 0);
  const from = tiled.hasHeads ? 1 : 0,
    place = flattened(tiled.shape.slice(from), index.slice(from));
  const row = Math.floor(place / tiled.columns);
  return { x: x + (place % tiled.columns) * tiled.cell, y: y + row * tiled.cell };
}

// The index of the number at a point, in a stage; null between heads and beside them.
export function indexIn(tiled, { shape }, { x, y }) {
  const { hasHeads, heads, rows, columns, across, cell, apart } = tiled;
  const right = Math.floor(x / (columns * cell + apart)),
    down = Math.floor(y / (rows * cell + apart));
  const head = down * across + right,
    from = tileAt(tiled, head);
  const row = Math.floor((y - from.y) / cell),
    column = Math.floor((x - from.x) / cell);
  if (
    right < 0 ||
    right >= across ||
    head < 0 ||
    head >= heads ||
    row < 0 ||
    row >= rows ||
    column < 0 ||
    column >= columns
  )
    return null;
  return [...(hasHeads ? [head] : []), ...unflattened(shape.slice(hasHeads ? 1 : 0), row * columns + column)];
}
