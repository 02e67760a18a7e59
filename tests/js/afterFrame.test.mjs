import assert from "node:assert/strict";
import test from "node:test";
import { afterFrame } from "../../attnviz/viewer/browser/dom/timing.js";

// The frames and the tasks that were asked for, to be had one by one.
function browser(t) {
  const frames = [],
    tasks = [];
  globalThis.requestAnimationFrame = act => frames.push(act);
  t.after(() => {
    delete globalThis.requestAnimationFrame;
  });
  t.mock.method(globalThis, "setTimeout", act => tasks.push(act));
  const seen = () => {
    for (const act of [frames.shift(), () => frames.shift()()]) act();
  };
  return { frames, tasks, seen };
}

test("what is left for later is done once the next frame is seen, each in a task of its own, in the order in which it was asked for", t => {
  const { frames, tasks, seen } = browser(t),
    done = [];
  for (const name of ["a", "b"]) afterFrame(() => done.push(name));
  assert.deepEqual([frames.length, tasks.length], [1, 0], "there was no frame yet");
  frames.shift()();
  assert.deepEqual([done, tasks], [[], []], "that frame is not painted yet");
  frames.shift()();
  afterFrame(() => done.push("c"));
  for (const all of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    assert.equal(tasks.length, 1);
    tasks.shift()();
    assert.deepEqual(done, all);
  }
  assert.deepEqual([frames.length, tasks.length], [0, 0]);
  afterFrame(() => done.push("d"));
  assert.equal(frames.length, 1, "and what comes after that waits for another frame");
  seen();
  tasks.shift()();
  assert.deepEqual(done.at(-1), "d");
});

test("what fails takes nothing with it, and what one asks for meanwhile is done too", t => {
  const { tasks, seen } = browser(t),
    done = [];
  afterFrame(() => {
    throw new Error("once");
  });
  afterFrame(() => afterFrame(() => done.push("asked meanwhile")));
  seen();
  assert.throws(tasks.shift(), /once/);
  tasks.shift()();
  seen();
  tasks.shift()();
  assert.deepEqual(done, ["asked meanwhile"]);
});
