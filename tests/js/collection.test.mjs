import assert from "node:assert/strict";
import test from "node:test";
import { columnsOf, layoutOf, momentOf } from "../../attnviz/viewer/browser/views/collection.js";

const COLOURS = { plus: [200, 160, 0], minus: [40, 60, 80], attention: [110, 60, 180], zero: [240, 240, 240] },
  SIZES = [
    { width: 1000, height: 400, letter: 15, leastDigits: 9 },
    { width: 370, height: null, letter: 16, leastDigits: 16 },
  ];

function collectionWith(weights, muted = []) {
  const values = weights.map((_, nth) => [nth - 1, 0.5 * nth, -nth]),
    rows = weights.map((weight, nth) => ({
      name: `word ${nth}`,
      weight,
      isMuted: muted.includes(nth),
      values: values[nth],
    }));
  const sums = [0, 1, 2].map(dim =>
    rows.reduce((sum, { weight, isMuted }, nth) => sum + (isMuted ? 0 : weight * values[nth][dim]), 0),
  );
  return {
    kind: "values",
    phases: ["values", "times weight", "stack", "stir"],
    rows,
    columns: ["1", "2", "3"],
    sums,
    scale: { scale: "signed", limit: 4 },
  };
}

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

for (const size of SIZES) {
  test(`strips are as high as their weights, and make one stack (${size.width} px)`, () => {
    const collection = collectionWith([0.5, 0.3, 0.15, 0.05]),
      layout = layoutOf(collection, size);
    for (const phase of [1, 2, 3]) {
      const { strips } = momentOf(collection, phase, layout, COLOURS);
      strips.forEach(({ height, piece }, nth) => {
        near(height, collection.rows[nth].weight * layout.tall);
        near(piece, height);
      });
      if (phase === 1) continue;
      strips.slice(1).forEach(({ at }, nth) => {
        near(at, strips[nth].at + strips[nth].piece);
      });
      near(strips[0].at, layout.stackY);
      near(strips.at(-1).at + strips.at(-1).piece, layout.stackY + layout.tall);
    }
  });

  test(`a muted strip leaves, and its part of the stack stays empty until it is stirred (${size.width} px)`, () => {
    const collection = collectionWith([0.5, 0.3, 0.2], [1]),
      layout = layoutOf(collection, size),
      pieces = phase => momentOf(collection, phase, layout, COLOURS).strips.filter(({ there }) => there);
    const heights = phase => pieces(phase).reduce((sum, { piece }) => sum + piece, 0);
    assert.equal(pieces(2).length, 2);
    near(heights(2), 0.7 * layout.tall);
    near(heights(3), layout.tall);
  });

  test(`a picture has its space (${size.width} px)`, () => {
    const collection = collectionWith(Array(13).fill(1 / 13)),
      layout = layoutOf(collection, size);
    if (size.height) assert.ok(layout.height <= size.height, `${layout.height}`);
    const last = momentOf(collection, 1, layout, COLOURS).strips.at(-1);
    assert.ok(last.y + last.height <= layout.height);
  });
}

test("stirred columns have one colour, that of their sum", () => {
  const collection = collectionWith([0.6, 0.4]),
    { strips } = momentOf(collection, 3, layoutOf(collection, SIZES[0]), COLOURS);
  assert.deepEqual(strips[0].fills, strips[1].fills);
});

test("of many dimensions those with the largest values have a column, and the selected one", () => {
  const dims = [0, 1, 2, 3, 4],
    sizeOf = dim => [5, 1, 4, 0, 3][dim];
  assert.deepEqual(columnsOf(dims, sizeOf, undefined, 3), [0, 2, 4]);
  assert.deepEqual(columnsOf(dims, sizeOf, 3, 3), [0, 2, 3]);
  assert.deepEqual(columnsOf(dims, sizeOf, 3, 5), dims);
});
