import assert from "node:assert/strict";
import test from "node:test";
import { makeRerun } from "../../attnviz/viewer/browser/views/articles.js";
import { mockTimeouts } from "./timeouts.mjs";

const A = { part: "What enters" },
  B = { part: "The answer" };

function asking(t) {
  mockTimeouts(t.mock);
  const root = { ariaBusy: true };
  const rerun = makeRerun(root, () => {
    rerun.asked += 1;
  });
  return Object.assign(rerun, { asked: 0, root });
}

test("a run is asked for until one has what was chosen", t => {
  const rerun = asking(t);
  rerun.ran(A);
  assert.equal(rerun.asked, 0, "nothing was chosen");
  rerun.ask(B);
  assert.equal(rerun.asked, 1);
  rerun.ran(A);
  t.mock.timers.tick(1000);
  t.mock.timers.tick(1000);
  assert.equal(rerun.asked, 3, "that run was of before");
  assert.equal(rerun.root.ariaBusy, true);
  rerun.ran(B);
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 3);
  assert.equal(rerun.root.ariaBusy, false);
});

test("what has come and waits for nothing is not busy", t => {
  const rerun = asking(t);
  rerun.ran(A);
  assert.deepEqual([rerun.root.ariaBusy, rerun.asked], [false, 0]);
});

test("of two quick choices a run has to have the last", t => {
  const rerun = asking(t);
  rerun.ask(A);
  rerun.ask(B);
  assert.equal(rerun.asked, 2);
  rerun.ran(A);
  t.mock.timers.tick(1000);
  assert.equal(rerun.asked, 3);
  rerun.ran(B);
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 3);
});

test("after Back, and on another page, nobody asks any more", t => {
  const rerun = asking(t);
  rerun.ask(B);
  rerun.end();
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 1);
  rerun.ask(A);
  assert.equal(rerun.asked, 2, "until something else is chosen");
});
