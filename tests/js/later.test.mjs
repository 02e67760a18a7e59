import assert from "node:assert/strict";
import test from "node:test";
import { later } from "../../attnviz/ui/viewer/browser/later.js";

test("what is left for later is done after the next frame, once, in the order in which it was asked for", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const frames = [], done = [];
  globalThis.requestAnimationFrame = (act) => frames.push(act);
  t.after(() => { delete globalThis.requestAnimationFrame; });
  for (const name of ["a", "b"]) later(() => done.push(name));
  t.mock.timers.tick(100);
  assert.deepEqual(done, [], "there was no frame yet");
  frames.shift()();
  assert.deepEqual(done, [], "that frame is not painted yet");
  later(() => done.push("c"));
  t.mock.timers.tick(0);
  assert.deepEqual(done, ["a", "b", "c"]);
  assert.deepEqual(frames, []);
  later(() => done.push("d"));
  frames.shift()();
  t.mock.timers.tick(0);
  assert.deepEqual(done, ["a", "b", "c", "d"]);
});
