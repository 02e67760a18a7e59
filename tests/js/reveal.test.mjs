import assert from "node:assert/strict";
import test from "node:test";
import { readPlace, resultStages, revealAt, revealsOf } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { ticksOf } from "../../attnviz/viewer/browser/model/route.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import { stepsOf } from "../../attnviz/viewer/browser/model/state.js";
import { documentOf, filled } from "./passes.mjs";

const PASSES = [{}, { nWords: 1, dModel: 2, nHeads: 1 }, { nWords: 2, dModel: 4, nHeads: 4 }].map(options =>
  readPass(documentOf(options)),
);
const PASS = PASSES[0];
const at = (step, parts = {}, pass = PASS) => ({
  ...readPlace(pass, `?step=${step}`),
  view: "matrices",
  present: true,
  ...parts,
});

function shownAt(pass, where, part = null) {
  const { isShown } = revealAt(pass, where, part);
  return resultStages(pass, where)
    .flatMap(name => filled(pass.stages.get(name).shape, (...index) => isShown(name, index)).flat(Infinity))
    .filter(Boolean).length;
}

test("the reveals of a step", () => {
  assert.deepEqual(revealsOf(PASS, at("scores")), ["nothing", "lit", "products", "sum", "next", "row"]);
  assert.deepEqual(revealsOf(PASS, at("tokens")), ["nothing", "sum", "next", "row"]);
  assert.deepEqual(revealsOf(PASS, at("question")), []);
});

test("how many cells each reveal shows: none, the one, the next, its row, all", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, null].map(reveal => shownAt(PASS, at("scores", { reveal }))),
    [0, 0, 0, 1, 2, 6, 72],
  );
  const { isShown } = revealAt(
    PASS,
    at("scores", { reveal: 4, cell: { head: 1, query: 2, key: 5, feature: 0, dimension: 0 } }),
  );
  assert.ok(isShown("scores", [1, 2, 5]) && isShown("scores", [1, 2, 0]) && !isShown("scores", [1, 2, 1]));
  assert.ok(isShown("q", [0, 0, 0]), "what the step is computed from is always there");
});

test("no term is listed before the products, then as many as Play has come to, then all", () => {
  const listed = (reveal, part = null) => revealAt(PASS, at("scores", { reveal }), part).lines;
  assert.deepEqual(
    [0, 1].map(reveal => listed(reveal)),
    [0, 0],
  );
  assert.deepEqual(
    [1, 2, 3, 4].map(part => listed(2, part)),
    [1, 2, 3, 4],
  );
  assert.deepEqual(
    [2, 3, 4, 5, null].map(reveal => listed(reveal)),
    Array(5).fill(null),
  );
});

test("a remote goes through every reveal of every step and back the same way", () => {
  for (const pass of PASSES) {
    const seen = [];
    for (
      let where = at(stepsOf(pass)[0], {}, pass), parts = {};
      parts;
      parts = destinationOf(pass, where, "on"), where = { ...where, ...parts }
    ) {
      const last = seen.at(-1);
      if (last?.step === where.step) assert.ok(shownAt(pass, where) >= shownAt(pass, last), "what is there stays");
      seen.push(where);
    }
    assert.deepEqual([...new Set(seen.map(({ step }) => step))], stepsOf(pass));
    assert.equal(seen.at(-1).reveal, null);
    for (
      let where = seen.at(-1), parts = {};
      parts;
      parts = destinationOf(pass, where, "back"), where = { ...where, ...parts }
    ) {
      assert.deepEqual(where, seen.pop());
    }
    assert.deepEqual(seen, []);
  }
});

test("without presenting a key is a step", () => {
  assert.equal(destinationOf(PASS, at("scores", { present: false }), "on").step, "scaling");
  assert.equal(destinationOf(PASS, at("scores", { present: false }), "back").step, "qkv");
  assert.equal(destinationOf(PASS, at("question", { present: false }), "back"), null);
  assert.equal(destinationOf(PASS, at("scores", { present: false }), "leave"), null);
});

test("presenting begins with nothing and leaves all of it", () => {
  assert.deepEqual(destinationOf(PASS, at("scores", { present: false }), "present"), {
    present: true,
    view: "sheet",
    step: "scores",
    reveal: 0,
  });
  for (const command of ["present", "leave"])
    assert.deepEqual(destinationOf(PASS, at("scores", { reveal: 2 }), command), { present: false, reveal: null });
});

test("Play goes through the same reveals, product by product, cell by cell, row by row, and takes nothing back", () => {
  for (const pass of PASSES) {
    for (const step of stepsOf(pass)) {
      const where = at(step, {}, pass),
        ticks = ticksOf(pass, where);
      const counts = ticks.map(({ reveal, part }) => shownAt(pass, { ...where, reveal }, part));
      assert.deepEqual(
        counts,
        [...counts].sort((one, other) => one - other),
        step,
      );
      assert.deepEqual([...new Set(ticks.map(({ reveal }) => reveal))], [...revealsOf(pass, where).keys(), null]);
      assert.deepEqual({ ...ticks.at(-1), ms: 0 }, { reveal: null, part: null, ms: 0 });
      assert.ok(ticks.length < 90);
    }
  }
  const products = ticksOf(PASS, at("scores")).filter(({ reveal }) => reveal === 2);
  assert.deepEqual(
    products.map(({ part }) => part),
    [1, 2, 3, 4],
  );
});
