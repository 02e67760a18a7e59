import assert from "node:assert/strict";
import test from "node:test";
import { readPlace } from "../../attnviz/viewer/browser/model/address.js";
import { isSheet, standing, toCome, walkOf } from "../../attnviz/viewer/browser/model/state.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { ticksOf } from "../../attnviz/viewer/browser/model/route.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import { documentOf } from "./passes.mjs";

const PASS = readPass(documentOf());
const at = (step, parts = {}) => ({ ...readPlace(PASS, `?step=${step}&view=sheet`), ...parts });
const shown = where =>
  standing(PASS, where)
    .filter(({ isThere }) => isThere)
    .map(({ band: { cells, array } }) => cells.stage + array);
const whole = where =>
  standing(PASS, where)
    .filter(({ isWhole }) => isWhole)
    .map(({ band: { cells, array } }) => cells.stage + array);
const lit = where =>
  standing(PASS, where)
    .filter(({ isLit }) => isLit)
    .map(({ band: { cells, array } }) => cells.stage + array);
const multiplied = where =>
  standing(PASS, where)
    .filter(({ multiplies }) => multiplies)
    .map(({ band: { cells } }) => cells.stage);

function walked(from) {
  const places = [];
  for (let where = from; where; where = next(where)) places.push(where);
  return places;
}

function next(where) {
  const to = destinationOf(PASS, where, "on");
  return to && { ...where, ...to };
}

test("each step of the sheet has what it adds, what stood before it, and nothing of what follows", () => {
  assert.deepEqual(shown(at("qkv")), ["k"]);
  assert.deepEqual(shown(at("scaling")), ["k", "scores", "scaled"]);
  assert.deepEqual(shown(at("softmax")), ["k", "scores", "scaled", "masked", "attention#exp", "attention"]);
  assert.deepEqual([...toCome(PASS, at("scaling"))].sort(), ["attention", "heads", "masked", "v"]);
  assert.deepEqual(shown(at("output")), ["attention", "w_o", "output"], "what comes of the words is a page of its own");
  for (const step of walkOf(PASS, at("scores")).slice(1)) assert.deepEqual(lit(at(step)).length, 1, step);
});

test("numbers are multiplied before their sum is there", () => {
  assert.deepEqual([multiplied(at("qkv")), multiplied(at("scores")), multiplied(at("scaling"))], [[], ["k"], []]);
  assert.deepEqual([shown(at("scores", { reveal: 0 })), shown(at("scores"))], [["k"], ["k", "scores"]]);
  assert.deepEqual(multiplied(at("scores", { reveal: 0 })), ["k"]);
  const values = at("weighted-sum", { reveal: 0 });
  assert.deepEqual(
    [shown(values).at(-1), whole(values).at(-1), whole(at("weighted-sum")).at(-1)],
    ["v", "attention", "v"],
  );
  assert.deepEqual(
    [shown(at("output", { reveal: 0 })), multiplied(at("output", { reveal: 0 }))],
    [["attention", "w_o"], ["w_o"]],
  );
});

test("who presents goes from band to band, and back the same way", () => {
  const every = { route: "every-step" },
    first = { ...at("question", every), ...destinationOf(PASS, at("question", every), "present") };
  assert.deepEqual([first.step, first.reveal, first.view], ["question", null, "sheet"]);
  const places = walked(first),
    said = places.map(({ step, reveal }) => `${step} ${reveal}`);
  assert.deepEqual(said, [
    "question null",
    "qkv null",
    "scores 0",
    "scores null",
    "scaling null",
    "mask null",
    "softmax 0",
    "softmax null",
    "weighted-sum 0",
    "weighted-sum null",
    "concatenation null",
    "output 0",
    "output null",
  ]);
  assert.deepEqual(
    new Set(places.map(where => JSON.stringify([shown(where), whole(where), multiplied(where)]))).size,
    places.length,
    "each press shows something",
  );
  const back = [places.at(-1)];
  for (
    let to = destinationOf(PASS, back.at(-1), "back");
    to && back.length < 20;
    to = destinationOf(PASS, back.at(-1), "back")
  )
    back.push({ ...back.at(-1), ...to });
  assert.deepEqual(
    back.slice(0, places.length).map(({ step, reveal }) => `${step} ${reveal}`),
    [...said].reverse(),
  );
});

test("the short route asks, compares, shares, collects and answers", () => {
  const said = from => walked({ ...at(from), present: true }).map(({ step, reveal }) => `${step} ${reveal}`);
  assert.deepEqual(said("question"), [
    "question null",
    "scores null",
    "softmax null",
    "weighted-sum null",
    "output null",
  ]);
  assert.deepEqual(said("mask").slice(1), ["softmax null", "weighted-sum null", "output null"], "from wherever one is");
});

test("Play goes the same way, from where one is to the end, and from the end once more", () => {
  const played = where => ticksOf(PASS, where).map(({ step, reveal }) => `${step} ${reveal}`);
  assert.deepEqual(played(at("mask")).slice(0, 2), ["mask null", "softmax 0"]);
  assert.deepEqual(played(at("output")), played(at("qkv")));
  assert.deepEqual(
    played(at("qkv")),
    walked({ ...at("qkv"), present: true, route: "every-step" }).map(({ step, reveal }) => `${step} ${reveal}`),
  );
});

test("a key leads from one view to the other, and a step without bands is shown for all words", () => {
  assert.equal(destinationOf(PASS, at("scores"), "view").view, "matrices");
  assert.equal(destinationOf(PASS, at("scores", { view: "matrices" }), "view").view, "sheet");
  assert.deepEqual(
    ["question", "tokens", "scores", "whole-pass"].map(step => isSheet(PASS, at(step))),
    [false, false, true, false],
  );
  assert.equal(destinationOf(PASS, at("tokens"), "on").step, "qkv");
  assert.equal(destinationOf(PASS, at("tokens"), "back").step, "question");
});
