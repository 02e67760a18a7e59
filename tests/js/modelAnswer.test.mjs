import assert from "node:assert/strict";
import test from "node:test";
import { answersOf } from "../../attnviz/viewer/browser/views/modelAnswer.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { documentOf, encoded } from "./passes.mjs";

const LABELS = ["cat", "mat"];
const chunk = shares => encoded(shares, { perHead: false });

// A pass of three words that ends in these probabilities.
function answering(shares, model, before = {}) {
  const given = documentOf({ nWords: shares.length });
  const axes = [
    given.stages.output.axes[0],
    { name: "answer", title: "answers", labels: LABELS, coordinates: [["answer", LABELS.length]] },
  ];
  given.stages.probabilities = { ...given.stages.output, axes, scale: "share", values: chunk(shares), rule: null };
  given.before = before;
  given.model = { answers: "probabilities", training: null, ...model };
  return readPass(given);
}

const SHARES = [
  [0.25, 0.75],
  [0.64, 0.36],
  [0.5, 0.5],
];

test("what is likeliest is answered where something is asked, or at the last word, and right where it is what is known", () => {
  const pass = answering(SHARES, { read: "each", right: ["mat", "mat", null] });
  assert.deepEqual(answersOf(pass), [
    { place: 0, index: [0, 1], label: "mat", share: 0.75, verdict: "right", before: null },
    { place: 1, index: [1, 0], label: "cat", share: 0.64, verdict: "wrong", before: null },
  ]);
  const unknown = answering(SHARES, { read: "each", right: [null, null, null] });
  assert.deepEqual(
    answersOf(unknown).map(({ place, verdict }) => [place, verdict]),
    [
      [0, "unknown"],
      [1, "unknown"],
      [2, "unknown"],
    ],
  );
  const last = answering(SHARES, { read: "last", right: [null, null, "cat"] });
  assert.deepEqual(
    answersOf(last).map(({ place, verdict }) => [place, verdict]),
    [[2, "tied"]],
  );
});

test("a right answer before any training is a guess", () => {
  const found = answersOf(answering(SHARES, { read: "each", right: ["mat", "mat", null], guesses: true }));
  assert.deepEqual(
    found.map(({ verdict }) => verdict),
    ["guess", "wrong"],
  );
});

test("beside a number set by hand stands what was answered before, where that was something else", () => {
  const before = {
    probabilities: chunk([
      [0.75, 0.25],
      [0.641, 0.359],
      [0.125, 0.875],
    ]),
  };
  const found = answersOf(answering(SHARES, { read: "each", right: [null, null, null] }, before));
  assert.deepEqual(
    found.map(each => each.before && [each.before.label, each.before.share]),
    [["cat", 0.75], null, ["mat", 0.875]],
  );
});

test("a pass that answers nothing has no answers", () => {
  assert.deepEqual(answersOf(readPass({ ...documentOf(), model: null })), []);
});

test("answers that are equally likely are none", () => {
  const known = { read: "each", right: ["mat", "cat", "cat"] };
  const found = answersOf(
    answering(
      [
        [0.5, 0.5],
        [0.5 + 1e-12, 0.5 - 1e-12],
        [0.51, 0.49],
      ],
      known,
    ),
  );
  assert.deepEqual(
    found.map(({ label, verdict }) => [label, verdict]),
    [
      ["tied", "tied"],
      ["tied", "tied"],
      ["cat", "right"],
    ],
  );
});
