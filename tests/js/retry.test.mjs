// When a request is repeated, and when it is given up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { retry } from "../../attnviz/viewer/browser/shell/request.js";

test("a request is repeated while the server is away or busy, until it answers or refuses", async t => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const statuses = [0, 429, 502, 503, 504, 403],
    reasons = [];
  const reply = retry(
    () => Promise.resolve({ status: statuses.shift(), message: `${statuses.length} left` }),
    reason => reasons.push(reason),
  );
  for (let n = 0; n < 6; n += 1) {
    for (let turn = 0; turn < 9; turn += 1) await Promise.resolve();
    t.mock.timers.tick(1000);
  }
  assert.equal((await reply).status, 403);
  assert.equal(reasons.length, 5);
});

test("a request that is no longer wanted is given up without a notice", async () => {
  const reasons = [],
    attempt = () => Promise.resolve({ status: 503, message: "busy" });
  const reply = await retry(
    attempt,
    reason => reasons.push(reason),
    () => false,
  );
  assert.deepEqual([reply.status, reasons], [503, []]);
});
