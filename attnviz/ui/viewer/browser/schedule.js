// A schedule: which moment a play is at after how many milliseconds. The first cell is computed product by product, then
// the rest of its row cell by cell, then all other cells, in about 4 seconds.

export function makeSchedule(products, width, cells) {
  const first = Math.min(1600, 300 * products);
  const row = Math.min(1000, 150 * (width - 1));
  const others = Math.min(1400, 30 * (cells - width));
  const whole = first + row + others;
  // {product, done}: the product that the first cell is at, or null, and how many cells are computed.
  const at = (elapsed) => {
    if (elapsed < first) return { product: Math.min(Math.floor((elapsed / first) * products), products - 1), done: 0 };
    if (elapsed < first + row) return { product: null, done: 1 + Math.floor(((elapsed - first) / row) * (width - 1)) };
    if (elapsed < whole) return { product: null, done: width + Math.floor(((elapsed - first - row) / others) * (cells - width)) };
    return { product: null, done: cells };
  };
  return { whole, at };
}

// The sum of the products of `pairs` up to the one at `place`.
export function sumUpTo(pairs, place) {
  return pairs.slice(0, place + 1).reduce((sum, [a, b]) => sum + a * b, 0);
}
