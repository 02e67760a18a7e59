import assert from "node:assert/strict";
import test from "node:test";
import { destination, picks } from "../../attnviz/ui/viewer/browser/keys.js";

const from = (place, key, ctrl = false) => destination(key, ctrl, place, [3, 5]);

test("arrows lead to a neighbour, and not out of the table", () => {
  assert.deepEqual(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].map((key) => from([1, 2], key)), [[0, 2], [2, 2], [1, 1], [1, 3]]);
  assert.deepEqual(["ArrowUp", "ArrowLeft"].map((key) => from([0, 0], key)), [[0, 0], [0, 0]]);
  assert.deepEqual(["ArrowDown", "ArrowRight"].map((key) => from([3, 5], key)), [[3, 5], [3, 5]]);
});

test("Home and End lead to the ends of the row, with Ctrl to those of the table", () => {
  assert.deepEqual([from([1, 2], "Home"), from([1, 2], "End")], [[1, 0], [1, 5]]);
  assert.deepEqual([from([1, 2], "Home", true), from([1, 2], "End", true)], [[0, 0], [3, 5]]);
});

test("other keys lead nowhere", () => {
  for (const key of ["a", "Tab", "Enter", "constructor", "__proto__"]) assert.equal(from([1, 2], key), null);
  assert.deepEqual(["Enter", " ", "a", "Tab"].map(picks), [true, true, false, false]);
});
