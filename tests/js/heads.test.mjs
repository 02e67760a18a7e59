// All heads: their statistics beside those of slow loops, where the view is shown, and how large heads are.
import assert from "node:assert/strict";
import test from "node:test";
import { BETWEEN, fitHeads } from "../../attnviz/viewer/browser/fit/fitHeads.js";
import { candidateAt } from "../../attnviz/viewer/browser/lesson/question.js";
import { readWhere, revealAt, revealsOf, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { habitOf, headStatistics } from "../../attnviz/viewer/browser/model/headStatistics.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import { focusOf, headsAt, isHeads } from "../../attnviz/viewer/browser/model/state.js";
import { arraysOf, documentOf, layeredDocumentOf } from "./documents.mjs";

// The four statistics, each by a loop of its own over all rows and keys.
function slowly(weights, sees) {
  const total = { previous: 0, itself: 0, first: 0, spread: 0 },
    count = { previous: 0, itself: 0, first: 0, spread: 0 };
  for (let i = 0; i < weights.length; i += 1) {
    let visible = 0,
      entropy = 0;
    for (let j = 0; j < weights[i].length; j += 1) {
      if (!sees(i, j)) continue;
      visible += 1;
      if (weights[i][j] > 0) entropy += weights[i][j] * Math.log2(1 / weights[i][j]);
    }
    if (visible === 0) continue;
    for (let j = 0; j < weights[i].length; j += 1) {
      for (const [name, at] of Object.entries({ previous: i - 1, itself: i, first: 0 })) {
        if (j !== at) continue;
        total[name] += weights[i][j];
        count[name] += 1;
      }
    }
    total.spread += visible === 1 ? 0 : entropy / Math.log2(visible);
    count.spread += 1;
  }
  return Object.fromEntries(Object.keys(total).map(name => [name, total[name] / count[name]]));
}

const MASKS = {
  none: () => true,
  causal: (i, j) => j <= i,
  window: (i, j) => Math.abs(i - j) <= 1,
  "a row without keys": (i, j) => i !== 2 && j <= i,
};

test("the statistics of every head are those of slow loops, whatever the mask hides", () => {
  for (const [mask, sees] of Object.entries(MASKS)) {
    const { attention } = arraysOf({ nHeads: 4, nWords: 5, sees });
    for (const head of attention) {
      const found = headStatistics(head, { isShared: true, isHidden: (i, j) => !sees(i, j) }),
        expected = slowly(head, sees);
      assert.deepEqual(
        found.map(({ name }) => name),
        Object.keys(expected),
      );
      for (const { name, value, parts } of found) {
        assert.ok(Math.abs(value - expected[name]) < 1e-12, `${mask}: ${name} ${value} ${expected[name]}`);
        for (const { row, key, value } of parts) if (key !== null) assert.equal(value, head[row][key]);
      }
    }
  }
});

const of = (rows, isShared = true) => {
  const all = headStatistics(rows, { isShared, isHidden: () => false });
  return Object.fromEntries(all.map(({ name, value }) => [name, value]));
};

test("a spread is 0 on one key and 1 on all alike, and of no weights that are negative", () => {
  const even = [0.25, 0.25, 0.25, 0.25];
  assert.equal(of([[0, 1, 0, 0]]).spread, 0);
  assert.equal(of([[1]]).spread, 0);
  assert.ok(Math.abs(of([even]).spread - 1) < 1e-12);
  assert.ok(Math.abs(of([even.map(weight => weight / 2)]).spread - 1) < 1e-12, "a sink takes the other half");
  assert.equal(of([[1.5, -0.5]]).spread, null);
  assert.equal(of([[0.5, 0.5]]).previous, null, "the first row has none before it");
  assert.deepEqual(Object.keys(of([even], false)), ["first", "spread"], "two sentences have no word in common");
});

test("what a head mostly does is what gets half of its attention, else that it is even, or nothing", () => {
  const habit = rows => habitOf(headStatistics(rows, { isShared: true, isHidden: () => false }))?.name;
  const identity = [0, 1, 2, 3].map(i => [0, 1, 2, 3].map(j => Number(i === j)));
  assert.equal(habit(identity), "itself");
  assert.equal(habit([identity[0], ...identity.slice(0, 3)]), "previous");
  assert.equal(habit(identity.map(() => identity[0])), "first");
  assert.equal(habit(identity.map(() => [0.25, 0.25, 0.25, 0.25])), "spread");
  assert.equal(habit(identity.map(() => [0, 0.5, 0.5, 0])), undefined);
});

const PASS = readPass(documentOf({ nHeads: 4 })),
  LAYERS = readPass(layeredDocumentOf());
const at = (step, parts = {}, pass = PASS) => ({ ...readWhere(pass, `?step=${step}&view=heads`), ...parts });

test("heads are shown from the attention weights on, and each layer's once it has come", () => {
  const steps = ["question", "scores", "mask", "softmax", "output", "whole-pass"];
  assert.deepEqual(
    steps.map(step => isHeads(PASS, at(step))),
    [false, false, false, true, true, false],
  );
  const ids = LAYERS.document.steps.map(({ id }) => id),
    counts = ids.map(id => headsAt(LAYERS, at(id, {}, LAYERS)).length);
  assert.deepEqual(Math.max(...counts), LAYERS.document.layers.length);
  for (const { attention } of LAYERS.document.layers) {
    const first = LAYERS.stepOf(attention).id,
      before = ids[ids.indexOf(first) - 1];
    assert.ok(headsAt(LAYERS, at(first, {}, LAYERS)).includes(attention));
    assert.ok(!headsAt(LAYERS, at(before, {}, LAYERS)).includes(attention));
    assert.ok(!isHeads(LAYERS, at(before, {}, LAYERS)) || !revealAt(LAYERS, at(before, {}, LAYERS)).isShown(attention));
  }
});

test("the panel is about a weight of the selected head, and a step is one stop", () => {
  for (const step of ["softmax", "weighted-sum", "output"]) {
    const where = at(step, { cell: { ...at(step).cell, head: 3 } });
    assert.deepEqual(focusOf(PASS, where), { name: "attention", index: [3, 1, 2] });
    assert.deepEqual(revealsOf(PASS, where), []);
  }
});

test("H leads to all heads and back, Present keeps them, and the address says so", () => {
  const go = (where, command) => ({ ...where, ...destinationOf(PASS, where, command) });
  const words = { ...at("scores"), view: "matrices" },
    heads = go(words, "heads");
  assert.deepEqual([heads.view, heads.step], ["heads", "softmax"], "not before there are any");
  assert.equal(go({ ...at("output"), view: "sheet" }, "heads").step, "output");
  assert.equal(go(heads, "heads").view, "matrices");
  assert.equal(go(heads, "present").view, "heads");
  assert.equal(go(heads, "head on").cell.head, 1);
  assert.equal(new URLSearchParams(searchAt(PASS, heads, "")).get("view"), "heads");
  assert.ok(isHeads(PASS, readWhere(PASS, searchAt(PASS, heads, ""))));
});

test("a head answers a question about heads, and a cell of a head any other", () => {
  const pick = cells => ({ kind: "pick", candidates: cells.map(cell => ({ cell })) }),
    ofHeads = pick([0, 1, 2].map(head => `contributions[${head},5,0]`)),
    ofKeys = pick([0, 1, 2].map(key => `attention[1,0,${key}]`));
  assert.equal(candidateAt(ofHeads, { head: 2, cell: "attention[2,1,1]", word: 0 }), 2);
  assert.equal(candidateAt(ofHeads, { head: 7 }), -1);
  assert.equal(candidateAt(ofHeads, { cell: "contributions[1,5,0]" }), 1, "in a picture of another kind");
  assert.equal(candidateAt(ofKeys, { head: 1, cell: "attention[1,0,2]" }), 2);
  assert.equal(candidateAt(ofKeys, { head: 0, cell: "attention[0,0,2]" }), -1);
});

const WIDTHS = { row: 2.6, column: 2.6, digits: 2.1, statistic: 0 },
  LETTERS = { base: 15, label: 12.8, leastLabel: 11, smallest: 10, isNarrow: false },
  ROOMS = [
    [950, 440],
    [670, 440],
    [1320, 640],
    [2900, 1500],
    [640, 300],
  ];

// How wide and high the heads are, counted from a layout as the styles place them.
function extentOf({ heads, layers, rows, columns, sides, statistics }, found) {
  const { across, aside, beside, cell, rowLabel, columnLabel, label } = found,
    line = 1.45 * label,
    map = sides * (rowLabel + columns * cell) + (sides - 1) * BETWEEN,
    width = across * (map + (aside ? BETWEEN + 6.4 * label : 0)) + (across - 1) * BETWEEN,
    lines = layers * Math.ceil(heads / across),
    below = aside ? 0 : Math.ceil(statistics / beside) * line;
  const high = 1.9 * label + columnLabel + rows * cell + below;
  return [width, lines * high + (lines - 1) * BETWEEN + (layers > 1 ? layers * 1.9 * label : 0)];
}

test("heads fit their box, as large as in any number of them side by side", () => {
  for (const [width, height] of ROOMS) {
    for (const heads of [1, 2, 4, 8, 12]) {
      for (const [layers, n, sides] of [
        [1, 6, 1],
        [1, 6, 2],
        [2, 4, 1],
        [1, 16, 1],
      ]) {
        const counts = { heads, layers, rows: n, columns: n, sides, statistics: 4 },
          found = fitHeads(counts, WIDTHS, { ...LETTERS, width, height }),
          [wide, high] = extentOf(counts, found),
          name = JSON.stringify({ ...counts, width, height, cell: found.cell });
        assert.ok(wide <= width + 1, name);
        if (found.cell > 4) assert.ok(high <= height + 1, name);
        assert.equal(found.written, found.font >= LETTERS.smallest, name);
        assert.ok(found.every[0] === 1 || found.cell < found.label, name);
      }
    }
  }
});

test("all words and digits of four heads of six letters have space on a laptop", () => {
  const counts = { heads: 4, layers: 1, rows: 6, columns: 6, sides: 1, statistics: 4 },
    letters = { ...WIDTHS, row: 2.2, column: 2.2 },
    found = fitHeads(counts, letters, { ...LETTERS, width: 946, height: 430 });
  assert.deepEqual([found.every, found.written], [[1, 1], true]);
  assert.equal(fitHeads(counts, letters, { ...LETTERS, width: 358, height: 0, isNarrow: true }).across, 2);
});
