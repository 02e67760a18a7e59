import assert from "node:assert/strict";
import test from "node:test";
import { readPlace } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import {
  ORDERS,
  QUESTIONS,
  atCell,
  atHead,
  atStep,
  besideStep,
  carried,
  fitted,
  focusOf,
  unfolded,
} from "../../attnviz/viewer/browser/model/state.js";
import { documentOf } from "./passes.mjs";

const PASS = readPass(documentOf());
const FIRST = readPlace(PASS, "");
const at = parts => ({ ...FIRST, ...parts });
const spoken = (...words) => ({ query: words, key: words, shared: true });
const addressIn = where => PASS.address(...Object.values(focusOf(PASS, where)));

test("a step is about the last of its stages, or the one that was picked among what it shows", () => {
  assert.equal(addressIn(at({ step: "scores" })), "scores[0,1,2]");
  assert.equal(addressIn(at({ step: "scores", picked: "q" })), "q[0,1,0]");
  assert.equal(addressIn(at({ step: "scores", picked: "output" })), "scores[0,1,2]");
  assert.equal(addressIn(at({ step: "whole-pass" })), "output[1,0]");
});

test("every cell that is picked is in focus, in a step that shows it, with the coordinates it lacks kept", () => {
  for (const { step } of PASS.document.map.columns) {
    for (const [name, { shape }] of PASS.stages) {
      const where = at({ step, cell: { head: 1, query: 3, key: 4, feature: 2, dimension: 6 }, trail: ["output[1,0]"] });
      const index = shape.map(length => length - 1);
      const there = { ...where, ...atCell(PASS, where, name, index) };
      assert.deepEqual(focusOf(PASS, there), { name, index }, `${name} from ${step}`);
      assert.deepEqual(PASS.indexAt(name, there.cell), index);
      const changed = PASS.selectionAt(name, index, {});
      for (const [each, place] of Object.entries(there.cell)) assert.equal(place, changed[each] ?? where.cell[each]);
    }
  }
});

test("unfolding goes back cell by cell to a given number, and the trail stays one", () => {
  let where = at({ step: "output" });
  for (let cells = PASS.cellsOf("output", [1, 0]); cells.length; cells = PASS.cellsOf(cells[0].name, cells[0].index)) {
    where = { ...where, ...unfolded(PASS, where, cells[0].name, cells[0].index) };
    assert.deepEqual(focusOf(PASS, where), cells[0]);
    assert.deepEqual(PASS.indexAt(cells[0].name, where.cell), cells[0].index, "the pictures show it");
    assert.deepEqual(fitted(PASS, where), where);
  }
  assert.equal(where.trail[0], "output[1,0]");
  assert.equal(PASS.stages.get(focusOf(PASS, where).name).rule, null);
});

test("with other words one looks at what is seen first of them, unless another word was picked", () => {
  const { document } = PASS,
    start = { ...document.starts[0], query: 2 };
  const same = { ...document, starts: [start] },
    other = { ...same, words: spoken("owls", "see", "mice") };
  const picked = at({ cell: { ...FIRST.cell, key: 3 } });
  assert.deepEqual(carried({ document, where: FIRST }, other), { ...FIRST, cell: start });
  assert.deepEqual(carried({ document, where: at({ cell: { ...FIRST.cell, feature: 1 } }) }, other), {
    ...FIRST,
    cell: start,
  });
  assert.deepEqual(
    carried({ document, where: FIRST }, same),
    { ...FIRST, cell: { ...FIRST.cell, query: 2 } },
    "of the same words too",
  );
  for (const now of [same, other]) assert.deepEqual(carried({ document, where: picked }, now), picked);
});

test("what is selected follows its words, each as often as it was there before, where both still are", () => {
  const document = { ...PASS.document, words: spoken("the", "dog", "bites", "the (2)", "man") };
  const moved = (query, key, ...words) => {
    const where = at({ cell: { ...FIRST.cell, head: 1, feature: 3, query, key }, trail: ["scores[0,1,2]"] });
    const { cell, trail } = carried({ document, where }, { ...document, words: spoken(...words) });
    assert.deepEqual({ ...where.cell, query: cell.query, key: cell.key }, cell, "all but the words stays");
    assert.equal(
      trail.length,
      cell.query === query && cell.key === key ? 1 : 0,
      "what was unfolded was of other words",
    );
    return [cell.query, cell.key];
  };
  assert.deepEqual(moved(1, 2, "the", "man", "bites", "the (2)", "dog"), [4, 2], "what was seen first, too");
  assert.deepEqual(moved(2, 4, "man", "bites", "dog"), [1, 0]);
  assert.deepEqual(moved(3, 4, "man", "the", "the (2)"), [2, 0]);
  assert.deepEqual(moved(3, 4, "man", "bites", "the"), [3, 4], "there is no second any more");
  assert.deepEqual(moved(2, 4, "man", "looks", "up"), [2, 4]);
});

test("queries are sought among queries, keys among keys", () => {
  const of = (...keys) => ({ ...PASS.document, words: { query: ["the", "cat"], key: keys, shared: false } });
  const where = at({ cell: { ...FIRST.cell, query: 0, key: 1 } });
  assert.deepEqual(carried({ document: of("le", "chat"), where }, of("chat", "le", "the")).cell, {
    ...where.cell,
    key: 0,
  });
});

test("of a model that is asked something one looks at what is seen first, wherever the words are now", () => {
  const document = { ...PASS.document, model: {}, words: spoken("a", "b", "c") },
    now = { ...document, words: spoken("c", "b", "a") };
  assert.deepEqual(carried({ document, where: FIRST }, now), FIRST);
  const picked = at({ cell: { ...FIRST.cell, query: 0 } });
  assert.deepEqual(carried({ document, where: picked }, now).cell, { ...picked.cell, query: 2, key: 0 });
});

test("a trail is kept as far as each cell was computed from the next", () => {
  const trailOf = (...trail) => fitted(PASS, at({ trail })).trail;
  assert.deepEqual(trailOf("output[1,0]", "concat[1,5]", "heads[1,1,1]"), [
    "output[1,0]",
    "concat[1,5]",
    "heads[1,1,1]",
  ]);
  assert.deepEqual(trailOf("output[1,0]", "concat[2,5]", "heads[1,2,1]"), ["output[1,0]"]);
  assert.deepEqual(trailOf("output[1,99]", "concat[1,5]"), []);
  assert.deepEqual(trailOf("nonsense"), []);
});

test("a place in one pass is a place in any other", () => {
  const small = readPass(documentOf({ nWords: 1, dModel: 2, nHeads: 1 }));
  const where = fitted(
    small,
    at({
      step: "output",
      cell: { head: 1, query: 5, key: 5, feature: 3, dimension: 7 },
      trail: ["output[5,7]"],
      picked: "gone",
    }),
  );
  assert.deepEqual(where.cell, { head: 0, query: 0, key: 0, feature: 1, dimension: 1 });
  assert.deepEqual([where.trail, where.picked], [[], ""]);
});

test("whose slopes are asked for stays in focus on other steps; a trail ends there else", () => {
  const where = fitted(PASS, at({ step: "output", ask: "slope" }));
  const there = { ...where, ...atStep(PASS, where, "softmax") };
  assert.equal(addressIn(there), "output[1,0]");
  assert.equal(addressIn({ ...there, ...atHead(PASS, there, 1) }), "output[1,0]");
  const other = { ...at({ trail: ["output[1,0]"] }), ...atStep(PASS, at({ trail: ["output[1,0]"] }), "softmax") };
  assert.equal(addressIn(other), "attention[0,1,2]");
});

test("in the whole pass every number can be picked where one is", () => {
  for (const name of PASS.stages.keys()) {
    const index = PASS.indexAt(name, FIRST.cell);
    assert.equal(atCell(PASS, at({ step: "whole-pass" }), name, index).step, undefined);
  }
});

test("another head is that of the number in focus too, also after unfolding", () => {
  for (const trail of [[], ["scores[0,1,2]", "q[0,1,3]"]]) {
    const where = at({ step: "scores", trail });
    assert.equal(addressIn({ ...where, ...atHead(PASS, where, 1) }), "scores[1,1,2]");
  }
});

test("whatever is asked, in whatever order, stays so in another pass; what there is not becomes the first", () => {
  for (const ask of QUESTIONS)
    for (const order of ORDERS) {
      const trail = ask === QUESTIONS[1] ? ["attention[0,1,2]"] : []; // the slopes of one number, which is held
      assert.deepEqual(fitted(PASS, at({ ask, order })), at({ ask, order, trail }));
    }
  assert.deepEqual(fitted(PASS, at({ ask: "why", order: "random" })), FIRST);
});

test("steps and heads follow each other; a step that the pass lacks is passed over both ways", () => {
  const document = documentOf();
  const fewer = readPass({
    ...document,
    steps: document.steps.filter(({ id }) => id !== "positions" && id !== "mask"),
  });
  for (const pass of [PASS, fewer]) {
    const ids = pass.document.steps.map(({ id }) => id);
    assert.deepEqual(
      ids.map(step => besideStep(pass, at({ step }), 1)),
      [...ids.slice(1), null],
    );
    assert.deepEqual(
      ids.map(step => besideStep(pass, at({ step }), -1)),
      [null, ...ids.slice(0, -1)],
    );
  }
  assert.equal(atHead(PASS, FIRST, 1).cell.head, 1);
  assert.equal(atHead(PASS, FIRST, -1).cell.head, 1);
  assert.equal(atHead(PASS, at({ cell: atHead(PASS, FIRST, 1).cell }), 1).cell.head, 0);
});
