import assert from "node:assert/strict";
import test from "node:test";
import { between, makeMotion } from "../../attnviz/viewer/browser/dom/motion.js";

// A motion over a clock that the test turns, and what it drew and printed.
function motionWith({ isCalm = false } = {}) {
  const classes = new Set(),
    drawn = [],
    printed = [],
    waiting = new Map();
  let now = 0,
    id = 0;
  const frames = {
    now: () => now,
    request: act => {
      id += 1;
      waiting.set(id, act);
      return id;
    },
    cancel: each => waiting.delete(each),
    isCalm: () => isCalm,
  };
  const classList = {
    add: name => classes.add(name),
    toggle: (name, isOn) => (isOn ? classes.add(name) : classes.delete(name)),
  };
  const motion = makeMotion({
    element: { classList },
    draw: moment => drawn.push(moment),
    print: moment => printed.push(moment),
    frames,
  });
  const wait = ms => {
    for (const end = now + ms; now < end; ) {
      now += 10;
      const due = [...waiting.values()];
      waiting.clear();
      for (const act of due) act(now);
    }
  };
  return { motion, wait, drawn, printed, isHidden: () => classes.has("moving"), frames: waiting };
}

test("between two moments every number is between theirs, however deep it lies", () => {
  const from = { place: 0, rows: [[0, 1], [4]], word: "cat" },
    to = { place: 2, rows: [[1, 0], [8]], word: "animal" };
  assert.deepEqual(between(from, to, 0.25), { place: 0.5, rows: [[0.25, 0.75], [5]], word: "animal" });
  assert.deepEqual(between(from, to, 1), to);
  assert.deepEqual(between([1], [3, 5], 0.5), [2, 5], "what only the second has");
});

test("it moves once, prints at rest, and ends as without motion", () => {
  const moved = motionWith(),
    calm = motionWith({ isCalm: true });
  for (const { motion, wait } of [moved, calm]) {
    motion.set({ x: 0 });
    motion.go({ x: 1 }, { ms: 400 });
    wait(500);
  }
  assert.equal(moved.printed.length, 2, "each at rest");
  assert.ok(moved.drawn.length > 30);
  assert.ok(moved.drawn.every(({ x }, nth) => nth === 0 || x >= moved.drawn[nth - 1].x));
  assert.deepEqual(calm.drawn, [{ x: 0 }, { x: 1 }]);
  for (const { drawn, printed, isHidden, frames } of [moved, calm]) {
    assert.deepEqual(drawn.at(-1), { x: 1 });
    assert.deepEqual(printed.at(-1), { x: 1 });
    assert.equal(isHidden(), false);
    assert.equal(frames.size, 0);
  }
});

test("a new target takes over from what is seen", () => {
  const { motion, wait, drawn, printed, isHidden } = motionWith();
  const arrivals = [];
  motion.set([0]);
  motion.go([1], { ms: 400, after: () => arrivals.push(1) });
  wait(200);
  const [middle] = drawn.at(-1);
  assert.ok(middle > 0.4 && middle < 0.6 && isHidden() && motion.isMoving);
  motion.go([0], { ms: 400 });
  wait(10);
  assert.ok(Math.abs(drawn.at(-1)[0] - middle) < 0.02);
  wait(400);
  assert.deepEqual([printed, arrivals, motion.isMoving], [[[0], [0]], [], false]);
});

test("a quiet arrival keeps its digits hidden, but not from a reader who wants calm", () => {
  for (const [isCalm, isHidden] of [
    [false, true],
    [true, false],
  ]) {
    const quiet = motionWith({ isCalm });
    const arrivals = [];
    quiet.motion.set([0]);
    quiet.motion.go([1], { isQuiet: true, after: () => arrivals.push(1) });
    quiet.motion.finish();
    quiet.motion.finish();
    assert.deepEqual([arrivals, quiet.isHidden(), quiet.printed.length], [[1], isHidden, 2]);
  }
});
