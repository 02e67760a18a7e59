import assert from "node:assert/strict";
import test from "node:test";
import { rectangles } from "../../attnviz/viewer/browser/views/matrix.js";
import { neighbour } from "../../attnviz/viewer/browser/dom/grid.js";
import { depthsOf } from "../../attnviz/viewer/browser/views/diagram.js";
import { marksOf } from "../../attnviz/viewer/browser/views/board.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { bandOf, makeSlot, shapeOf } from "../../attnviz/viewer/browser/views/slot.js";
import { documentOf } from "./passes.mjs";

const pass = readPass(documentOf());
const CELL = { head: 1, query: 2, key: 4, feature: 3, dimension: 5 };
const given = (stage, rows, columns, more = {}) => ({
  stage,
  rows,
  columns,
  fixed: {},
  sign: "",
  after: "",
  result: false,
  sums: false,
  ...more,
});
const SLOTS = [
  given("scores", 1, 2),
  given("k", 2, 1),
  given("x", 0, 1),
  given("concat", 0, 1),
  given("b_q", null, 1),
  given("heads", 1, 2, { fixed: { 0: 0 } }),
].filter(({ stage }) => pass.stages.has(stage));

for (const each of SLOTS) {
  test(`${each.stage}: every cell of a slot is at a place of its own, and is found there again`, () => {
    const slot = makeSlot(pass, each, CELL),
      [rows, columns] = slot.size,
      seen = new Set();
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1) {
        const index = slot.index(row, column);
        assert.notEqual(pass.number(each.stage, index), undefined);
        assert.deepEqual(slot.placeOf(index), [row, column]);
        seen.add(String(index));
      }
    assert.equal(seen.size, rows * columns);
  });
}

test("a slot is that of the selected head, or of the one that is fixed", () => {
  assert.deepEqual(makeSlot(pass, given("scores", 1, 2), CELL).index(0, 3), [1, 0, 3]);
  assert.deepEqual(makeSlot(pass, given("heads", 1, 2, { fixed: { 0: 0 } }), CELL).index(0, 3), [0, 0, 3]);
  assert.equal(makeSlot(pass, given("scores", 1, 2), CELL).placeOf([0, 1, 1]), null);
});

test("a slot's shape is its rows × its columns, named in that order", () => {
  const shape = (...drawn) => shapeOf(makeSlot(pass, given(...drawn), CELL));
  assert.deepEqual(shape("q", 1, 2), { lengths: "6 × 4", counted: "queries × d_k", some: "" });
  assert.deepEqual(shape("k", 2, 1), { lengths: "4 × 6", counted: "d_k × keys", some: "" });
});

test("a single row is named by the selected word, the row of a head by the head", () => {
  assert.deepEqual(makeSlot(pass, given("output", null, 1), CELL).rows.labels, ["sat"]);
  assert.deepEqual(makeSlot(pass, given("contributions", 0, 2), CELL).rows.labels, ["head 1", "head 2"]);
});

test("symbols carry their head, and say that a matrix lies on its side", () => {
  assert.match(makeSlot(pass, given("scores", 1, 2), CELL).symbol, /_2$/);
  assert.match(makeSlot(pass, given("k", 2, 1), CELL).symbol, /_2\^⊤$/);
  assert.ok(!makeSlot(pass, given("x", 0, 1), CELL).symbol.includes("_i"));
});

test("bands are as wide as one head's part of an axis", () => {
  assert.equal(
    bandOf({
      coordinates: [
        ["head", 2],
        ["feature", 4],
      ],
    }),
    4,
  );
  assert.equal(bandOf({ coordinates: [["key", 6]] }), 0);
});

test("what a score was computed from is framed: a row of Q, a column of K, the score, lightly its row and its column", () => {
  const kinds = (each, cell) =>
    marksOf(makeSlot(pass, each, CELL), cell, pass.cellsOf(cell.name, cell.index), []).map(
      ({ kind, row, column, rows, columns }) => [kind, row, column, rows, columns],
    );
  const cell = { name: "scores", index: [1, 2, 4] };
  assert.deepEqual(kinds(given("q", 1, 2), cell), [["source", 2, 0, 1, 4]]);
  assert.deepEqual(kinds(given("k", 2, 1), cell), [["source", 0, 4, 4, 1]]);
  assert.deepEqual(kinds(given("scores", 1, 2), cell), [
    ["cross", 2, 0, 1, 6],
    ["cross", 0, 4, 6, 1],
    ["focus", 2, 4, 1, 1],
  ]);
  assert.deepEqual(kinds(given("q", 1, 2), { name: "scores", index: [0, 2, 4] }), []); // another head
});

test("cells that fill a rectangle have one frame, others one each", () => {
  assert.deepEqual(rectangles([]), []);
  assert.deepEqual(
    rectangles([
      [1, 2],
      [1, 3],
      [2, 2],
      [2, 3],
    ]),
    [{ row: 1, column: 2, rows: 2, columns: 2 }],
  );
  assert.equal(
    rectangles([
      [0, 0],
      [1, 1],
    ]).length,
    2,
  );
});

test("arrows lead to a neighbour and not out of the grid, Home and End to the ends, other keys nowhere", () => {
  const to = (key, ctrl = false, from = [1, 2]) => neighbour(key, ctrl, from, [4, 6]);
  assert.deepEqual(
    ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].map(key => to(key)),
    [
      [0, 2],
      [2, 2],
      [1, 1],
      [1, 3],
    ],
  );
  assert.deepEqual(
    ["ArrowUp", "ArrowLeft"].map(key => to(key, false, [0, 0])),
    [
      [0, 0],
      [0, 0],
    ],
  );
  assert.deepEqual(
    ["ArrowDown", "ArrowRight"].map(key => to(key, false, [3, 5])),
    [
      [3, 5],
      [3, 5],
    ],
  );
  assert.deepEqual(
    [to("Home"), to("End"), to("Home", true), to("End", true)],
    [
      [1, 0],
      [1, 5],
      [0, 0],
      [3, 5],
    ],
  );
  for (const key of ["a", "Tab", "Enter", "constructor", "__proto__"]) assert.equal(to(key), null);
});

test("in a column of the map a stage stands after those that it was computed from", () => {
  const arrows = [
    ["w", "q"],
    ["q", "s"],
    ["k", "s"],
  ];
  assert.deepEqual(
    [["w", "q", "k"], [], ["s"]].map(stages => depthsOf(stages, arrows)),
    [[["w", "k"], ["q"]], [], [["s"]]],
  );
});
