import assert from "node:assert/strict";
import test from "node:test";
import {
  areLettersKept,
  areLettersOn,
  commandOf,
  listenToKeys,
  turnLetters,
} from "../../attnviz/viewer/browser/model/shortcuts.js";

// Something that has the keyboard, as far as selectors are asked of it.
const held = name => ({
  closest: selector => (selector.split(", ").some(each => each.split(":")[0] === name) ? {} : null),
});
const press = (key, on = null, more = {}, { isPresenting = false, isAtViewer = true } = {}) =>
  commandOf({ key, ...more }, { held: on && held(on), isAtViewer, isPresenting });

test("while presenting a remote's buttons work whatever has the keyboard", () => {
  for (const on of [null, "input", "textarea", "select", "[role=grid]", "[role=slider]"]) {
    for (const isAtViewer of [true, false]) {
      const pressed = ["PageDown", "PageUp", "Escape"].map(key =>
        press(key, on, {}, { isPresenting: true, isAtViewer }),
      );
      assert.deepEqual(pressed, ["on", "back", "leave"], on);
    }
  }
});

test("else they are a text's where someone types, and work everywhere else", () => {
  for (const on of ["input", "textarea", "[contenteditable=true]"]) {
    assert.deepEqual([press("PageDown", on), press("PageUp", on), press("Escape", on)], [null, null, "leave"], on);
  }
  for (const on of [null, "select", "button", "[role=grid]", "[role=slider]"]) {
    assert.deepEqual([press("PageDown", on), press("PageUp", on), press("Escape", on)], ["on", "back", "leave"], on);
  }
});

test("arrows are not taken from a box, a slider or a grid, letters not from a text", () => {
  for (const on of ["input", "textarea", "select", "[role=grid]", "[role=slider]", "[role=radiogroup]"]) {
    assert.deepEqual([press("ArrowRight", on), press("ArrowLeft", on)], [null, null], on);
  }
  for (const on of ["input", "textarea", "select"])
    assert.deepEqual([press("p", on), press("[", on)], [null, null], on);
  assert.deepEqual([press("p", "[role=grid]"), press("]", "[role=grid]")], ["present", "head on"]);
  assert.deepEqual([press("ArrowRight"), press("ArrowLeft", "button")], ["on", "back"]);
});

test("while presenting arrows are a remote's too, but not where someone types", () => {
  for (const on of ["[role=grid]", "[role=radiogroup]", "button"]) {
    assert.deepEqual(
      [press("ArrowRight", on, {}, { isPresenting: true }), press("ArrowLeft", on, {}, { isPresenting: true })],
      ["on", "back"],
      on,
    );
  }
  for (const on of ["input", "textarea", "select"])
    assert.equal(press("ArrowRight", on, {}, { isPresenting: true }), null);
});

test("what the browser means by a key with Alt, Control or Command stays the browser's", () => {
  for (const more of [{ altKey: true }, { ctrlKey: true }, { metaKey: true }, { defaultPrevented: true }]) {
    for (const key of ["ArrowLeft", "PageDown", "p"]) assert.equal(press(key, null, more), null);
  }
  assert.equal(press("a"), null);
});

const LETTERS = { p: "present", P: "present", "]": "head on", "[": "head back" };
const pressed = where => Object.keys(LETTERS).map(key => press(key, "button", {}, where));

test("single characters are the viewer's only where the keyboard is in it, or nowhere", () => {
  for (const isPresenting of [false, true]) {
    assert.deepEqual(pressed({ isPresenting, isAtViewer: true }), Object.values(LETTERS));
    assert.deepEqual(pressed({ isPresenting, isAtViewer: false }), [null, null, null, null]);
  }
  assert.deepEqual(
    [press("PageDown", "button", {}, { isAtViewer: false }), press("ArrowRight", "button", {}, { isAtViewer: false })],
    ["on", "on"],
  );
});

// What a browser may keep: as it should, nothing as the page is in a frame that may keep nothing, and no more than it has.
const refuses = () => {
  throw new Error("denied");
};
const STORES = {
  "a browser that keeps them": () => {
    const kept = new Map();
    return { value: { getItem: name => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) } };
  },
  "a browser that refuses to be asked": () => ({ get: refuses }),
  "a browser whose store is full": () => ({ value: { getItem: () => null, setItem: refuses } }),
};

for (const [name, store] of Object.entries(STORES)) {
  test(`single characters can be switched off and on in ${name}, and no other key goes with them`, () => {
    Object.defineProperty(globalThis, "localStorage", { configurable: true, ...store() });
    assert.equal(areLettersOn(), true);
    turnLetters(false);
    assert.equal(areLettersOn(), false);
    assert.equal(areLettersKept(), name === "a browser that keeps them");
    for (const isPresenting of [false, true]) {
      assert.deepEqual(pressed({ isPresenting }), [null, null, null, null]);
      const others = ["PageDown", "ArrowLeft", "Escape"].map(key => press(key, null, {}, { isPresenting }));
      assert.deepEqual(others, ["on", "back", "leave"]);
    }
    turnLetters(true);
    assert.deepEqual(pressed({}), Object.values(LETTERS));
  });
}

test("what another tab has switched off is off here, whatever was kept before", () => {
  const kept = { text: "on" };
  const value = {
    getItem: () => kept.text,
    setItem: (_name, text) => {
      kept.text = text;
    },
  };
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value });
  turnLetters(true);
  kept.text = "off";
  assert.equal(areLettersOn(), false);
  kept.text = "anything that was written there";
  assert.equal(areLettersOn(), true);
});

// Keys pressed on a page, so many ms after each other; what was done, where there are so many bands.
function listened(presses, bands = 12) {
  let listener = null,
    timeStamp = 5000;
  const done = [],
    page = {
      addEventListener: (_name, heard) => {
        listener = heard;
      },
    },
    root = { parentNode: {}, getRootNode: () => ({}) };
  const act = command => {
    const isThere = Number(command.slice(5)) >= 1 && Number(command.slice(5)) <= bands;
    if (isThere) done.push(command);
    return isThere;
  };
  listenToKeys(page, root, act, () => true);
  for (const [key, ms] of presses) {
    timeStamp += ms;
    listener({ key, timeStamp, composedPath: () => [], preventDefault: () => {}, stopPropagation: () => {} });
  }
  return done;
}

test("digits in quick succession are the number of a band, and others a number each", () => {
  assert.deepEqual(
    listened([
      ["1", 0],
      ["2", 200],
    ]),
    ["band 1", "band 12"],
  );
  assert.deepEqual(
    listened([
      ["1", 0],
      ["2", 1200],
    ]),
    ["band 1", "band 2"],
  );
  assert.deepEqual(
    listened([
      ["1", 0],
      ["0", 200],
      ["3", 200],
    ]),
    ["band 1", "band 10", "band 3"],
    "there are no 103",
  );
  assert.deepEqual(
    listened([
      ["9", 0],
      ["9", 100],
    ]),
    ["band 9", "band 9"],
  );
  assert.deepEqual(listened([["0", 0]]), []);
});

test("Home and End lead to the ends of a talk, and else scroll", () => {
  for (const on of [null, "button", "[role=grid]"]) {
    assert.deepEqual(
      ["Home", "End"].map(key => press(key, on, {}, { isPresenting: true })),
      ["first", "last"],
    );
    assert.deepEqual(
      ["Home", "End"].map(key => press(key, on)),
      [null, null],
    );
  }
  for (const on of ["input", "input[type=range]"]) assert.equal(press("End", on, {}, { isPresenting: true }), null, on);
});

test("a key that comes before a closed dialog has lost the keyboard is the page's", () => {
  const done = [];
  let listener;
  const page = { addEventListener: (_, each) => (listener = each) };
  listenToKeys(
    page,
    { parentNode: {}, getRootNode: () => ({}) },
    command => done.push(command),
    () => false,
  );
  const inDialog = open => ({
    contains: () => false,
    closest: selector =>
      selector === "dialog:not([open])" ? !open : selector.startsWith("dialog") ? open : selector.startsWith("input"),
  });
  for (const open of [true, false]) {
    const composedPath = () => [inDialog(open)];
    for (const key of ["ArrowRight", "m"]) {
      listener({ key, timeStamp: 0, composedPath, preventDefault: () => {}, stopPropagation: () => {} });
    }
  }
  assert.deepEqual(done, ["on", "moment"]);
});
