import assert from "node:assert/strict";
import test from "node:test";
import { makeTemplates } from "../../attnviz/viewer/browser/shell/templates.js";

const sent = (name, parts = null) => ({
  tab: "t",
  pass: { template: { name, parts }, stages: { q: { limit: 2 } }, arrival: 1 },
});

test("a pass is whole with the parts of its template, which come once", () => {
  const templates = makeTemplates(),
    parts = { stages: { q: { title: "Queries", axes: [1] }, k: { title: "Keys" } }, steps: ["a"] };
  const whole = {
    tab: "t",
    pass: { stages: { q: { title: "Queries", axes: [1], limit: 2 }, k: { title: "Keys" } }, steps: ["a"], arrival: 1 },
  };
  assert.deepEqual(templates.whole(sent("one", parts)), whole);
  assert.deepEqual(templates.whole(sent("one")), whole);
  assert.deepEqual(parts.stages.q, { title: "Queries", axes: [1] }, "the parts stay as they came");
});

test("parameters come once for all words", () => {
  const templates = makeTemplates(),
    words = { name: "words", parts: { stages: { w_q: { title: "W" }, q: { title: "Q" } } } },
    numbers = { stages: { w_q: { limit: 1 }, q: { limit: 2, values: ["q"] } } },
    parameters = { name: "numbers", parts: { stages: { w_q: { values: ["w"] } } } };
  const whole = {
    stages: { w_q: { title: "W", limit: 1, values: ["w"] }, q: { title: "Q", limit: 2, values: ["q"] } },
  };
  assert.deepEqual(templates.whole({ pass: { template: words, parameters, ...numbers } }).pass, whole);
  assert.deepEqual(templates.names, ["words", "numbers"]);
  const other = { ...words, name: "other words" };
  const again = { template: other, parameters: { name: "numbers", parts: null }, ...numbers };
  assert.deepEqual(templates.whole({ pass: again }).pass, whole);
});

test("an answer without a pass is whole", () => {
  for (const answer of [{ tab: "t" }, { tab: "t", pass: null }])
    assert.deepEqual(makeTemplates().whole(answer), answer);
});

test("the server is told of the last templates that came; one that it was told of is here when its answer comes", () => {
  const templates = makeTemplates(),
    names = Array.from({ length: 40 }, (_, place) => `template ${place}`);
  for (const name of names) {
    const told = templates.names;
    templates.whole(sent(name, {}));
    for (const each of told.toReversed()) templates.whole(sent(each));
  }
  assert.equal(templates.names.length, 16);
  for (const name of names) templates.whole(sent(name, {}));
  assert.deepEqual(templates.names, names.slice(-16));
  assert.throws(() => templates.whole(sent(names[0])), /template 0/);
});

test("a template that is asked for again and again is told of, however many others come", () => {
  const templates = makeTemplates();
  templates.whole(sent("often", {}));
  for (let place = 0; place < 40; place += 1) {
    templates.whole(sent(`template ${place}`, {}));
    templates.whole(sent("often"));
    assert.equal(templates.names.at(-1), "often");
  }
});
