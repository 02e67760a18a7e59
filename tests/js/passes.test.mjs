import assert from "node:assert/strict";
import test from "node:test";
import { runsAt } from "../../attnviz/viewer/browser/dom/runs.js";
import { readWhere, revealsOf, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { lookAt } from "../../attnviz/viewer/browser/model/looks.js";
import { pathTo } from "../../attnviz/viewer/browser/views/diagram.js";
import { placing, readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import { ticksOf } from "../../attnviz/viewer/browser/model/route.js";
import { numbersOf } from "../../attnviz/viewer/browser/model/rule.js";
import { atCell, atStep, besideStep, fitted, focusOf, stepAt } from "../../attnviz/viewer/browser/model/state.js";
import { stepsOf, unfolded } from "../../attnviz/viewer/browser/model/state.js";
import { arraysOf, documentOf, encoded, filled, layeredArraysOf, layeredDocumentOf } from "./documents.mjs";

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
  assert.deepEqual(
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
  const nearest = ["tokens", "qkv", "nonsense", "constructor"].map(pass.nearestStep).join(" ");
  assert.equal(nearest, "tokens scores question question");
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

const axis = (name, labels, ...coordinates) => ({ name, labels, coordinates });
const QUERIES = axis("query", ["the", "cat"], ["query", 2]);
const BANDS = axis(
  "heads * d_v",
  Array.from({ length: 15 }, (_, i) => String(i + 1)),
  ["head", 3],
  ["feature", 5],
);
const HEADS = axis("head", ["head 1", "head 2", "head 3"], ["head", 3]);
const STAGES = new Map(
  Object.entries({
    concat: { symbol: "H", axes: [QUERIES, BANDS], shape: [2, 15] },
    scores: { symbol: "S_i", axes: [HEADS, QUERIES, axis("key", ["a", "b"], ["key", 2])], shape: [3, 2, 2] },
    x: { symbol: "X", axes: [axis("token", ["the", "cat", "sat"], ["query", 3])], shape: [3] },
  }),
);
const { address, axisOf, indexAt, nameOf, read, selectionAt, symbol, within } = placing(STAGES);

test("an address names a cell that is there", () => {
  assert.deepEqual(read("concat[1,14]"), { name: "concat", index: [1, 14] });
  assert.equal(address("scores", [2, 1, 0]), "scores[2,1,0]");
  const others = "concat[1,15] concat[1] concat[1,2,3] concat[-1,2] concat[1,2 toString[0] w_q[0,0] concat[1,]";
  for (const text of ["", ...others.split(" ")]) assert.equal(read(text), null);
});

test("a cell is called by the labels of its places", () => {
  assert.equal(nameOf("scores", [2, 1, 0]), "scores[head 3, cat, a]");
  assert.equal(nameOf("concat", [0, 6]), "concat[the, 7]");
});

test("words that objects inherit are words like others", () => {
  const words = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  const stage = { axes: [axis("token", words, ["query", 4]), axis("d_model", ["1"], ["dimension", 1])] };
  const named = placing(new Map([["embeddings", stage]])).nameOf;
  const actual = words.map((_, i) => named("embeddings", [i, 0]));
  assert.deepEqual(
    actual,
    words.map(word => `embeddings[${word}, 1]`),
  );
});

test("a place on an axis of two coordinates is that in nested lists, and leads back", () => {
  const before = { head: 9, query: 9, key: 9, feature: 9, dimension: 9 };
  let place = 0;
  for (let head = 0; head < 3; head += 1) {
    for (let feature = 0; feature < 5; feature += 1) {
      assert.deepEqual(indexAt("concat", { ...before, query: 1, head, feature }), [1, place]);
      assert.deepEqual(selectionAt("concat", [1, place], before), { ...before, query: 1, head, feature });
      place += 1;
    }
  }
  assert.equal(before.head, 9);
});

test("a selection is brought inside the longest axis, and lies at the end of a shorter one", () => {
  const far = { head: 7, query: 2, key: 99, feature: 5, dimension: 3 };
  assert.deepEqual(within(far), { head: 2, query: 2, key: 1, feature: 4, dimension: 3 });
  assert.deepEqual([indexAt("x", within(far)), indexAt("scores", within(far))], [[2], [2, 1, 1]]);
});

test("a symbol has the number of its head, in braces from ten on", () => {
  assert.equal([0, 8, 9, 127].map(head => symbol("scores", head)).join(" "), "S_1 S_9 S_{10} S_{128}");
  assert.equal(symbol("concat", 2), "H");
});

test("an axis is found by its name or its coordinate, of the stage itself first", () => {
  assert.equal(axisOf("query", "scores"), QUERIES);
  assert.equal(axisOf("query", "x").name, "token");
  assert.equal(axisOf("token", "concat").name, "token");
  assert.equal(axisOf("head", "concat"), HEADS);
  assert.equal(axisOf("feature", "concat"), undefined);
});

const SMALL = { nWords: 3, dModel: 4, nHeads: 2, sees: (query, key) => key <= query };

// Along every path from the cell, one after the other: slow, and without an order of stages.
function walked(pass, name, index, strength = 1, found = new Map()) {
  const at = pass.address(name, index);
  found.set(at, (found.get(at) ?? 0) + strength);
  const { lines } = pass.terms(name, index);
  const sizes = lines.map(({ value }) => Math.abs(value));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  lines.forEach(({ cells }, i) => {
    const share = lines.length === 1 ? 1 : sizes[i] / total;
    if (share > 0) for (const cell of cells) walked(pass, cell.name, cell.index, strength * share, found);
  });
  return found;
}

function near(one, other, where) {
  assert.ok(Math.abs(one - other) <= 1e-12, `${where}: ${one} is not ${other}`);
}

function check(pass, name, index) {
  const expected = walked(pass, name, index),
    parts = pass.parts(name, index);
  let n = 0;
  for (const [stage, strengths] of parts) {
    strengths.forEach((strength, flat) => {
      const { shape } = pass.stages.get(stage),
        strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((size, length) => size * length, 1)),
        at = pass.address(
          stage,
          shape.map((length, axis) => Math.floor(flat / strides[axis]) % length),
        );
      near(strength, expected.get(at) ?? 0, at);
      n += strength > 0 ? 1 : 0;
    });
  }
  assert.equal(n, [...expected.values()].filter(strength => strength > 0).length);
}

test("a number's part is the sum over all paths that lead to it", () => {
  const pass = readPass(documentOf(SMALL));
  check(pass, "output", [2, 1]);
  check(pass, "attention", [1, 2, 0]);
  check(pass, "contributions", [1, 1, 3]);
});

test("the path to a number leads through the largest terms, from the words on, and past stages that aren't drawn", () => {
  for (const pass of [readPass(documentOf()), LAYERED]) {
    const end = pass.document.map.columns.flatMap(({ stages }) => stages).at(-1),
      all = new Set(pass.stages.keys()),
      address = ({ name, index }) => pass.address(name, index),
      steps = pathTo(pass, { name: end, index: [1, 0] }, all),
      sizesOf = lines => lines.map(({ value }) => Math.abs(value));
    const reached = new Set([pass.address(end, [1, 0])]);
    for (const { from, to } of steps) {
      assert.ok(reached.has(address(to)), address(to));
      reached.add(address(from));
      const { lines } = pass.terms(to.name, to.index),
        isHere = ({ cells }) => cells.some(cell => address(cell) === address(from)),
        ofStage = lines.filter(({ cells }) => cells.some(({ name }) => name === from.name)),
        size = Math.max(...sizesOf(lines.filter(isHere)));
      assert.equal(size, Math.max(...sizesOf(ofStage)), `${address(from)} in ${address(to)}`);
      assert.ok(size >= 0.2 * Math.max(...sizesOf(lines)));
    }
    const first = pass.document.map.columns.flatMap(({ stages }) => stages)[0];
    assert.ok(
      steps.some(({ from }) => from.name === first),
      "it begins at the words",
    );
    const drawn = new Set([...all].filter(name => !name.startsWith("scaled"))),
      names = pathTo(pass, { name: end, index: [1, 0] }, drawn).flatMap(({ from, to }) => [from.name, to.name]);
    assert.ok(names.every(name => drawn.has(name)));
    assert.ok(
      names.some(name => name.startsWith("scores")),
      "what lies behind a stage that isn't drawn",
    );
  }
});

test("where every number is read once, the parts of a stage add up to 1", () => {
  const parts = readPass(documentOf()).parts("output", [3, 5]);
  for (const name of "output concat w_o heads attention v masked scaled scores q k w_v w_k".split(" "))
    near(
      parts.get(name).reduce((sum, strength) => sum + strength, 0),
      1,
      name,
    );
  assert.ok(!parts.has("contributions"));
});

test("a number set by hand was computed from nothing", () => {
  const document = documentOf(SMALL);
  document.stages.concat.overridden = [[4, 4]];
  const parts = readPass(document).parts("output", [1, 0]);
  assert.deepEqual([...parts.keys()].sort(), ["concat", "output", "w_o"]);
});

test("a sum of nothing but zeros has equal parts, and sums beyond float64 are divided too", () => {
  const sized = (a, b) => {
    const document = documentOf({ nWords: 1, dModel: 2, nHeads: 1 });
    const row = numbers => [Buffer.from(Float64Array.from(numbers).buffer).toString("base64")];
    document.stages.concat.values = row([a, b]);
    document.stages.w_o.values = row([1, 1, 1, 1]);
    return [...readPass(document).parts("output", [0, 0]).get("concat")];
  };
  assert.deepEqual(sized(0, 0), [0.5, 0.5]);
  assert.deepEqual(sized(1.5e308, -1.5e308), [0.5, 0.5]);
  assert.deepEqual(sized(1, 3), [0.25, 0.75]);
});

test("a number that hides a key is all of its sum", () => {
  const document = documentOf({ nWords: 1, dModel: 2, nHeads: 1 });
  document.stages.positions.values = [Buffer.from(Float64Array.from([-Infinity, 0]).buffer).toString("base64")];
  const parts = readPass(document).parts("x", [0, 0]);
  assert.deepEqual([...parts.get("positions"), ...parts.get("embeddings")], [1, 0, 0, 0]);
});

test("what is computed from a head that was not sent has no parts yet", () => {
  const document = documentOf(SMALL);
  for (const stage of ["attention", "v", "heads"]) document.stages[stage].values[1] = null;
  const parts = readPass(document).parts("output", [1, 0]);
  for (const strengths of parts.values()) assert.ok(!strengths.some(Number.isNaN));
  assert.equal(Math.max(...parts.get("attention").subarray(9)), 0);
});

test("a chunk of one number stands for as many as it has room for, one that was not sent for none", () => {
  const [once, each] = encoded([[2], [3, -0, 5]], { perHead: true });
  const numbers = numbersOf([once, null, each], 9);
  assert.deepEqual([...numbers], [2, 2, 2, NaN, NaN, NaN, 3, -0, 5]);
});

test("numbers in 32 bits are read, too", () => {
  const chunk = `~${Buffer.from(new Float32Array([0.1, -Infinity, 3]).buffer).toString("base64")}`;
  assert.deepEqual([...numbersOf([null, chunk], 6)], [NaN, NaN, NaN, Math.fround(0.1), -Infinity, 3]);
});

const values = (document, name) => readPass(document).numbers(name);
const chunks = numbers => encoded([...numbers], { perHead: false });

test("slopes are shown once they are those of the number that was asked about, and are called slopes", () => {
  const document = documentOf();
  const slopes = values(document, "attention").map((_, place) => place / 10 - 3);
  const ofOutput = { of: "output[1,0]", text: "", values: { attention: chunks(slopes) } },
    pass = readPass({ ...document, slopes: ofOutput });
  const where = { ...readWhere(pass, "?step=output"), ask: "slope" };
  const look = lookAt(pass, where);
  assert.equal(look.kind, "slopes");
  assert.equal(look.pass.number("attention", [0, 0, 1]), slopes[1]);
  assert.equal(look.nameOf("attention", [0, 1, 2]), "slope of output[cat, 1] by attention[head 1, cat, sat]");
  assert.equal(look.titleOf("attention"), "Attention: slope of output[cat, 1]");
  assert.equal(look.nameOf("q", [0, 1, 2]), pass.nameOf("q", [0, 1, 2]), "what has no slopes is what it was");
  const small = slopes.map(slope => slope * 1e-6), // the largest is 6.9, or 3 below zero
    tiny = readPass({ ...document, slopes: { ...ofOutput, values: { attention: chunks(small) } } }),
    scaled = lookAt(tiny, where);
  assert.equal(scaled.titleOf("attention"), "Attention: slope of output[cat, 1], ×10⁻⁶");
  assert.ok(Math.abs(scaled.pass.number("attention", [0, 0, 1]) - slopes[1]) < 1e-9);
  assert.equal(look.titleOf("q"), "");
  for (const other of [{ ask: "made" }, { trail: ["output[2,0]"] }])
    assert.equal(lookAt(pass, { ...where, ...other }).kind, "numbers");
});

test("what a change moved is after less before, and 0 where a key is hidden in both", () => {
  const document = documentOf({ sees: (i, j) => j <= i });
  const old = values(document, "masked").map((value, place) => (place === 1 ? 2.5 : place === 0 ? -Infinity : value));
  const pass = readPass({ ...document, changes: [{ text: "", stage: "masked" }], before: { masked: chunks(old) } });
  const where = { ...readWhere(pass, "?step=mask"), ask: "whatif" };
  assert.equal(lookAt(pass, where).kind, "numbers");
  const look = lookAt(pass, where, { showsChange: true });
  const now = pass.numbers("masked"),
    moved = look.pass.numbers("masked");
  const actual = [...moved];
  assert.deepEqual(
    actual,
    [...now.keys()].map(place => (place === 0 ? Infinity : place === 1 ? -Infinity : 0)),
  );
  assert.equal(look.nameOf("masked", [0, 1, 0]), "change of masked[head 1, cat, the]");
});

const OF_LAYERS = { nWords: 4, dModel: 6, nHeads: 3, sees: (query, key) => key <= query };
const LAYERED = readPass(layeredDocumentOf(OF_LAYERS)),
  LAYERED_ARRAYS = layeredArraysOf(OF_LAYERS);
const FIRST = readWhere(LAYERED, "");
const at = parts => ({ ...FIRST, ...parts });

test("each layer's numbers are there under its name, and hidden by its own mask", () => {
  for (const [i, arrays] of LAYERED_ARRAYS.entries()) {
    for (const name of ["scores", "masked", "attention"]) {
      filled([3, 4, 4], (...index) => {
        const actual = LAYERED.number(`${name}_${i + 1}`, index);
        assert.equal(
          actual,
          index.reduce((inside, place) => inside[place], arrays[name]),
        );
        assert.equal(LAYERED.isHidden(`${name}_${i + 1}`, index), name !== "scores" && index[2] > index[1]);
      });
    }
  }
});

test("whether a query sees no key is asked of the layer that one speaks of", () => {
  const document = layeredDocumentOf(OF_LAYERS);
  for (const [name, number] of Object.entries({ masked_2: -Infinity, attention_2: 0 }))
    document.stages[name].values = encoded(
      filled([3, 4, 4], () => number),
      { perHead: true },
    );
  const pass = readPass(document),
    cell = { ...FIRST.cell, query: 3 };
  for (const name of ["attention", "heads", "q"])
    assert.deepEqual(
      [1, 2].map(n => pass.isUnseeing(`${name}_${n}`, cell)),
      [false, true],
    );
  const stories = [
      ["unseeing", "nothing"],
      ["", "{key}"],
    ],
    told = of => runsAt(pass, [["story", { of, stories }]], cell).map(([, text]) => text);
  assert.deepEqual(["attention_1", "attention_2"].map(told), [["sat"], ["nothing"]]);
});

test("one goes through the steps of one layer after those of the other, forth and back", () => {
  const ids = stepsOf(LAYERED);
  assert.deepEqual(ids.slice(ids.indexOf("output-1"), ids.indexOf("scores-2") + 1), ["output-1", "qkv-2", "scores-2"]);
  const actual = ids.map(step => besideStep(LAYERED, at({ step }), 1));
  assert.deepEqual(actual, [...ids.slice(1), null]);
  const seen = [];
  for (
    let where = at({ present: true }), parts = {};
    parts;
    parts = destinationOf(LAYERED, where, "on"), where = { ...where, ...parts }
  )
    seen.push(where.step);
  assert.deepEqual([...new Set(seen)], ids);
  for (const step of ids) {
    const reveals = ticksOf(LAYERED, at({ step })).map(({ reveal }) => reveal);
    assert.deepEqual([...new Set(reveals)], [...revealsOf(LAYERED, at({ step })).keys(), null]);
  }
});

test("who has picked no word sees each layer's own start, and a link says no cell; a word that was picked stays", () => {
  const { starts } = LAYERED.document;
  const walked = where =>
    ["scores-1", "softmax-2", "tokens", "softmax-1"].map(step => ({ ...where, ...atStep(LAYERED, where, step) }));
  for (const where of walked(FIRST)) {
    assert.deepEqual(where.cell, starts[stepAt(LAYERED, where).layer]);
    assert.equal(searchAt(LAYERED, where, ""), `?step=${where.step}`);
    assert.deepEqual(readWhere(LAYERED, `?step=${where.step}`), where);
  }
  const [head, word] = [{ head: 2, feature: 1 }, { query: 3 }].map(cell => at({ cell: { ...FIRST.cell, ...cell } }));
  const texts = walked(head).map(({ cell }) => [cell.head, cell.feature, cell.query].join());
  assert.deepEqual(texts, ["2,1,0", "2,1,1", "2,1,1", "2,1,0"]);
  for (const where of walked(word)) assert.deepEqual(where.cell, word.cell);
  const softmax = at({ step: "softmax-1", cell: starts[1] }),
    number = { ...softmax, ...atCell(LAYERED, softmax, "attention_1", [0, 0, 1]) };
  for (const where of walked(number)) assert.deepEqual(where.cell, starts[1], "nor does that of a number");
});

test("every cell of every layer is shown by the step of its layer, and an address leads back to it", () => {
  for (const [name, { shape }] of LAYERED.stages) {
    const index = shape.map(length => length - 1);
    const there = { ...FIRST, step: "positions", ...atCell(LAYERED, at({ step: "positions" }), name, index) };
    assert.deepEqual(focusOf(LAYERED, there), { name, index });
    assert.ok(stepAt(LAYERED, there).layer === Number(name.split("_").find(Number) ?? 0) || name === "mask", name);
    assert.deepEqual(readWhere(LAYERED, searchAt(LAYERED, { ...there, trail: [LAYERED.address(name, index)] }, "")), {
      ...there,
      trail: [LAYERED.address(name, index)],
    });
  }
  assert.equal(readWhere(LAYERED, "?step=Scores").step, "scores-1");
  assert.deepEqual(fitted(LAYERED, at({ step: "scores" })), at({ step: "scores-1" }));
});

test("a number of the last layer is unfolded down to what enters the first, and its path leads through both", () => {
  let where = at({ step: "output-2" });
  for (
    let cells = LAYERED.cellsOf("output_2", [1, 0]);
    cells.length;
    cells = LAYERED.cellsOf(cells[0].name, cells[0].index)
  ) {
    where = { ...where, ...unfolded(LAYERED, where, cells[0].name, cells[0].index) };
    assert.deepEqual(fitted(LAYERED, where).trail, where.trail);
  }
  assert.ok(where.trail.some(address => address.startsWith("output_1[")));
  assert.ok(["embeddings", "positions"].includes(focusOf(LAYERED, where).name));
  const parts = LAYERED.parts("output_2", [1, 0]);
  for (const name of ["attention_1", "attention_2", "x"])
    assert.ok(
      parts.get(name).some(part => part > 0),
      name,
    );
});
