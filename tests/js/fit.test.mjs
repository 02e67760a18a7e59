import assert from "node:assert/strict";
import test from "node:test";
import { fit } from "../../attnviz/viewer/browser/fit/fit.js";

const OPTIONS = { smallest: 9, largest: 17, base: 15, labels: 0.92, around: 0.6, line: 1.42 };
const block = (rows, columns, more = {}) => ({
  rows,
  columns,
  rowLabel: 2,
  columnLabel: 1.5,
  rowNames: `${rows} rows`,
  columnNames: `${columns} columns`,
  before: 0,
  after: 0,
  sums: 0,
  bands: false,
  caption: 6,
  symbol: 2,
  digits: 2.5,
  ...more,
});
const product = (n, inner) => ({
  turns: false,
  grid: [
    [null, block(inner, n)],
    [block(n, inner), block(n, n, { before: 2 })],
  ],
});
const row = (n, m, count) => ({ turns: true, grid: [Array.from({ length: count }, () => block(n, m))] });
const BOXES = [
  [980, 380],
  [700, 300],
  [360, 400],
  [1500, 800],
  [300, 120],
].map(([width, height]) => ({ width, height }));
const PICTURES = {
  "a product": [product(6, 4)],
  "a wide product": [product(16, 16)],
  "a row": [row(6, 6, 3)],
  heads: [row(3, 1, 9)],
  "one cell": [row(1, 1, 1)],
  "two pictures": [product(6, 8), { turns: false, grid: [[block(2, 8)], [block(1, 8)]] }],
  "a large product": [product(64, 128)],
};
const blocksOf = pictures => pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);
const placesOf = found => found.pictures.flat(2).filter(Boolean);

for (const [name, pictures] of Object.entries(PICTURES)) {
  for (const box of BOXES) {
    const found = fit(pictures, box, OPTIONS),
      places = placesOf(found),
      blocks = blocksOf(pictures);
    const rects = places.map(({ x, y }, i) => ({
      left: x,
      top: y,
      right: x + blocks[i].columns * found.cell[0],
      bottom: y + blocks[i].rows * found.cell[1],
    }));
    const where = `${name} in ${box.width} x ${box.height}`;

    test(`${where}: everything is inside what it takes, and no matrix is on another`, () => {
      for (const each of rects) {
        assert.ok(each.left >= 0 && each.top >= 0 && each.right <= found.width + 1 && each.bottom <= found.height + 1);
      }
      rects.forEach((one, i) => {
        for (const other of rects.slice(i + 1)) {
          assert.ok(
            one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top,
          );
        }
      });
    });

    test(`${where}: digits that are written have room, and all of it is inside the box`, () => {
      if (!found.written) return;
      assert.ok(found.width <= box.width && found.height <= box.height);
      assert.ok(found.cell[0] >= 2.5 * found.font && found.cell[1] >= 1.4 * found.font);
      assert.ok(found.font >= OPTIONS.smallest && found.font <= OPTIONS.largest);
    });
  }

  test(`${name}: in a larger box digits are as large, or larger`, () => {
    const fonts = [1, 1.3, 1.7, 2.5]
      .map(more => fit(pictures, { width: 500 * more, height: 300 * more }, OPTIONS))
      .map(({ written, font }) => (written ? font : 0));
    assert.deepEqual(
      fonts,
      [...fonts].sort((a, b) => a - b),
    );
  });
}

test("in a product, rows stand in line with rows and columns with columns", () => {
  for (const box of BOXES) {
    const [[, above], [left, result]] = fit([product(6, 4)], box, OPTIONS).pictures[0];
    assert.equal(result.x, above.x);
    assert.equal(result.y, left.y);
    assert.deepEqual([result.labels[0], result.labels[1]], [0, 0]); // they stand at the left and above
  }
});

test("a row turns into a column where that makes it larger", () => {
  const [high, wide] = [
    { width: 330, height: 700 },
    { width: 1000, height: 240 },
  ].map(box => fit([row(6, 6, 3)], box, OPTIONS));
  assert.equal(high.pictures[0].length, 3);
  assert.equal(wide.pictures[0].length, 1);
});

test("where neither one row nor one column has room for digits, two rows have them", () => {
  const box = { width: 420, height: 280 },
    found = fit([row(6, 6, 3)], box, OPTIONS);
  assert.deepEqual(
    found.pictures[0].map(each => each.map(Boolean)),
    [
      [true, true],
      [true, false],
    ],
  );
  assert.ok(found.written && found.width <= box.width && found.height <= box.height);
});

test("titles give way to digits where there is no room for both", () => {
  const heads = [row(3, 1, 9)];
  assert.deepEqual(
    [500, 1300]
      .map(width => fit(heads, { width, height: 150 }, OPTIONS))
      .map(({ titled, written }) => [titled, written]),
    [
      [false, true],
      [true, true],
    ],
  );
});

test("labels that don't fit over their columns stand upright, and are all there", () => {
  const [place] = placesOf(
    fit([{ turns: false, grid: [[block(8, 8, { columnLabel: 6 })]] }], { width: 420, height: 380 }, OPTIONS),
  );
  assert.ok(place.upright && place.all.every(Boolean) && place.labels[1] > 40);
});

test("where cells are too small for words, only the lit ones are there", () => {
  const found = fit([product(64, 128)], { width: 980, height: 380 }, OPTIONS);
  assert.ok(!found.written && found.width <= 980 && found.height <= 380);
  for (const place of placesOf(found)) assert.equal(place.all[0], false);
});
