import assert from "node:assert/strict";
import test from "node:test";
import { makeWaiting } from "../../attnviz/viewer/browser/page/page.js";
import { mockTimeouts } from "./timeouts.mjs";

function makeRoot() {
  const classes = new Set();
  return {
    ariaBusy: null,
    classList: { add: name => classes.add(name), remove: name => classes.delete(name) },
    classes,
  };
}

test("who waits is busy at once, and late after a second of it", t => {
  mockTimeouts(t.mock);
  const root = makeRoot(),
    view = makeRoot(),
    wait = makeWaiting(root, view);
  wait(true);
  t.mock.timers.tick(600);
  wait(true); // something else is done meanwhile
  assert.deepEqual([root.ariaBusy, view.ariaBusy, [...view.classes]], [true, true, []]);
  t.mock.timers.tick(400);
  assert.deepEqual([...view.classes], ["late"]);
  wait(false);
  assert.deepEqual([root.ariaBusy, view.ariaBusy, [...view.classes]], [false, false, []]);
});

test("who was answered in time is never late", t => {
  mockTimeouts(t.mock);
  const root = makeRoot(),
    view = makeRoot(),
    wait = makeWaiting(root, view);
  for (const is of [true, false, true, false]) {
    wait(is);
    t.mock.timers.tick(900);
  }
  assert.deepEqual([...view.classes], []);
});

test("who waits long again is late again", t => {
  mockTimeouts(t.mock);
  const root = makeRoot(),
    view = makeRoot(),
    wait = makeWaiting(root, view);
  for (const is of [true, false, true]) {
    wait(is);
    t.mock.timers.tick(1000);
  }
  assert.deepEqual([...view.classes], ["late"]);
});
