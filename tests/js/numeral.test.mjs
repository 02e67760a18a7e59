import assert from "node:assert/strict";
import test from "node:test";
import { isHidden, written } from "../../attnviz/ui/viewer/browser/description.js";
import { short } from "../../attnviz/ui/viewer/browser/numeral.js";

test("two decimals, fewer of larger numbers, a power of ten from 10,000 on", () => {
  const expected = [[0.5, "0.50"], [-99.994, "−99.99"], [123.45, "123.5"], [1234.4, "1234"], [-1e4, "−1.0e4"], [1e308, "1.0e308"]];
  for (const [value, text] of expected) assert.equal(short(value), text);
});

test("nothing has a minus that is written as zero", () => {
  for (const value of [0, -0, -0.004, -1e-7, -5e-324]) assert.equal(short(value), "0.00");
});

test("half-way between two numbers is the even one", () => {
  const expected = [[0.125, "0.12"], [0.375, "0.38"], [-0.625, "−0.62"], [1234.5, "1234"], [1235.5, "1236"], [12500, "1.2e4"], [99500, "1.0e5"]];
  for (const [value, text] of expected) assert.equal(short(value), text);
});

test("a cell without a number holds its gap, a flag is 1 or 0", () => {
  assert.equal(written(null, { scale: "signed", gap: "-inf" }), "-inf");
  assert.equal(written(true, { scale: "flag" }) + written(false, { scale: "flag" }), "10");
  assert.deepEqual([null, false, true, 0].map((value) => isHidden(value, { scale: "flag" })), [true, true, false, true]);
  assert.deepEqual([null, 0, -1].map((value) => isHidden(value, { scale: "signed" })), [true, false, false]);
});
