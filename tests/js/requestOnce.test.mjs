import assert from "node:assert/strict";
import test from "node:test";
import { makeRequestsOnce } from "../../attnviz/viewer/browser/shell/templates.js";

function asking() {
  const sent = [],
    errands = makeRequestsOnce((...message) => sent.push(message.join(" ")));
  return { sent, errands, want: (event, message) => errands.begin(event, message, pass => pass === message) };
}

test("an errand is asked for once, however often it is wanted, and again after its answer", () => {
  const { sent, errands, want } = asking();
  for (let n = 0; n < 3; n += 1) want("slopes", "a");
  want("need", "a");
  assert.deepEqual(sent, ["slopes a", "need a"]);
  errands.answered("b");
  want("slopes", "a");
  assert.equal(sent.length, 2, "that was no answer to it");
  errands.answered("a");
  want("slopes", "a");
  assert.deepEqual(sent.slice(2), ["slopes a"]);
});

test("a newer errand of its kind replaces one, which may be wanted again", () => {
  const { sent, errands, want } = asking();
  for (const message of ["a", "b", "a"]) want("slopes", message);
  assert.deepEqual(sent, ["slopes a", "slopes b", "slopes a"]);
  errands.answered("b");
  want("slopes", "a");
  assert.equal(sent.length, 3);
});

test("what was asked for before Back is asked for again if it is wanted there", () => {
  const { sent, errands, want } = asking();
  want("slopes", "a");
  errands.forget();
  want("slopes", "a");
  assert.deepEqual(sent, ["slopes a", "slopes a"]);
});
