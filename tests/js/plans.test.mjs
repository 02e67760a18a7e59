import assert from "node:assert/strict";
import test from "node:test";
import { makePlans } from "../../attnviz/viewer/browser/talk/plans.js";

const sent = (name, parts = null) => ({
  tab: "t",
  pass: { plan: { name, parts }, stages: { q: { limit: 2 } }, arrival: 1 },
});

test("a pass is whole with the parts of its plan, which come once", () => {
  const plans = makePlans(),
    parts = { stages: { q: { title: "Queries", axes: [1] }, k: { title: "Keys" } }, steps: ["a"] };
  const whole = {
    tab: "t",
    pass: { stages: { q: { title: "Queries", axes: [1], limit: 2 }, k: { title: "Keys" } }, steps: ["a"], arrival: 1 },
  };
  assert.deepEqual(plans.whole(sent("one", parts)), whole);
  assert.deepEqual(plans.whole(sent("one")), whole);
  assert.deepEqual(parts.stages.q, { title: "Queries", axes: [1] }, "the parts stay as they came");
});

test("parameters come once for all words", () => {
  const plans = makePlans(),
    words = { name: "words", parts: { stages: { w_q: { title: "W" }, q: { title: "Q" } } } },
    numbers = { stages: { w_q: { limit: 1 }, q: { limit: 2, values: ["q"] } } },
    parameters = { name: "numbers", parts: { stages: { w_q: { values: ["w"] } } } };
  const whole = {
    stages: { w_q: { title: "W", limit: 1, values: ["w"] }, q: { title: "Q", limit: 2, values: ["q"] } },
  };
  assert.deepEqual(plans.whole({ pass: { plan: words, parameters, ...numbers } }).pass, whole);
  assert.deepEqual(plans.names, ["words", "numbers"]);
  const other = { ...words, name: "other words" };
  const again = { plan: other, parameters: { name: "numbers", parts: null }, ...numbers };
  assert.deepEqual(plans.whole({ pass: again }).pass, whole);
});

test("an answer without a pass is whole", () => {
  for (const answer of [{ tab: "t" }, { tab: "t", pass: null }]) assert.deepEqual(makePlans().whole(answer), answer);
});

test("the server is told of the last plans that came; one that it was told of is here when its answer comes", () => {
  const plans = makePlans(),
    names = Array.from({ length: 40 }, (_, place) => `plan ${place}`);
  for (const name of names) {
    const told = plans.names;
    plans.whole(sent(name, {}));
    for (const each of told.toReversed()) plans.whole(sent(each));
  }
  assert.equal(plans.names.length, 16);
  for (const name of names) plans.whole(sent(name, {}));
  assert.deepEqual(plans.names, names.slice(-16));
  assert.throws(() => plans.whole(sent(names[0])), /plan 0/);
});

test("a plan that is asked for again and again is told of, however many others come", () => {
  const plans = makePlans();
  plans.whole(sent("often", {}));
  for (let place = 0; place < 40; place += 1) {
    plans.whole(sent(`plan ${place}`, {}));
    plans.whole(sent("often"));
    assert.equal(plans.names.at(-1), "often");
  }
});
