import assert from "node:assert/strict";
import test from "node:test";
import { readPlace, revealsOf, searchAt } from "../../attnviz/viewer/browser/model/address.js";
import { runsAt } from "../../attnviz/viewer/browser/dom/runs.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { ticksOf } from "../../attnviz/viewer/browser/model/route.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import {
  atCell,
  atStep,
  besideStep,
  fitted,
  focusOf,
  stepAt,
  stepsOf,
  unfolded,
} from "../../attnviz/viewer/browser/model/state.js";
import { encoded, filled } from "./passes.mjs";
import { layeredArraysOf, layeredDocumentOf } from "./layered.mjs";

const OPTIONS = { nWords: 4, dModel: 6, nHeads: 3, sees: (query, key) => key <= query };
const PASS = readPass(layeredDocumentOf(OPTIONS)),
  ARRAYS = layeredArraysOf(OPTIONS);
const FIRST = readPlace(PASS, "");
const at = parts => ({ ...FIRST, ...parts });

test("each layer's numbers are there under its name, and hidden by its own mask", () => {
  for (const [i, arrays] of ARRAYS.entries()) {
    for (const name of ["scores", "masked", "attention"]) {
      filled([3, 4, 4], (...index) => {
        assert.equal(
          PASS.number(`${name}_${i + 1}`, index),
          index.reduce((inside, place) => inside[place], arrays[name]),
        );
        assert.equal(PASS.isHidden(`${name}_${i + 1}`, index), name !== "scores" && index[2] > index[1]);
      });
    }
  }
});

test("whether a query sees no key is asked of the layer that one speaks of", () => {
  const document = layeredDocumentOf(OPTIONS);
  document.stages.masked_2.values = encoded(
    filled([3, 4, 4], () => -Infinity),
    { perHead: true },
  );
  document.stages.attention_2.values = encoded(
    filled([3, 4, 4], () => 0),
    { perHead: true },
  );
  const pass = readPass(document),
    cell = { ...FIRST.cell, query: 3 };
  for (const name of ["attention", "heads", "q"]) {
    assert.deepEqual(
      [1, 2].map(n => pass.isUnseeing(`${name}_${n}`, cell)),
      [false, true],
    );
  }
  const told = of =>
    runsAt(
      pass,
      [
        [
          "story",
          {
            of,
            stories: [
              ["unseeing", "nothing"],
              ["", "{key}"],
            ],
          },
        ],
      ],
      cell,
    ).map(([, text]) => text);
  assert.deepEqual(["attention_1", "attention_2"].map(told), [["sat"], ["nothing"]]);
});

test("one goes through the steps of one layer after those of the other, forth and back", () => {
  const ids = stepsOf(PASS);
  assert.deepEqual(ids.slice(ids.indexOf("output-1"), ids.indexOf("scores-2") + 1), ["output-1", "qkv-2", "scores-2"]);
  assert.deepEqual(
    ids.map(step => besideStep(PASS, at({ step }), 1)),
    [...ids.slice(1), null],
  );
  const seen = [];
  for (
    let where = at({ present: true }), parts = {};
    parts;
    parts = destinationOf(PASS, where, "on"), where = { ...where, ...parts }
  )
    seen.push(where.step);
  assert.deepEqual([...new Set(seen)], ids);
  for (const step of ids) {
    const reveals = ticksOf(PASS, at({ step })).map(({ reveal }) => reveal);
    assert.deepEqual([...new Set(reveals)], [...revealsOf(PASS, at({ step })).keys(), null]);
  }
});

test("who has picked no word sees each layer's own start, and a link says no cell; a word that was picked stays", () => {
  const { starts } = PASS.document;
  const walked = where =>
    ["scores-1", "softmax-2", "tokens", "softmax-1"].map(step => ({ ...where, ...atStep(PASS, where, step) }));
  for (const where of walked(FIRST)) {
    assert.deepEqual(where.cell, starts[stepAt(PASS, where).layer]);
    assert.equal(searchAt(PASS, where, ""), `?step=${where.step}`);
    assert.deepEqual(readPlace(PASS, `?step=${where.step}`), where);
  }
  const [head, word] = [{ head: 2, feature: 1 }, { query: 3 }].map(cell => at({ cell: { ...FIRST.cell, ...cell } }));
  assert.deepEqual(
    walked(head).map(({ cell }) => [cell.head, cell.feature, cell.query]),
    [
      [2, 1, 0],
      [2, 1, 1],
      [2, 1, 1],
      [2, 1, 0],
    ],
  );
  for (const where of walked(word)) assert.deepEqual(where.cell, word.cell);
  const softmax = at({ step: "softmax-1", cell: starts[1] }),
    number = { ...softmax, ...atCell(PASS, softmax, "attention_1", [0, 0, 1]) };
  for (const where of walked(number)) assert.deepEqual(where.cell, starts[1], "nor does that of a number");
});

test("every cell of every layer is shown by the step of its layer, and an address leads back to it", () => {
  for (const [name, { shape }] of PASS.stages) {
    const index = shape.map(length => length - 1);
    const there = { ...FIRST, step: "positions", ...atCell(PASS, at({ step: "positions" }), name, index) };
    assert.deepEqual(focusOf(PASS, there), { name, index });
    assert.ok(stepAt(PASS, there).layer === Number(name.split("_").find(Number) ?? 0) || name === "mask", name);
    assert.deepEqual(readPlace(PASS, searchAt(PASS, { ...there, trail: [PASS.address(name, index)] }, "")), {
      ...there,
      trail: [PASS.address(name, index)],
    });
  }
  assert.equal(readPlace(PASS, "?step=Scores").step, "scores-1");
  assert.deepEqual(fitted(PASS, at({ step: "scores" })), at({ step: "scores-1" }));
});

test("a number of the last layer is unfolded down to what enters the first, and its path leads through both", () => {
  let where = at({ step: "output-2" });
  for (
    let cells = PASS.cellsOf("output_2", [1, 0]);
    cells.length;
    cells = PASS.cellsOf(cells[0].name, cells[0].index)
  ) {
    where = { ...where, ...unfolded(PASS, where, cells[0].name, cells[0].index) };
    assert.deepEqual(fitted(PASS, where).trail, where.trail);
  }
  assert.ok(where.trail.some(address => address.startsWith("output_1[")));
  assert.ok(["embeddings", "positions"].includes(focusOf(PASS, where).name));
  const parts = PASS.parts("output_2", [1, 0]);
  for (const name of ["attention_1", "attention_2", "x"])
    assert.ok(
      parts.get(name).some(part => part > 0),
      name,
    );
});
