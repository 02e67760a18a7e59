import assert from "node:assert/strict";
import test from "node:test";
import { makeErrands } from "../../attnviz/ui/viewer/browser/errand.js";

test("an errand is asked again once more unless it is answered, and a newer one of its kind replaces it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [], errands = makeErrands((...message) => sent.push(message.join(" ")));
  errands.begin("slopes", "a", (pass) => pass === "a");
  errands.begin("slopes", "a", (pass) => pass === "a");
  assert.deepEqual(sent, ["slopes a"]);
  t.mock.timers.tick(1500);
  assert.deepEqual(sent, ["slopes a", "slopes a"]);
  errands.begin("slopes", "b", (pass) => pass === "b");
  errands.answered("a");
  t.mock.timers.tick(1500);
  assert.deepEqual(sent.slice(2), ["slopes b", "slopes b"]);
  errands.answered("b");
  t.mock.timers.tick(9000);
  assert.equal(sent.length, 4);
  errands.begin("slopes", "c", () => false);
  for (let second = 0; second < 60; second += 1) t.mock.timers.tick(1000);
  assert.deepEqual(sent.slice(4), ["slopes c", "slopes c"], "nobody is asked for ever");
  errands.begin("slopes", "c", () => false);
  assert.equal(sent.length, 7, "but once more, if it is wanted again");
  errands.end();
  t.mock.timers.tick(60_000);
  assert.equal(sent.length, 7);
});
