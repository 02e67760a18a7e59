import assert from "node:assert/strict";
import test from "node:test";
import { readPlace } from "../../attnviz/viewer/browser/model/address.js";
import { lookAt } from "../../attnviz/viewer/browser/model/looks.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { documentOf, encoded } from "./passes.mjs";

const values = (document, name) => readPass(document).numbers(name);
const chunks = numbers => encoded([...numbers], { perHead: false });

test("slopes are shown once they are those of the number that was asked about, and are called slopes", () => {
  const document = documentOf();
  const slopes = values(document, "attention").map((_, place) => place / 10 - 3);
  const pass = readPass({
    ...document,
    slopes: { of: "output[1,0]", text: "", values: { attention: chunks(slopes) } },
  });
  const where = { ...readPlace(pass, "?step=output"), ask: "slope" };
  const look = lookAt(pass, where, false);
  assert.equal(look.kind, "slopes");
  assert.equal(look.pass.number("attention", [0, 0, 1]), slopes[1]);
  assert.equal(look.nameOf("attention", [0, 1, 2]), "slope of output[cat, 1] by attention[head 1, cat, sat]");
  assert.equal(look.titleOf("attention"), "Attention: slope of output[cat, 1]");
  assert.equal(look.nameOf("q", [0, 1, 2]), pass.nameOf("q", [0, 1, 2]), "what has no slopes is what it was");
  assert.equal(look.titleOf("q"), "");
  for (const other of [{ ask: "made" }, { trail: ["output[2,0]"] }])
    assert.equal(lookAt(pass, { ...where, ...other }, false).kind, "numbers");
});

test("what a change moved is after less before, and 0 where a key is hidden in both", () => {
  const document = documentOf({ sees: (i, j) => j <= i });
  const old = values(document, "masked").map((value, place) => (place === 1 ? 2.5 : place === 0 ? -Infinity : value));
  const pass = readPass({ ...document, changes: [{ text: "", stage: "masked" }], before: { masked: chunks(old) } });
  const where = { ...readPlace(pass, "?step=mask"), ask: "whatif" };
  assert.equal(lookAt(pass, where, false).kind, "numbers");
  const look = lookAt(pass, where, true);
  const now = pass.numbers("masked"),
    moved = look.pass.numbers("masked");
  assert.deepEqual(
    [...moved],
    [...now.keys()].map(place => (place === 0 ? Infinity : place === 1 ? -Infinity : 0)),
  );
  assert.equal(look.nameOf("masked", [0, 1, 0]), "change of masked[head 1, cat, the]");
});
