import assert from "node:assert/strict";
import { test } from "node:test";
import { isNewcomer } from "../../attnviz/viewer/browser/views/stepText.js";

test("a browser is new once, and never where it may keep nothing", () => {
  const kept = new Map();
  const storage = { getItem: key => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  assert.deepEqual(
    [1, 2, 3].map(() => isNewcomer(() => storage)),
    [true, false, false],
  );
  assert.equal(
    isNewcomer(() => {
      throw new DOMException("sandboxed", "SecurityError");
    }),
    false,
  );
});
