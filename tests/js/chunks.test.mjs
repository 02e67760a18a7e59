import assert from "node:assert/strict";
import test from "node:test";
import { numbersOf } from "../../attnviz/viewer/browser/model/rule.js";
import { encoded } from "./passes.mjs";

test("a chunk of one number stands for as many as it has room for, one that was not sent for none", () => {
  const [once, each] = encoded([[2], [3, -0, 5]], { perHead: true });
  const numbers = numbersOf([once, null, each], 9);
  assert.deepEqual([...numbers], [2, 2, 2, NaN, NaN, NaN, 3, -0, 5]);
});
