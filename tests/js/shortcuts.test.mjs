import assert from "node:assert/strict";
import test from "node:test";
import { commandOf } from "../../attnviz/ui/viewer/browser/shortcuts.js";

// Something that has the keyboard, as far as selectors are asked of it.
const held = (name) => ({ closest: (selector) => (selector.split(", ").some((each) => each.split(":")[0] === name) ? {} : null) });
const press = (key, on = null, more = {}, isPresenting = false) => commandOf({ key, ...more }, on && held(on), isPresenting);

test("a remote's buttons work whatever has the keyboard", () => {
  for (const on of [null, "input", "textarea", "select", "[role=grid]", "[role=slider]"]) {
    assert.deepEqual([press("PageDown", on), press("PageUp", on), press("Escape", on)], ["on", "back", "leave"]);
  }
});

test("arrows are not taken from a box, a slider or a grid, letters not from a text", () => {
  for (const on of ["input", "textarea", "select", "[role=grid]", "[role=slider]", "[role=radiogroup]"]) {
    assert.deepEqual([press("ArrowRight", on), press("ArrowLeft", on)], [null, null], on);
  }
  for (const on of ["input", "textarea", "select"]) assert.deepEqual([press("p", on), press("[", on)], [null, null], on);
  assert.deepEqual([press("p", "[role=grid]"), press("]", "[role=grid]")], ["present", "head on"]);
  assert.deepEqual([press("ArrowRight"), press("ArrowLeft", "button")], ["on", "back"]);
});

test("while presenting arrows are a remote's too, but not where someone types", () => {
  for (const on of ["[role=grid]", "[role=radiogroup]", "button"]) {
    assert.deepEqual([press("ArrowRight", on, {}, true), press("ArrowLeft", on, {}, true)], ["on", "back"], on);
  }
  for (const on of ["input", "textarea", "select"]) assert.equal(press("ArrowRight", on, {}, true), null);
});

test("what the browser means by a key with Alt, Control or Command stays the browser's", () => {
  for (const more of [{ altKey: true }, { ctrlKey: true }, { metaKey: true }, { defaultPrevented: true }]) {
    for (const key of ["ArrowLeft", "PageDown", "p"]) assert.equal(press(key, null, more), null);
  }
  assert.equal(press("a"), null);
});
