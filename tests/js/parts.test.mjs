import assert from "node:assert/strict";
import test from "node:test";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { documentOf } from "./passes.mjs";

const OPTIONS = { nWords: 3, dModel: 4, nHeads: 2, sees: (query, key) => key <= query };

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
      const { shape } = pass.stages.get(stage);
      const place =
        shape.length === 1
          ? [flat]
          : shape.length === 2
            ? [Math.floor(flat / shape[1]), flat % shape[1]]
            : [Math.floor(flat / shape[1] / shape[2]), Math.floor(flat / shape[2]) % shape[1], flat % shape[2]];
      const at = pass.address(stage, place);
      near(strength, expected.get(at) ?? 0, at);
      n += strength > 0 ? 1 : 0;
    });
  }
  assert.equal(n, [...expected.values()].filter(strength => strength > 0).length);
}

test("a number's part is the sum over all paths that lead to it", () => {
  const pass = readPass(documentOf(OPTIONS));
  check(pass, "output", [2, 1]);
  check(pass, "attention", [1, 2, 0]);
  check(pass, "contributions", [1, 1, 3]);
});

test("where every number is read once, the parts of a stage add up to 1", () => {
  const parts = readPass(documentOf()).parts("output", [3, 5]);
  for (const name of [
    "output",
    "concat",
    "w_o",
    "heads",
    "attention",
    "v",
    "masked",
    "scaled",
    "scores",
    "q",
    "k",
    "w_v",
    "w_k",
  ]) {
    near(
      parts.get(name).reduce((sum, strength) => sum + strength, 0),
      1,
      name,
    );
  }
  assert.ok(!parts.has("contributions"));
});

test("a number set by hand was computed from nothing", () => {
  const document = documentOf(OPTIONS);
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
  const document = documentOf(OPTIONS);
  for (const stage of ["attention", "v", "heads"]) document.stages[stage].values[1] = null;
  const parts = readPass(document).parts("output", [1, 0]);
  for (const strengths of parts.values()) assert.ok(!strengths.some(Number.isNaN));
  assert.ok(
    parts
      .get("attention")
      .subarray(9)
      .every(strength => strength === 0),
  );
});
