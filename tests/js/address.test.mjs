import assert from "node:assert/strict";
import test from "node:test";
import { isSame, mended, readPlace, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { stepsOf } from "../../attnviz/viewer/browser/model/state.js";
import { documentOf } from "./passes.mjs";

const PASS = readPass(documentOf());
const FIRST = readPlace(PASS, "");
const PLACES = [
  FIRST,
  { ...FIRST, step: "softmax", picked: "attention", present: true, reveal: 3 },
  {
    ...FIRST,
    step: "output",
    cell: { head: 1, query: 5, key: 0, feature: 3, dimension: 7, answer: 0, neuron: 0 },
    reveal: 0,
  },
  { ...FIRST, step: "whole-pass", trail: ["output[1,0]", "concat[1,5]"], ask: "slope", order: "index" },
  { ...FIRST, ask: "whatif" },
  { ...FIRST, step: "scores", view: "sheet", reveal: 0 },
  { ...FIRST, step: "scores", view: "sheet", present: true },
  { ...FIRST, step: "output", cell: { ...FIRST.cell, answer: 3 } },
];

test("an address gives back the place that was written into it, and keeps what belongs to the server", () => {
  for (const place of PLACES) {
    for (const search of ["", "?sentence=the+cat%26sat&heads=4", "?step=mask&trail=q[0,1,2]&reveal=9&seed=3"]) {
      const written = searchAt(PASS, place, search);
      assert.deepEqual(readPlace(PASS, written), place);
      for (const [name, text] of [
        ["sentence", "the cat&sat"],
        ["heads", "4"],
        ["seed", "3"],
      ]) {
        assert.equal(new URLSearchParams(written).get(name), search.includes(name) ? text : null, written);
      }
      assert.equal(searchAt(PASS, place, written), written);
    }
  }
  assert.equal(searchAt(PASS, FIRST, "?step=mask"), "");
  assert.equal(searchAt(PASS, PLACES[2], ""), "?step=output&cell=2.6.1.4.8&reveal=0");
  assert.equal(searchAt(PASS, PLACES.at(-1), ""), "?step=output&cell=1.2.3.1.1.4");
  assert.equal(searchAt(PASS, PLACES[3], ""), "?step=whole-pass&trail=output[1,0]<concat[1,5]&ask=slope&order=index");
});

test("whatever an address holds, it is read as a place of the pass", () => {
  for (const text of [
    "",
    "softmax",
    "99999",
    "1.2.3",
    "0.1.1.1.1",
    "1.1.1.1.1.0",
    "1.1.1.1.1.1.1",
    "9.9.9.9.9",
    "-1",
    "1e3",
    "%00",
    "null",
    "what IF",
    "[]",
    "a<b<c",
  ]) {
    const search = `?${["step", "cell", "picked", "trail", "ask", "order", "view", "present", "reveal"].map(name => `${name}=${text}`).join("&")}`;
    const { step, cell, reveal } = readPlace(PASS, search);
    assert.ok(stepsOf(PASS).includes(step), text);
    assert.deepEqual(PASS.within(cell), cell, text);
    assert.ok(
      Object.values(cell).every(place => place >= 0),
      text,
    );
    assert.ok(reveal === null || Number.isInteger(reveal), text);
  }
});

test("a step is found by its id and by its title, in upper or lower case, a question likewise", () => {
  for (const text of ["softmax", "Softmax", "SOFTMAX"]) assert.equal(readPlace(PASS, `?step=${text}`).step, "softmax");
  assert.equal(readPlace(PASS, "?step=q, k, v").step, "qkv");
  assert.equal(readPlace(PASS, "?ask=WhatIf").ask, "whatif");
});

test("what addresses of before say of how one looks is read as the id that stands for it now", () => {
  for (const [question, id] of [
    ["what made it", "made"],
    ["What+would+move+it", "slope"],
    ["what if", "whatif"],
  ])
    assert.equal(readPlace(PASS, `?ask=${question}`).ask, id);
  assert.equal(readPlace(PASS, "?order=large ones first").order, "large");
  assert.equal(readPlace(PASS, "?order=in order").order, "index");
  assert.equal(readPlace(PASS, "?route=every+step").route, "every-step");
});

test("what is mended on arrival is mended in the address, and nothing else is touched", () => {
  assert.equal(mended("", { model: "who-is-it" }), "?model=who-is-it");
  assert.equal(mended("?embed=true&d_model=999&stp=1", { d_model: "128", stp: null }), "?embed=true&d_model=128");
  assert.equal(mended("?sentence=a%20b", { sentence: "a b" }), "?sentence=a%20b");
  assert.equal(mended("?sentence=a%20b", {}), "?sentence=a%20b");
});

test("addresses say the same in any order, and whatever Streamlit adds for itself", () => {
  assert.ok(isSame("sentence=a+b&seed=2", "?seed=2&sentence=a%20b&embed=true&embed_options=dark_theme"));
  assert.ok(!isSame("seed=2", "?seed=3"));
  assert.ok(!isSame("", "?seed=3"));
});
