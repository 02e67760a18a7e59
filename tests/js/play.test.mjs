import assert from "node:assert/strict";
import test from "node:test";
import { makePlay } from "../../attnviz/viewer/browser/model/route.js";
import { mockTimeouts } from "./timeouts.mjs";

const TICKS = ["a", "b", "c", "d"].map(name => ({ name, ms: 100 }));

// A play of these ticks, the names of what it has shown, and how often it started or stopped.
function played(t, ticks = TICKS) {
  mockTimeouts(t.mock);
  const seen = [],
    changes = [],
    play = makePlay(
      ({ name }) => seen.push(name),
      () => changes.push(play.isRunning),
    );
  play.start(ticks);
  return { play, seen, changes, wait: ms => t.mock.timers.tick(ms) };
}

test("Play shows each tick once, in order, and says that it began and that it is over", t => {
  const { play, seen, changes, wait } = played(t);
  for (let i = 0; i < 50; i += 1) wait(100);
  assert.deepEqual(seen, ["a", "b", "c", "d"]);
  assert.deepEqual(changes, [true, false]);
  assert.ok(!play.isUnderWay);
});

test("a tick is looked at for its time at normal speed, longer when slow, shorter when fast", t => {
  const { play, seen, wait } = played(t);
  play.speed = "fast";
  wait(100);
  assert.equal(seen.length, 2, "the speed holds from the next tick on");
  wait(50);
  assert.equal(seen.length, 3);
  play.pause();
  play.speed = "slow";
  play.start(TICKS);
  seen.length = 0;
  wait(150);
  assert.deepEqual(seen, []);
  wait(50);
  assert.deepEqual(seen, ["b"]);
});

test("a pause holds it, one reveal on or back is one tick, and it goes on from there", t => {
  const { play, seen, wait } = played(t);
  wait(100);
  play.pause();
  wait(1000);
  assert.deepEqual(seen, ["a", "b"]);
  play.step(1);
  play.step(-1);
  play.step(-1);
  play.step(-1);
  assert.deepEqual(seen.slice(2), ["c", "b", "a", "a"]);
  play.resume();
  wait(100);
  assert.equal(seen.at(-1), "b");
  play.step(1);
  wait(1000);
  assert.deepEqual([seen.at(-1), play.isRunning], ["c", false], "who goes by hand stops it");
});

test("what has ended shows nothing more", t => {
  const { play, seen, changes, wait } = played(t);
  play.end();
  wait(1000);
  assert.deepEqual([seen, changes, play.isUnderWay], [["a"], [true], false]);
});
