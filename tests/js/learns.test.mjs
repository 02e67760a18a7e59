import assert from "node:assert/strict";
import test from "node:test";
import { fannedOut } from "../../attnviz/viewer/browser/views/attentionBand.js";
import { littleLine } from "../../attnviz/viewer/browser/model/numeral.js";
import { looksOf, momentOf, readAt, saidOf } from "../../attnviz/viewer/browser/views/learns.js";

const WORDS = ["the", "cat", "sat"],
  LEARNING = {
    asking: 2,
    rows: [[[0.4, 0.3, 0.3]], [[0.7, 0.2, 0.1]], [[0.6, 0.3, 0.1]], [[0.05, 0.9, 0.05]], [[0, 1, 0]]],
    answers: ["dog", "dog", "cat", "cat", "cat"],
    shares: [0.1, 0.4, 0.11, 0.6, 0.97],
    right: "cat",
    rightShares: [0.05, 0.2, 0.11, 0.6, 0.97],
  },
  TASK = { isOpen: false, nAnswers: 10, nLayers: 1 };

test("a moment is the weights of a head and the probability of the answer, at a checkpoint", () => {
  assert.deepEqual(momentOf(LEARNING, 0, 1), { place: 1, weights: [0.7, 0.2, 0.1], share: 0.4 });
});

test("Play looks where the word with most begins to lose, and where another has it", () => {
  assert.deepEqual([...looksOf(LEARNING.rows, 0)], [1, 3]);
  assert.deepEqual([...looksOf([[[0.4, 0.3, 0.3]], [[0.3, 0.4, 0.3]]], 0)], [], "nothing has most");
});

test("a wrong answer has the right one beside it, a right one the word looked at, and one no better than a guess is luck", () => {
  const said = (place, task = TASK) => saidOf(readAt(LEARNING, 0, place, WORDS), "Then", task);
  assert.equal(said(0), "Then: 10\u00a0% sure. Right would be “cat” (5\u00a0%).");
  assert.equal(said(2), "Then: 11\u00a0% sure. Right by luck: a guess among 10.");
  assert.equal(said(2, { ...TASK, nAnswers: 20 }), "Then: 11\u00a0% sure. “sat” takes most from “the”.");
  assert.equal(said(4), "Then: 97\u00a0% sure. “sat” takes most from “cat”.");
  assert.equal(said(4, { ...TASK, nLayers: 2 }), "Then: 97\u00a0% sure. “sat” takes most from “cat” in layer 2.");
  assert.equal(said(4, { ...TASK, isOpen: true }), "Then: 97\u00a0% sure.");
});

test("arcs leave in an order in which none cross", () => {
  const count = 6;
  for (let asking = 0; asking < count; asking += 1) {
    const order = fannedOut(count, asking);
    assert.deepEqual([...order].sort(), [0, 1, 2, 3, 4, 5]);
    for (const side of [key => key < asking, key => key > asking]) {
      // the farther a word, the farther out its arc leaves: to the right of a nearer one to the left, and to the left of one to the right
      const far = order.filter(side).map(key => Math.abs(key - asking));
      assert.deepEqual(
        far,
        [...far].sort((one, other) => (side(0) ? one - other : other - one)),
      );
    }
  }
});

test("words under 1 % share one line, which names as many as it has room for and counts the others", () => {
  const names = Array.from({ length: 20 }, (_, nth) => `w${nth}`);
  assert.equal(littleLine([]), "");
  const named = littleLine(names).match(/w\d+/g) ?? [];
  assert.equal(named.length + Number(littleLine(names).match(/(\d+) more$/)?.[1]), names.length);
  assert.deepEqual(littleLine(names.slice(0, 3)).match(/w\d+/g), names.slice(0, 3));
});
