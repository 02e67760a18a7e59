import assert from "node:assert/strict";
import test from "node:test";
import { background, css, PALETTES, textOn } from "../../attnviz/viewer/browser/dom/colour.js";
import { afterFrame, openDialog } from "../../attnviz/viewer/browser/dom/element.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import {
  areLettersKept,
  areLettersOn,
  commandOf,
  listenToKeys,
  turnLetters,
} from "../../attnviz/viewer/browser/model/shortcuts.js";
import { bytesOf, fileName, isWhole, sizeText } from "../../attnviz/viewer/browser/views/download.js";
import { answersOf } from "../../attnviz/viewer/browser/views/modelAnswer.js";
import { drawMatrix } from "../../attnviz/viewer/browser/views/pieces.js";
import { isNewcomer } from "../../attnviz/viewer/browser/views/stepText.js";
import { documentOf, encoded } from "./documents.mjs";
import { forbidden, storeOf } from "./helpers.mjs";

// Something that has the keyboard, as far as selectors are asked of it.
const focused = name => ({
  closest: selector => (selector.split(", ").some(each => each.split(":")[0] === name) ? {} : null),
});
const press = (key, on = null, more = {}, { isPresenting = false, isAtViewer = true } = {}) =>
  commandOf({ key, ...more }, { focused: on && focused(on), isAtViewer, isPresenting });

const remote = (on, how) => ["PageDown", "PageUp", "Escape"].map(key => press(key, on, {}, how));
const arrows = (on, how) => ["ArrowRight", "ArrowLeft"].map(key => press(key, on, {}, how));

test("while presenting a remote's buttons work whatever has the keyboard", () => {
  for (const on of [null, "input", "textarea", "select", "[role=grid]", "[role=slider]"])
    for (const isAtViewer of [true, false])
      assert.deepEqual(remote(on, { isPresenting: true, isAtViewer }), ["on", "back", "leave"], on);
});

test("else they are a text's where someone types, and work everywhere else", () => {
  for (const on of ["input", "textarea", "[contenteditable=true]"])
    assert.deepEqual(remote(on), [null, null, "leave"], on);
  for (const on of [null, "select", "button", "[role=grid]", "[role=slider]"])
    assert.deepEqual(remote(on), ["on", "back", "leave"], on);
});

test("arrows are not taken from a box, a slider or a grid, letters not from a text", () => {
  for (const on of ["input", "textarea", "select", "[role=grid]", "[role=slider]", "[role=radiogroup]"])
    assert.deepEqual(arrows(on), [null, null], on);
  for (const on of ["input", "textarea", "select"])
    assert.deepEqual([press("p", on), press("[", on)], [null, null], on);
  assert.deepEqual([press("p", "[role=grid]"), press("]", "[role=grid]")], ["present", "head on"]);
  for (const on of [null, "button"]) assert.deepEqual(arrows(on), ["on", "back"]);
});

test("while presenting arrows are a remote's too, but not where someone types", () => {
  for (const on of ["[role=grid]", "[role=radiogroup]", "button"])
    assert.deepEqual(arrows(on, { isPresenting: true }), ["on", "back"], on);
  for (const on of ["input", "textarea", "select"]) assert.deepEqual(arrows(on, { isPresenting: true }), [null, null]);
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
  for (const key of ["PageDown", "ArrowRight"]) assert.equal(press(key, "button", {}, { isAtViewer: false }), "on");
});

const STORES = {
  "a browser that keeps them": () => ({ value: storeOf() }),
  "a browser that refuses to be asked": () => ({ get: forbidden }),
  "a browser whose store is full": () => ({ value: storeOf({}, 0) }),
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
  const kept = { text: "on" },
    value = { getItem: () => kept.text, setItem: (_name, text) => Object.assign(kept, { text }) };
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
    timeStamp = 100; // the page is that young at the first
  const done = [],
    page = { addEventListener: (_name, heard) => (listener = heard) },
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
  const bandsOf = (digits, ...pauses) => listened([...digits].map((digit, nth) => [digit, pauses[nth]])).join();
  assert.equal(bandsOf("12", 0, 200), "band 1,band 12");
  assert.equal(bandsOf("12", 0, 1200), "band 1,band 2");
  assert.equal(bandsOf("103", 0, 200, 200), "band 1,band 10,band 3", "there are no 103");
  assert.equal(bandsOf("99", 0, 100), "band 9,band 9");
  assert.equal(bandsOf("0", 0), "");
});

test("Home and End lead to the ends of a talk, and else scroll", () => {
  const ends = (on, how) => ["Home", "End"].map(key => press(key, on, {}, how));
  for (const on of [null, "button", "[role=grid]"]) {
    assert.deepEqual(ends(on, { isPresenting: true }), ["first", "last"]);
    assert.deepEqual(ends(on), [null, null]);
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

const LABELS = ["cat", "mat"];
const chunk = shares => encoded(shares, { perHead: false });

// A pass of three words that ends in these probabilities.
function answering(shares, model, before = {}) {
  const given = documentOf({ nWords: shares.length });
  const axes = [
    given.stages.output.axes[0],
    { name: "answer", title: "answers", labels: LABELS, coordinates: [["answer", LABELS.length]] },
  ];
  given.stages.probabilities = { ...given.stages.output, axes, scale: "share", values: chunk(shares), rule: null };
  given.before = before;
  given.model = { answers: "probabilities", training: null, ...model };
  return readPass(given);
}

const SHARES = [0.25, 0.64, 0.5].map(share => [share, 1 - share]);
const verdictsOf = (...given) => answersOf(answering(...given)).map(({ place, verdict }) => `${place} ${verdict}`);

test("what is likeliest is answered where something is asked, or at the last word, and right where it is what is known", () => {
  const pass = answering(SHARES, { read: "each", right: ["mat", "mat", null] });
  assert.deepEqual(answersOf(pass), [
    { place: 0, index: [0, 1], label: "mat", share: 0.75, verdict: "right", before: null },
    { place: 1, index: [1, 0], label: "cat", share: 0.64, verdict: "wrong", before: null },
  ]);
  const unknown = verdictsOf(SHARES, { read: "each", right: [null, null, null] });
  assert.deepEqual(unknown, ["0 unknown", "1 unknown", "2 unknown"]);
  assert.deepEqual(verdictsOf(SHARES, { read: "last", right: [null, null, "cat"] }), ["2 tied"]);
});

test("a right answer before any training is a guess", () => {
  const verdicts = verdictsOf(SHARES, { read: "each", right: ["mat", "mat", null], guesses: true });
  assert.deepEqual(verdicts, ["0 guess", "1 wrong"]);
});

test("beside a number set by hand stands what was answered before, where that was something else", () => {
  const before = { probabilities: chunk([0.75, 0.641, 0.125].map(share => [share, 1 - share])) };
  const found = answersOf(answering(SHARES, { read: "each", right: [null, null, null] }, before));
  const texts = found.map(each => each.before && `${each.before.label} ${each.before.share}`);
  assert.deepEqual(texts, ["cat 0.75", null, "mat 0.875"]);
});

test("a pass that answers nothing has no answers", () => {
  assert.deepEqual(answersOf(readPass({ ...documentOf(), model: null })), []);
});

test("answers that are equally likely are none", () => {
  const shares = [0.5, 0.5 + 1e-12, 0.51].map(share => [share, 1 - share]),
    found = answersOf(answering(shares, { read: "each", right: ["mat", "cat", "cat"] }));
  const texts = found.map(({ label, verdict }) => `${label} ${verdict}`);
  assert.deepEqual(texts, ["tied tied", "tied tied", "cat right"]);
});

const sentDocument = (values, sentence) => ({
  stages: { x: { values: ["AAAA"] }, q: { values } },
  link: sentence ? { sentence } : {},
  words: { query: ["a", "b"] },
});

test("heads that were not sent are counted as those that were", () => {
  const sent = sentDocument(["AAAA", null, null]),
    whole = sentDocument(["AAAA", "AAAA", "AAAA"]);
  assert.deepEqual([isWhole(sent), isWhole(whole)], [false, true]);
  assert.equal(bytesOf(sent, 100), 100 + JSON.stringify(whole).length);
  assert.equal(bytesOf(sent, 100, false), 100 + JSON.stringify(sent).length, "to a page alone nothing comes");
});

test("a size is said in kB, and in MB from one on", () => {
  assert.deepEqual([392_600, 999_400, 1_726_000].map(sizeText), ["393 kB", "999 kB", "1.7 MB"]);
});

test("a file is named by its words, whatever they hold", () => {
  assert.equal(fileName(sentDocument([], "../../<b>the</b> cat: 猫?")), "attnviz b the b cat 猫.html");
  assert.equal(fileName(sentDocument([])), "attnviz a b.html");
  assert.ok(fileName(sentDocument([], "word ".repeat(40))).length <= 65);
});

test("a number in an article's table has the ramp's colour and a readable ink in both themes, and a zero has none", t => {
  const made = [],
    nothing = () => {};
  t.after(() => Object.assign(globalThis, { document: undefined, ResizeObserver: undefined }));
  globalThis.ResizeObserver = class {
    observe() {}
  };
  const createElement = tag => {
    made.push({ tag, style: {}, append: nothing, prepend: nothing, classList: { add: nothing } });
    return made.at(-1);
  };
  globalThis.document = { createElement };
  const side = { title: "", labels: ["1", "2"], blocks: [] },
    numbers = {
      values: [
        [-1, 2],
        [0, -4],
      ],
      texts: [
        ["−1", "2"],
        ["", "−4"],
      ],
      limit: 8,
      scale: "signed",
    };
  drawMatrix({ caption: "Numbers", rows: side, columns: side, marked: null, ...numbers });
  const styles = made.filter(({ tag, title }) => tag === "td" && title).map(({ style }) => style),
    inBoth = draw => `light-dark(${[PALETTES.light, PALETTES.dark].map(palette => css(draw(palette)))})`,
    fillOf = value => palette => background(value, { scale: "signed", limit: 8 }, palette);
  const expected = [-1, 2, -4].map(value => ({
    backgroundColor: inBoth(fillOf(value)),
    color: inBoth(palette => textOn(fillOf(value)(palette))),
  }));
  assert.deepEqual(styles, [expected[0], expected[1], {}, expected[2]]);
});

test("a browser is new once, and never where it may keep nothing", () => {
  const store = storeOf();
  const actual = [1, 2, 3].map(() => isNewcomer(() => store));
  assert.deepEqual(actual, [true, false, false]);
  assert.equal(isNewcomer(forbidden), false);
});

// A dialog whose close event fires when hear() is called, and the children of where it stands.
function opened() {
  const children = new Set(),
    heard = new Set(),
    dialog = { open: false, remove: () => children.delete(dialog) };
  dialog.showModal = () => (dialog.open = true);
  dialog.addEventListener = (_, listener) => heard.add(listener);
  const open = () => openDialog(dialog, { append: each => children.add(each) });
  return { dialog, children, open, hear: () => heard.forEach(each => void each({ currentTarget: dialog })) };
}

test("a dialog that is open again stays when its earlier closing is heard of", () => {
  const { dialog, children, open, hear } = opened();
  open();
  dialog.open = false;
  open();
  hear();
  assert.deepEqual([...children], [dialog]);
  dialog.open = false;
  hear();
  assert.equal(children.size, 0);
});

// The frames and the tasks that were asked for, to be had one by one.
function browser(t) {
  const frames = [],
    tasks = [];
  globalThis.requestAnimationFrame = act => frames.push(act);
  t.after(() => Object.assign(globalThis, { requestAnimationFrame: undefined }));
  t.mock.method(globalThis, "setTimeout", act => tasks.push(act));
  const seen = () => {
    for (const act of [frames.shift(), () => frames.shift()()]) act();
  };
  return { frames, tasks, seen };
}

test("what is left for later is done once the next frame is seen, each in a task of its own, in the order in which it was asked for", t => {
  const { frames, tasks, seen } = browser(t),
    done = [];
  for (const name of ["a", "b"]) afterFrame(() => done.push(name));
  assert.deepEqual([frames.length, tasks.length], [1, 0], "there was no frame yet");
  frames.shift()();
  assert.deepEqual([done, tasks], [[], []], "that frame is not painted yet");
  frames.shift()();
  afterFrame(() => done.push("c"));
  for (const all of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    assert.equal(tasks.length, 1);
    tasks.shift()();
    assert.deepEqual(done, all);
  }
  assert.deepEqual([frames.length, tasks.length], [0, 0]);
  afterFrame(() => done.push("d"));
  assert.equal(frames.length, 1, "and what comes after that waits for another frame");
  seen();
  tasks.shift()();
  assert.deepEqual(done.at(-1), "d");
});

test("what fails takes nothing with it, and what one asks for meanwhile is done too", t => {
  const { tasks, seen } = browser(t),
    done = [];
  afterFrame(() => {
    throw new Error("once");
  });
  afterFrame(() => afterFrame(() => done.push("asked meanwhile")));
  seen();
  assert.throws(tasks.shift(), /once/);
  tasks.shift()();
  seen();
  tasks.shift()();
  assert.deepEqual(done, ["asked meanwhile"]);
});
