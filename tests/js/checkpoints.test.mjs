import assert from "node:assert/strict";
import test from "node:test";
import { makeCheckpoints } from "../../attnviz/viewer/browser/views/training.js";
import { mockTimeouts } from "./timeouts.mjs";

const at = (
  place,
  curve = [
    [0, 1, 0],
    [90, 0, 1],
  ],
) => ({ curve, checkpoints: [0, 10, 30, 90], at: place });

// Checkpoints of a training, and what was asked of the server.
function made(t) {
  mockTimeouts(t.mock);
  const asked = [],
    checkpoints = makeCheckpoints(
      place => asked.push(place),
      () => {},
    );
  checkpoints.arrive(at(3));
  return { asked, checkpoints, wait: ms => t.mock.timers.tick(ms) };
}

test("Play asks for each checkpoint from the first on, one when the one before is there and was looked at", t => {
  const { asked, checkpoints, wait } = made(t);
  checkpoints.play();
  for (const place of [0, 1, 2, 3]) {
    wait(60_000);
    assert.deepEqual(asked, [0, 1, 2, 3].slice(0, place + 1), "the server has not answered");
    assert.equal(checkpoints.shown, place);
    checkpoints.arrive(at(place));
    assert.equal(asked.length, place + 1, "one looks at it");
    checkpoints.arrive(at(place));
    wait(60_000);
  }
  assert.deepEqual(asked, [0, 1, 2, 3]);
  assert.ok(!checkpoints.isRunning);
});

test("Play begins where one is, unless that is the end", t => {
  const { asked, checkpoints } = made(t);
  checkpoints.arrive(at(1));
  checkpoints.play();
  assert.deepEqual(asked, [2]);
});

test("who goes by hand stops Play, and what came late does not lead back", t => {
  const { asked, checkpoints, wait } = made(t);
  checkpoints.play();
  checkpoints.to(2);
  assert.ok(!checkpoints.isRunning);
  checkpoints.arrive(at(0));
  assert.equal(checkpoints.shown, 2);
  checkpoints.arrive(at(2));
  wait(60_000);
  assert.deepEqual(asked, [0, 2]);
});

test("a pause holds what was asked for, and it goes on from there", t => {
  const { asked, checkpoints, wait } = made(t);
  checkpoints.play();
  checkpoints.pause();
  checkpoints.arrive(at(0));
  wait(60_000);
  assert.deepEqual([asked, checkpoints.shown], [[0], 0]);
  checkpoints.play();
  assert.deepEqual(asked, [0, 1]);
});

test("another training is shown where it stands, and is not played", t => {
  const { asked, checkpoints, wait } = made(t);
  checkpoints.play();
  checkpoints.arrive(
    at(3, [
      [0, 2, 0],
      [90, 0, 1],
    ]),
  );
  wait(60_000);
  assert.deepEqual([asked, checkpoints.shown, checkpoints.isRunning], [[0], 3, false]);
});

test("the checkpoint that is shown is not asked for", t => {
  const { asked, checkpoints } = made(t);
  checkpoints.to(3);
  assert.deepEqual(asked, []);
  checkpoints.to(1);
  checkpoints.to(3);
  assert.deepEqual(asked, [1, 3], "but once another was asked for it is");
});

test("a checkpoint that nobody asked for here, as after Back, is shown", t => {
  const { checkpoints } = made(t);
  checkpoints.to(1);
  checkpoints.arrive(at(1));
  checkpoints.arrive(at(2));
  assert.equal(checkpoints.shown, 2);
});
