import assert from "node:assert/strict";
import test from "node:test";
import { makeRerun } from "../../attnviz/ui/viewer/browser/rerun.js";

const A = { address: { seed: "1", mask: null } }, B = { address: { seed: "2", mask: null } };

function asking(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const rerun = makeRerun(() => { rerun.asked += 1; });
  return Object.assign(rerun, { asked: 0, done: (answer) => rerun.answered(answer, true), ran: (answer) => rerun.answered(answer, false) });
}

test("a run is asked for until one has drawn what was done", (t) => {
  const rerun = asking(t);
  rerun.ran(A);
  assert.equal(rerun.asked, 0, "nothing was done");
  rerun.done(B);
  assert.equal(rerun.asked, 1);
  rerun.ran(A);
  t.mock.timers.tick(1000);
  t.mock.timers.tick(1000);
  assert.equal(rerun.asked, 3, "that run was of before");
  rerun.ran(B);
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 3);
});

test("of two quick changes the last has to be drawn", (t) => {
  const rerun = asking(t);
  rerun.done(A);
  rerun.done(B);
  assert.equal(rerun.asked, 2);
  rerun.ran(A);
  t.mock.timers.tick(1000);
  assert.equal(rerun.asked, 3);
  rerun.ran(B);
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 3);
});

test("after Back, and on another page, nobody asks any more", (t) => {
  const rerun = asking(t);
  rerun.done(B);
  rerun.end();
  t.mock.timers.tick(9000);
  assert.equal(rerun.asked, 1);
  rerun.done(A);
  assert.equal(rerun.asked, 2, "until something else is done");
});
