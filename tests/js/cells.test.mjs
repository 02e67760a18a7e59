import assert from "node:assert/strict";
import test from "node:test";
import { cellAt, named, parts, selectionAt } from "../../attnviz/ui/viewer/browser/cells.js";

const axis = (labels, ...coordinates) => ({ labels, coordinates });
const BANDS = axis(Array.from({ length: 15 }, (_, i) => String(i + 1)), ["head", 3], ["feature", 5]);
const AXES = {
  concat: [axis(["the", "cat"], ["query", 2]), BANDS],
  scores: [axis(["head 1", "head 2", "head 3"], ["head", 3]), axis(["the", "cat"], ["query", 2]), axis(["a", "b"], ["key", 2])],
};

test("an address has a stage and an index", () => {
  assert.deepEqual(parts("w_q[0,12,3]"), { stage: "w_q", index: [0, 12, 3] });
});

test("a cell is called by the labels of its places", () => {
  assert.equal(named(AXES, "scores[2,1,0]"), "scores[head 3, cat, a]");
  assert.equal(named(AXES, "concat[0,6]"), "concat[the, 7]");
});

test("words that objects inherit are words like others", () => {
  const words = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  const axes = { embeddings: [axis(words, ["query", 4]), axis(["1"], ["dimension", 1])] };
  assert.deepEqual(words.map((_, i) => named(axes, `embeddings[${i},0]`)), words.map((word) => `embeddings[${word}, 1]`));
});

test("a place on an axis of two coordinates is that in nested lists", () => {
  let place = 0;
  for (let head = 0; head < 3; head += 1) {
    for (let feature = 0; feature < 5; feature += 1) {
      assert.equal(cellAt(AXES, "concat", { query: 1, key: 0, head, feature }), `concat[1,${place}]`);
      place += 1;
    }
  }
});

test("a selection finds the cell that it was made from, and keeps what the stage lacks", () => {
  const before = { head: 9, query: 9, key: 9, feature: 9, dimension: 9 };
  for (let place = 0; place < 15; place += 1) {
    const after = selectionAt(AXES, `concat[1,${place}]`, before);
    assert.equal(cellAt(AXES, "concat", after), `concat[1,${place}]`);
    assert.deepEqual([after.query, after.key, after.dimension], [1, 9, 9]);
  }
  assert.deepEqual(selectionAt(AXES, "concat[0,7]", before), { ...before, query: 0, head: 1, feature: 2 });
  assert.equal(before.head, 9);
});
