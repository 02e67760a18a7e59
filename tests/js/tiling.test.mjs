import assert from "node:assert/strict";
import test from "node:test";
import { indexIn, spotOf, tiling } from "../../attnviz/viewer/browser/fit/tiling.js";

const stage = (shape, first) => ({ shape, axes: shape.map((_, i) => ({ name: i ? "d" : first })) });
const STAGES = [
  stage([2, 6, 6], "head"),
  stage([8, 3, 1], "head"),
  stage([6, 8], "token"),
  stage([128, 6, 6], "head"),
  stage([8], "d"),
  stage([2, 4], "head"),
  stage([2, 5, 3], "group"),
];
const BOXES = [
  { width: 58, height: 44, largest: 7 },
  { width: 60, height: 300, largest: 24 },
  { width: 400, height: 40, largest: 24 },
];

for (const each of STAGES) {
  for (const box of BOXES) {
    const tiled = tiling(each, box),
      name = `${each.shape.join(" × ")} in ${box.width} × ${box.height}`;

    test(`${name}: all of it is inside`, () => {
      assert.ok(tiled.width <= box.width + 1e-9 && tiled.height <= box.height + 1e-9);
      assert.ok(tiled.cell > 0 && tiled.cell <= box.largest);
    });

    test(`${name}: each number is found where it stands`, () => {
      const index = each.shape.map(length => Math.floor(length / 2)),
        { x, y } = spotOf(tiled, index);
      assert.deepEqual(indexIn(tiled, each, { x: x + tiled.cell / 2, y: y + tiled.cell / 2 }), index);
      assert.equal(indexIn(tiled, each, { x: -1, y: -1 }), null);
      assert.equal(indexIn(tiled, each, { x: tiled.width + 3, y: 0 }), null);
    });
  }
}

test("heads stand beside each other in a low box, one above the other in a high one", () => {
  assert.equal(tiling(STAGES[0], BOXES[2]).across, 2);
  assert.equal(tiling(STAGES[0], BOXES[1]).across, 1);
});
