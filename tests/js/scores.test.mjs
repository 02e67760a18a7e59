import assert from "node:assert/strict";
import test from "node:test";
import { axesOf, chainOf, preview, softmaxOf } from "../../attnviz/viewer/browser/views/scoreRows.js";

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);
const sum = numbers => numbers.reduce((total, each) => total + each, 0);
const linesOf = values => values.map((value, nth) => ({ value, place: { text: `dimension ${nth + 1}` } }));

test("a chain of up to eight terms has all of them, a longer one the six largest in order and the rest", () => {
  for (const n of [1, 2, 8, 9, 64]) {
    const values = Array.from({ length: n }, (_, nth) => Math.sin(7 * nth + 1) * (nth + 1)),
      chain = chainOf(linesOf(values));
    near(sum(chain.map(({ value }) => value)), sum(values));
    assert.equal(chain.length, n <= 8 ? n : 7);
    const alone = n <= 8 ? chain : chain.slice(0, -1),
      smallest = Math.min(...alone.map(({ value }) => Math.abs(value))),
      names = alone.map(({ name }) => Number(name.replace("dimension ", "")));
    assert.equal(values.filter(value => Math.abs(value) >= smallest).length, alone.length);
    assert.deepEqual(
      names,
      [...names].sort((one, other) => one - other),
    );
  }
});

test("weights are shares of e to the score, hidden keys have none, and a sink takes its part", () => {
  const scores = [1.5, -2, Number.NEGATIVE_INFINITY, 800];
  const { exps, weights } = softmaxOf(scores);
  near(sum(weights), 1);
  assert.equal(weights[2], 0);
  assert.equal(Math.max(...exps), 1);
  const sunk = softmaxOf([0, 1], 2).weights,
    total = sum([0, 1, 2].map(Math.exp));
  near(sunk[0], 1 / total);
  near(sunk[1], Math.E / total);
  assert.deepEqual(softmaxOf([Number.NEGATIVE_INFINITY]).weights, [0]);
});

test("scaling contracts the axis by its factor, and everything is on it", () => {
  const ends = [-4.5, 2.3, 0.2];
  for (const factor of [1, 0.5, 1 / Math.sqrt(2), Math.log(3), -1, 1 / 8]) {
    const later = ends.map(end => end * factor - 0.1),
      [before, after] = axesOf({ ends, later, factor }, 600);
    for (const [axis, numbers] of [
      [before, ends],
      [after, later],
    ])
      for (const number of numbers) {
        const x = (number - axis.low) * axis.unit;
        assert.ok(x >= 0 && x <= axis.length, `${number} with ${factor}`);
      }
    assert.ok(before.length <= 600 && after.length <= 0.55 * 600 + 1e-9, `bars have no room with ${factor}`);
    if (after.length > 111) near(before.unit, after.unit); // or else it would be too short
  }
});

test("a preview moves one score and gives every key its weight, with the sink as strong as before", () => {
  const scores = [0.4, -1, 2],
    { weights } = softmaxOf(scores, 0.7),
    sink = { name: "sink", weight: 1 - sum(weights) };
  const rows = scores.map((value, key) => ({ key, value, weight: weights[key], isHidden: false }));
  const then = preview({ rows, sink }, { key: 1, value: 3 }),
    expected = softmaxOf([0.4, 3, 2], 0.7).weights;
  for (const [key, row] of then.rows.entries()) near(row.weight, expected[key]);
  const unmoved = preview({ rows, sink }, { key: 0, value: 0.4 });
  for (const [key, row] of unmoved.rows.entries()) near(row.weight, weights[key]);
});
