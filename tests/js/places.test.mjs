import assert from "node:assert/strict";
import test from "node:test";
import { placing } from "../../attnviz/viewer/browser/model/pass.js";

const axis = (name, labels, ...coordinates) => ({ name, labels, coordinates });
const QUERIES = axis("query", ["the", "cat"], ["query", 2]);
const BANDS = axis(
  "heads * d_v",
  Array.from({ length: 15 }, (_, i) => String(i + 1)),
  ["head", 3],
  ["feature", 5],
);
const HEADS = axis("head", ["head 1", "head 2", "head 3"], ["head", 3]);
const STAGES = new Map(
  Object.entries({
    concat: { symbol: "H", axes: [QUERIES, BANDS], shape: [2, 15] },
    scores: { symbol: "S_i", axes: [HEADS, QUERIES, axis("key", ["a", "b"], ["key", 2])], shape: [3, 2, 2] },
    x: { symbol: "X", axes: [axis("token", ["the", "cat", "sat"], ["query", 3])], shape: [3] },
  }),
);
const { address, axisOf, indexAt, nameOf, read, selectionAt, symbol, within } = placing(STAGES);

test("an address names a cell that is there", () => {
  assert.deepEqual(read("concat[1,14]"), { name: "concat", index: [1, 14] });
  assert.equal(address("scores", [2, 1, 0]), "scores[2,1,0]");
  const others = [
    "concat[1,15]",
    "concat[1]",
    "concat[1,2,3]",
    "concat[-1,2]",
    "concat[1,2",
    "toString[0]",
    "w_q[0,0]",
    "",
    "concat[1,]",
  ];
  for (const text of others) assert.equal(read(text), null);
});

test("a cell is called by the labels of its places", () => {
  assert.equal(nameOf("scores", [2, 1, 0]), "scores[head 3, cat, a]");
  assert.equal(nameOf("concat", [0, 6]), "concat[the, 7]");
});

test("words that objects inherit are words like others", () => {
  const words = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  const stage = { axes: [axis("token", words, ["query", 4]), axis("d_model", ["1"], ["dimension", 1])] };
  const named = placing(new Map([["embeddings", stage]])).nameOf;
  assert.deepEqual(
    words.map((_, i) => named("embeddings", [i, 0])),
    words.map(word => `embeddings[${word}, 1]`),
  );
});

test("a place on an axis of two coordinates is that in nested lists, and leads back", () => {
  const before = { head: 9, query: 9, key: 9, feature: 9, dimension: 9 };
  let place = 0;
  for (let head = 0; head < 3; head += 1) {
    for (let feature = 0; feature < 5; feature += 1) {
      assert.deepEqual(indexAt("concat", { ...before, query: 1, head, feature }), [1, place]);
      assert.deepEqual(selectionAt("concat", [1, place], before), { ...before, query: 1, head, feature });
      place += 1;
    }
  }
  assert.equal(before.head, 9);
});

test("a selection is brought inside the longest axis, and lies at the end of a shorter one", () => {
  const far = { head: 7, query: 2, key: 99, feature: 5, dimension: 3 };
  assert.deepEqual(within(far), { head: 2, query: 2, key: 1, feature: 4, dimension: 3 });
  assert.deepEqual([indexAt("x", within(far)), indexAt("scores", within(far))], [[2], [2, 1, 1]]);
});

test("a symbol has the number of its head, in braces from ten on", () => {
  assert.deepEqual(
    [0, 8, 9, 127].map(head => symbol("scores", head)),
    ["S_1", "S_9", "S_{10}", "S_{128}"],
  );
  assert.equal(symbol("concat", 2), "H");
});

test("an axis is found by its name or its coordinate, of the stage itself first", () => {
  assert.equal(axisOf("query", "scores"), QUERIES);
  assert.equal(axisOf("query", "x").name, "token");
  assert.equal(axisOf("token", "concat").name, "token");
  assert.equal(axisOf("head", "concat"), HEADS);
  assert.equal(axisOf("feature", "concat"), undefined);
});
