import assert from "node:assert/strict";
import test from "node:test";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { arraysOf, documentOf, encoded } from "./passes.mjs";

const OPTIONS = { nWords: 4, dModel: 6, nHeads: 3, sees: (query, key) => query !== 1 && key <= query };
const ARRAYS = arraysOf(OPTIONS);
const PASS = readPass(documentOf(OPTIONS));
const SELECTION = { head: 2, query: 3, key: 1, feature: 0, dimension: 4 };
const text = (pass, ...cell) =>
  pass
    .story(...cell)
    .map(piece => piece.text)
    .join("");

// Every index of nested lists, and the number at it.
function* numbersIn(values, index = []) {
  if (!Array.isArray(values)) yield [index, values];
  else for (const [place, part] of values.entries()) yield* numbersIn(part, [...index, place]);
}

test("every number is there bit for bit", () => {
  for (const [name, stage] of PASS.stages) {
    let n = 0;
    for (const [index, value] of numbersIn(ARRAYS[name])) {
      assert.ok(Object.is(PASS.number(name, index), value), PASS.address(name, index));
      assert.deepEqual([...PASS.row(name, index)].at(index.at(-1)), value);
      n += 1;
    }
    assert.equal(n, stage.length);
  }
});

test("a cell is hidden where its key is, in masked and in attention alone", () => {
  for (const [[head, query, key]] of numbersIn(ARRAYS.scores)) {
    const hidden = !OPTIONS.sees(query, key);
    for (const name of ["masked", "attention"]) assert.equal(PASS.isHidden(name, [head, query, key]), hidden);
    assert.equal(PASS.isHidden("scores", [head, query, key]), false);
    assert.equal(PASS.isUnseeing("attention", { ...SELECTION, head, query }), query === 1);
  }
});

test("a head that was not sent has no numbers and no terms, and says nothing", () => {
  const document = documentOf(OPTIONS);
  for (const name of ["masked", "attention"]) document.stages[name].values[1] = null;
  for (const array of Object.values(document.stages.attention.rule.arrays)) array.values[1] = null;
  document.stages.attention.stories = [["", "A share."]];
  const pass = readPass(document);
  assert.equal(pass.number("attention", [1, 3, 0]), undefined);
  assert.equal(pass.terms("attention", [1, 3, 0]), null);
  assert.deepEqual(pass.cellsOf("attention", [1, 3, 0]), []);
  assert.deepEqual(pass.story("attention", [1, 3, 0], SELECTION), []);
  const most = ["", "In {head}, “{query}” took most from {attention:best}, {attention:most}."],
    who = ["", "what “{query}” takes"];
  const told = (...stories) => pass.selectionStory({ of: "attention", stories }, { ...SELECTION, head: 1 });
  assert.deepEqual(told(most, ["unseeing", "It saw no key."]), []);
  assert.equal(
    told(most, who)
      .map(piece => piece.text)
      .join(""),
    "what “on” takes",
  );
  assert.equal(pass.number("attention", [2, 3, 0]), ARRAYS.attention[2][3][0]);
});

test("the numbers that a rule names are those of a cell's lines", () => {
  assert.deepEqual([...PASS.named("attention", "#exp", [2, 3, 1])], ARRAYS.exp[2][3]);
});

test("a pass with other numbers says the same of its cells", () => {
  const zeros = { attention: new Float64Array(48), output: encoded(ARRAYS.x, { perHead: false }) };
  const other = PASS.with(zeros);
  assert.equal(other.number("attention", [2, 3, 1]), 0);
  assert.equal(other.number("output", [3, 4]), ARRAYS.x[3][4]);
  assert.equal(other.number("v", [2, 3, 1]), ARRAYS.v[2][3][1]);
  assert.deepEqual(other.terms("attention", [2, 3, 1]), PASS.terms("attention", [2, 3, 1]));
  assert.equal(text(other, "attention", [2, 3, 1], SELECTION), text(PASS, "attention", [2, 3, 1], SELECTION));
  assert.ok(other.isHidden("attention", [2, 0, 1]));
});

test("for a step that a pass lacks stands the one that the document names, for what is none the first", () => {
  const document = documentOf(OPTIONS);
  document.nearest.qkv = "scores";
  const pass = readPass(document);
  assert.deepEqual(["tokens", "qkv", "nonsense", "constructor"].map(pass.nearestStep), [
    "tokens",
    "scores",
    "question",
    "question",
  ]);
  assert.equal(pass.stepOf("w_q").id, "scores");
});

test("the first story that holds is told, and its numbers are cells", () => {
  const stories = [
    ["set", "set"],
    ["unseeing", "{query} sees nothing"],
    ["hidden", "{key} is hidden"],
    ["", "{scores:rank}: {scores}"],
  ];
  const document = documentOf(OPTIONS);
  Object.assign(document.stages.attention, { stories, overridden: [[0, 1]] });
  const pass = readPass(document);
  assert.equal(text(pass, "attention", [0, 0, 0], SELECTION), "set");
  assert.equal(text(pass, "attention", [0, 1, 0], SELECTION), "cat sees nothing");
  assert.equal(text(pass, "attention", [0, 2, 3], SELECTION), "on is hidden");
  const [, , number] = pass.story("attention", [0, 3, 3], SELECTION);
  assert.deepEqual(number.cell, { name: "scores", index: [0, 3, 3] });
});

test("a story whose slots can't all be filled is passed over", () => {
  const document = documentOf(OPTIONS);
  const unfillable = ["{nothing}", "{value:rank}", "{nothing:rank}", "{value:part}"];
  document.stages.attention.stories = [...unfillable.map(each => ["", each]), ["", "“{query}” {{value:percent}}"]];
  document.stages.attention.overridden = [[0, 1]];
  assert.equal(text(readPass(document), "attention", [0, 0, 0], SELECTION), "“the” {100\u00a0%}");
});

test("numbers that differ by rounding alone are tied", () => {
  const document = documentOf({ nWords: 3, dModel: 2, nHeads: 1 });
  const row = [1, 1 + 1e-12, 0.5];
  document.stages.scores.values = encoded([row, row, row], { perHead: false });
  document.stages.scores.stories = [["", "{value:rank}"]];
  const ranks = [0, 1, 2].map(key => text(readPass(document), "scores", [0, 1, key], SELECTION));
  assert.deepEqual(ranks, ["tied for the highest", "tied for the highest", "the lowest"]);
});

test("the cells of a product have a times sign between them", () => {
  assert.equal(PASS.terms("scores", [0, 0, 0]).between, " × ");
  assert.equal(PASS.terms("masked", [0, 0, 0]).between, ", ");
});
