// Askable: a class is asked for what somebody can work out, and for nothing else.
import assert from "node:assert/strict";
import test from "node:test";
import { askableOf } from "../../attnviz/viewer/browser/classroom/asking.js";

const ROWS = { attention: [0.25, 0.75, 0], masked: [1, 2, -Infinity], q: [1, 2, 3], w_q: [1, 2, 3] };

// A pass of one row for each stage, of whose keys the last is hidden.
function passOf({ set = [], hidden = [2] } = {}) {
  return {
    stages: new Map(Object.keys(ROWS).map(name => [name, { rule: name === "w_q" ? null : {} }])),
    isOverridden: name => set.includes(name),
    number: (name, [place]) => ROWS[name][place],
    row: name => ROWS[name],
    isUnseen: (name, [place]) => name !== "q" && hidden.includes(place),
  };
}
const kindsOf = (name, place, pass = passOf()) => askableOf(pass, { name, index: [place] }).kinds;

test("a computed number, a share and the largest of a row are asked for", () => {
  assert.deepEqual(kindsOf("q", 0), ["number"]);
  assert.deepEqual(kindsOf("masked", 0), ["number", "word"]);
  assert.deepEqual(kindsOf("attention", 0), ["share", "word"]);
});

test("what is given, set by hand or hidden is not, nor a share of all, and it is said why", () => {
  for (const [name, place, pass] of [
    ["w_q", 0],
    ["q", 0, passOf({ set: ["q"] })],
    ["masked", 2],
    ["attention", 2],
    ["attention", 0, passOf({ hidden: [1, 2] })],
  ]) {
    const { kinds, why } = askableOf(pass ?? passOf(), { name, index: [place] });
    assert.deepEqual(
      kinds.filter(kind => kind !== "word"),
      [],
    );
    assert.match(why, /Select /);
  }
});
