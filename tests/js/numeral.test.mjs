import assert from "node:assert/strict";
import test from "node:test";
import {
  bracketed,
  counted,
  digits,
  fraction,
  grouped,
  ordinal,
  percent,
  short,
  tex,
} from "../../attnviz/viewer/browser/model/numeral.js";

test("two decimals, fewer of larger numbers, a power of ten from 10,000 on", () => {
  const expected = [
    [0.5, "0.50"],
    [-99.994, "−99.99"],
    [123.45, "123.5"],
    [1234.4, "1234"],
    [-1e4, "−1.0e4"],
    [1e308, "1.0e308"],
  ];
  for (const [value, text] of expected) assert.equal(short(value), text);
});

test("a fraction of two digits is written as one, and no other number", () => {
  const expected = [
    [3 / 7, "3/7"],
    [-13 / 11, "−13/11"],
    [98 / 99, "98/99"],
    [2 / 4, "1/2"],
    [1, ""],
    [0, ""],
    [-4, ""],
    [1 / 101, ""],
    [Math.PI, ""],
    [0.43, ""],
    [Number.NEGATIVE_INFINITY, ""],
  ];
  for (const [value, text] of expected) assert.equal(fraction(value), text, value);
});

test("nothing has a minus that is written as zero", () => {
  for (const value of [0, -0, -0.004, -1e-7, -5e-324]) assert.equal(short(value), "0.00");
});

test("half-way between two numbers is the even one", () => {
  const expected = [
    [0.125, "0.12"],
    [0.375, "0.38"],
    [-0.625, "−0.62"],
    [1234.5, "1234"],
    [1235.5, "1236"],
    [12500, "1.2e4"],
    [99500, "1.0e5"],
  ];
  for (const [value, text] of expected) assert.equal(short(value), text);
});

test("an infinity has its sign", () => {
  for (const write of [short, digits]) assert.deepEqual([Infinity, -Infinity].map(write), ["∞", "−∞"]);
  assert.deepEqual([Infinity, -Infinity].map(tex), ["\\infty", "-\\infty"]);
});

test("a number with a minus stands in brackets behind an operator", () => {
  assert.deepEqual(
    [-2, 2, 0].map(value => bracketed(value, short)),
    ["(−2.00)", "2.00", "0.00"],
  );
});

test("a share is in hundredths, and what is nearly nothing or all is not said to be so", () => {
  const expected = [
    [0, "0\u00a0%"],
    [1e-9, "under 1\u00a0%"],
    [0.01, "1\u00a0%"],
    [0.364, "36\u00a0%"],
    [0.99, "99\u00a0%"],
    [0.996, "over 99\u00a0%"],
    [1, "100\u00a0%"],
    [0.025, "3\u00a0%"],
    [0.145, "15\u00a0%"],
    [-0.125, "−13\u00a0%"],
    [-0.001, "0\u00a0%"],
    [2.5, "250\u00a0%"],
    [1e300, "1.00e300"],
  ];
  for (const [share, text] of expected) assert.equal(percent(share), text);
});

test("thousands stand apart", () => {
  assert.deepEqual([0, 999, 2949, 1234567].map(grouped), ["0", "999", "2,949", "1,234,567"]);
});

test("how many are words up to twelve, and so are their places", () => {
  assert.deepEqual([0, 1, 6, 12, 13].map(counted), ["no", "one", "six", "twelve", "13"]);
  assert.deepEqual([1, 2, 12, 13, 21, 22, 23, 24, 101, 111, 112].map(ordinal), [
    "first",
    "second",
    "twelfth",
    "13th",
    "21st",
    "22nd",
    "23rd",
    "24th",
    "101st",
    "111th",
    "112th",
  ]);
});
