import assert from "node:assert/strict";
import test from "node:test";
import { readWhere, resultStages, revealAt, revealsOf } from "../../attnviz/viewer/browser/model/address.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { destinationOf } from "../../attnviz/viewer/browser/model/present.js";
import { makePlay, stopAtEnd, ticksOf } from "../../attnviz/viewer/browser/model/route.js";
import { atCell, atHead, atStep, besideStep, carried, fitted } from "../../attnviz/viewer/browser/model/state.js";
import {
  focusOf,
  isSheet,
  ORDERS,
  QUESTIONS,
  revealsOfBands,
  visibleRows,
  stepsOf,
} from "../../attnviz/viewer/browser/model/state.js";
import { toCome, unfolded, walkOf, withAnswerOfRow } from "../../attnviz/viewer/browser/model/state.js";
import { documentOf, filled, layeredDocumentOf, withWords } from "./documents.mjs";
import { mockTimeouts } from "./helpers.mjs";

const PASS = readPass(documentOf());
const FIRST = readWhere(PASS, "");
const at = parts => ({ ...FIRST, ...parts });
const spoken = (...words) => ({ query: words, key: words, shared: true });
const addressIn = where => PASS.address(...Object.values(focusOf(PASS, where)));

test("a step is about the last of its stages, or the one that was picked among what it shows", () => {
  assert.equal(addressIn(at({ step: "scores" })), "scores[0,1,2]");
  assert.equal(addressIn(at({ step: "scores", picked: "q" })), "q[0,1,0]");
  assert.equal(addressIn(at({ step: "scores", picked: "output" })), "scores[0,1,2]");
  assert.equal(addressIn(at({ step: "whole-pass" })), "output[1,0]");
});

test("every cell that is picked is in focus, in a step that shows it, with the coordinates it lacks kept", () => {
  for (const { step } of PASS.document.map.columns) {
    for (const [name, { shape }] of PASS.stages) {
      const where = at({ step, cell: { head: 1, query: 3, key: 4, feature: 2, dimension: 6 }, trail: ["output[1,0]"] });
      const index = shape.map(length => length - 1);
      const there = { ...where, ...atCell(PASS, where, name, index) };
      assert.deepEqual(focusOf(PASS, there), { name, index }, `${name} from ${step}`);
      assert.deepEqual(PASS.indexAt(name, there.cell), index);
      const changed = PASS.selectionAt(name, index, {});
      for (const [each, place] of Object.entries(there.cell)) assert.equal(place, changed[each] ?? where.cell[each]);
    }
  }
});

test("unfolding goes back cell by cell to a given number, and the trail stays one", () => {
  let where = at({ step: "output" });
  for (let cells = PASS.cellsOf("output", [1, 0]); cells.length; cells = PASS.cellsOf(cells[0].name, cells[0].index)) {
    where = { ...where, ...unfolded(PASS, where, cells[0].name, cells[0].index) };
    assert.deepEqual(focusOf(PASS, where), cells[0]);
    assert.deepEqual(PASS.indexAt(cells[0].name, where.cell), cells[0].index, "the pictures show it");
    assert.deepEqual(fitted(PASS, where), where);
  }
  assert.equal(where.trail[0], "output[1,0]");
  assert.equal(PASS.stages.get(focusOf(PASS, where).name).rule, null);
});

test("with other words one looks at what is seen first of them, unless another word was picked", () => {
  const { document } = PASS,
    start = { ...document.starts[0], query: 2 },
    same = { ...document, starts: [start] },
    other = withWords(same, spoken("owls", "see", "mice"));
  const carriedTo = (where, now) => carried({ document, where }, now).cell,
    picked = at({ cell: { ...FIRST.cell, key: 3 } });
  for (const where of [FIRST, at({ cell: { ...FIRST.cell, feature: 1 } })])
    assert.deepEqual(carriedTo(where, other), start);
  assert.deepEqual(carriedTo(FIRST, same), { ...FIRST.cell, query: 2 }, "of the same words too");
  for (const now of [same, other]) assert.deepEqual(carried({ document, where: picked }, now), picked);
});

test("what is selected follows its words, each as often as it was there before, where both still are", () => {
  const document = withWords(PASS.document, spoken("the", "dog", "bites", "the (2)", "man"));
  const moved = (query, key, ...words) => {
    const where = at({ cell: { ...FIRST.cell, head: 1, feature: 3, query, key }, trail: ["scores[0,1,2]"] });
    const { cell, trail } = carried({ document, where }, withWords(document, spoken(...words)));
    assert.deepEqual({ ...where.cell, query: cell.query, key: cell.key }, cell, "all but the words stays");
    const isSame = cell.query === query && cell.key === key;
    assert.equal(trail.length, Number(isSame), "what was unfolded was of other words");
    return [cell.query, cell.key];
  };
  assert.deepEqual(moved(1, 2, "the", "man", "bites", "the (2)", "dog"), [4, 2], "what was seen first, too");
  assert.deepEqual(moved(2, 4, "man", "bites", "dog"), [1, 0]);
  assert.deepEqual(moved(3, 4, "man", "the", "the (2)"), [2, 0]);
  assert.deepEqual(moved(3, 4, "man", "bites", "the"), [3, 4], "there is no second any more");
  assert.deepEqual(moved(2, 4, "man", "looks", "up"), [2, 4]);
});

test("queries are sought among queries, keys among keys", () => {
  const of = (...keys) => withWords(PASS.document, { query: ["the", "cat"], key: keys, shared: false }),
    where = at({ cell: { ...FIRST.cell, query: 0, key: 1 } }),
    { cell } = carried({ document: of("le", "chat"), where }, of("chat", "le", "the"));
  assert.deepEqual(cell, { ...where.cell, key: 0 });
});

test("of a model that is asked something one looks at what is seen first, wherever the words are now", () => {
  const document = withWords({ ...PASS.document, model: {} }, spoken("a", "b", "c")),
    now = withWords(document, spoken("c", "b", "a"));
  assert.deepEqual(carried({ document, where: FIRST }, now), FIRST);
  const picked = at({ cell: { ...FIRST.cell, query: 0 } });
  assert.deepEqual(carried({ document, where: picked }, now).cell, { ...picked.cell, query: 2, key: 0 });
});

test("two words that were swapped stay selected, and swapped back they are where they were", () => {
  const document = withWords({ ...PASS.document, model: {} }, spoken("a", "b", "c")),
    now = withWords(document, spoken("a", "c", "b"));
  const swapped = carried({ document, where: FIRST }, now);
  assert.deepEqual([swapped.cell.query, swapped.cell.key], [FIRST.cell.key, FIRST.cell.query]);
  assert.deepEqual(carried({ document: now, where: swapped }, document).cell, FIRST.cell);
});

test("a trail is kept as far as each cell was computed from the next", () => {
  const trailOf = trail => fitted(PASS, at({ trail: trail.split(" ") })).trail.join(" ");
  assert.equal(trailOf("output[1,0] concat[1,5] heads[1,1,1]"), "output[1,0] concat[1,5] heads[1,1,1]");
  assert.equal(trailOf("output[1,0] concat[2,5] heads[1,2,1]"), "output[1,0]");
  for (const nowhere of ["output[1,99] concat[1,5]", "nonsense"]) assert.equal(trailOf(nowhere), "");
});

test("a place in one pass is a place in any other", () => {
  const small = readPass(documentOf({ nWords: 1, dModel: 2, nHeads: 1 })),
    cell = { head: 1, query: 5, key: 5, feature: 3, dimension: 7 },
    where = fitted(small, at({ step: "output", cell, trail: ["output[5,7]"], picked: "gone" }));
  assert.deepEqual(where.cell, { head: 0, query: 0, key: 0, feature: 1, dimension: 1 });
  assert.deepEqual([where.trail, where.picked], [[], ""]);
});

test("whose slopes are asked for stays in focus on other steps; a trail ends there else", () => {
  const where = fitted(PASS, at({ step: "output", ask: "slope" }));
  const there = { ...where, ...atStep(PASS, where, "softmax") };
  assert.equal(addressIn(there), "output[1,0]");
  assert.equal(addressIn({ ...there, ...atHead(PASS, there, 1) }), "output[1,0]");
  const other = { ...at({ trail: ["output[1,0]"] }), ...atStep(PASS, at({ trail: ["output[1,0]"] }), "softmax") };
  assert.equal(addressIn(other), "attention[0,1,2]");
});

test("in the whole pass every number can be picked where one is", () => {
  for (const name of PASS.stages.keys()) {
    const index = PASS.indexAt(name, FIRST.cell);
    assert.equal(atCell(PASS, at({ step: "whole-pass" }), name, index).step, undefined);
  }
});

test("another head is that of the number in focus too, also after unfolding", () => {
  for (const trail of [[], ["scores[0,1,2]", "q[0,1,3]"]]) {
    const where = at({ step: "scores", trail });
    assert.equal(addressIn({ ...where, ...atHead(PASS, where, 1) }), "scores[1,1,2]");
  }
});

test("whatever is asked, in whatever order, stays so in another pass; what there is not becomes the first", () => {
  for (const ask of QUESTIONS)
    for (const order of ORDERS) {
      const trail = ask === QUESTIONS[1] ? ["attention[0,1,2]"] : []; // the slopes of one number, which is held
      assert.deepEqual(fitted(PASS, at({ ask, order })), at({ ask, order, trail }));
    }
  assert.deepEqual(fitted(PASS, at({ ask: "why", order: "random" })), FIRST);
});

test("steps and heads follow each other; a step that the pass lacks is passed over both ways", () => {
  const document = documentOf(),
    steps = document.steps.filter(({ id }) => id !== "positions" && id !== "mask");
  for (const pass of [PASS, readPass({ ...document, steps })]) {
    const ids = pass.document.steps.map(({ id }) => id),
      next = by => ids.map(step => besideStep(pass, at({ step }), by));
    assert.deepEqual(
      [next(1), next(-1)],
      [
        [...ids.slice(1), null],
        [null, ...ids.slice(0, -1)],
      ],
    );
  }
  const second = atHead(PASS, FIRST, 1).cell;
  const actual = [second.head, atHead(PASS, FIRST, -1).cell.head, atHead(PASS, at({ cell: second }), 1).cell.head];
  assert.deepEqual(actual, [1, 1, 0]);
});

const onSheet = (step, parts = {}) => ({ ...readWhere(PASS, `?step=${step}&view=sheet`), ...parts });
const named = (is, where) =>
  visibleRows(PASS, where)
    .filter(each => each[is])
    .map(({ band: { cells, array } }) => cells.stage + array);
const [shown, whole, lit, multiplied] = ["isThere", "isWhole", "isLit", "multiplies"].map(is => named.bind(null, is));
const textOf = ({ step, reveal }) => `${step} ${reveal}`;

function walkedOnSheet(from, command = "on") {
  const places = [from];
  for (let to = from; to; ) {
    to = destinationOf(PASS, places.at(-1), command);
    if (to) places.push({ ...places.at(-1), ...to });
    assert.ok(places.length < 40);
  }
  return places;
}

test("each step of the sheet has what it adds, what stood before it, and nothing of what follows", () => {
  assert.deepEqual(shown(onSheet("qkv")), ["k"]);
  assert.deepEqual(shown(onSheet("scaling")), ["k", "scores", "scaled"]);
  assert.deepEqual(shown(onSheet("softmax")), ["k", "scores", "scaled", "masked", "attention#exp", "attention"]);
  assert.deepEqual([...toCome(PASS, onSheet("scaling"))].sort(), ["attention", "heads", "masked", "v"]);
  assert.deepEqual(
    shown(onSheet("output")),
    ["attention", "w_o", "output"],
    "what comes of the words is a page of its own",
  );
  for (const step of walkOf(PASS, onSheet("scores")).slice(1)) assert.deepEqual(lit(onSheet(step)).length, 1, step);
});

test("numbers are multiplied before their sum is there", () => {
  const actual = ["qkv", "scores", "scaling"].map(step => multiplied(onSheet(step)).join());
  assert.deepEqual(actual, ["", "k", ""]);
  const first = step => onSheet(step, { reveal: 0 });
  assert.deepEqual([shown(first("scores")), shown(onSheet("scores"))], [["k"], ["k", "scores"]]);
  assert.deepEqual(multiplied(first("scores")), ["k"]);
  const values = [shown(first("weighted-sum")), whole(first("weighted-sum")), whole(onSheet("weighted-sum"))];
  assert.deepEqual(
    values.map(each => each.at(-1)),
    ["v", "attention", "v"],
  );
  assert.deepEqual([shown(first("output")).join(), multiplied(first("output")).join()], ["attention,w_o", "w_o"]);
});

test("who presents goes from band to band, and back the same way", () => {
  const every = { route: "every-step" },
    first = { ...onSheet("question", every), ...destinationOf(PASS, onSheet("question", every), "present") };
  assert.deepEqual([first.step, first.reveal, first.view], ["question", null, "sheet"]);
  const places = walkedOnSheet(first),
    texts = places.map(textOf),
    twice = ["scores", "softmax", "weighted-sum", "output"];
  const steps = ["question", "qkv", "scores", "scaling", "mask", "softmax", "weighted-sum", "concatenation", "output"];
  const actual = texts;
  assert.deepEqual(
    actual,
    steps.flatMap(step => [...(twice.includes(step) ? [`${step} 0`] : []), `${step} null`]),
  );
  const pictures = places.map(where => JSON.stringify([shown(where), whole(where), multiplied(where)]));
  assert.equal(new Set(pictures).size, places.length, "each press shows something");
  assert.deepEqual(walkedOnSheet(places.at(-1), "back").slice(0, places.length).map(textOf), texts.toReversed());
});

test("the short route asks, compares, shares, collects and answers", () => {
  const stepsFrom = from =>
    walkedOnSheet({ ...onSheet(from), present: true })
      .map(textOf)
      .join(", ");
  const rest = "softmax null, weighted-sum null, output null";
  assert.equal(stepsFrom("question"), `question null, scores null, ${rest}`);
  assert.equal(stepsFrom("mask"), `mask null, ${rest}`, "from wherever one is");
});

test("the short route's second stop is the layer that makes the keys of the last", () => {
  const document = layeredDocumentOf({}, 3),
    [french, english] = [
      ["le", "chat", "<end>"],
      ["the", "cat", "<end>"],
    ],
    of = [english, french, french].map((query, nth) => ({ query, key: nth === 1 ? french : english, shared: nth < 2 }));
  const stepsWith = layers => {
    const pass = readPass({ ...document, layers }),
      where = { ...readWhere(pass, "?view=sheet"), present: true };
    return stopAtEnd(pass, where, 1).step;
  };
  assert.equal(stepsWith(document.layers), "softmax-2");
  assert.equal(stepsWith(document.layers.map((layer, nth) => ({ ...layer, words: of[nth] }))), "softmax-1");
});

test("Play goes the same way, from where one is to the end, and from the end once more", () => {
  const played = where => ticksOf(PASS, where).map(textOf);
  assert.deepEqual(played(onSheet("mask")).slice(0, 2), ["mask null", "softmax 0"]);
  assert.deepEqual(played(onSheet("output")), played(onSheet("qkv")));
  const actual = played(onSheet("qkv"));
  assert.deepEqual(actual, walkedOnSheet({ ...onSheet("qkv"), present: true, route: "every-step" }).map(textOf));
});

test("a key leads from one view to the other, and a step without bands is shown for all words", () => {
  assert.equal(destinationOf(PASS, onSheet("scores"), "view").view, "matrices");
  assert.equal(destinationOf(PASS, onSheet("scores", { view: "matrices" }), "view").view, "sheet");
  const actual = ["question", "tokens", "scores", "whole-pass"].map(step => isSheet(PASS, onSheet(step)));
  assert.deepEqual(actual, [false, false, true, false]);
  assert.equal(destinationOf(PASS, onSheet("tokens"), "on").step, "qkv");
  assert.equal(destinationOf(PASS, onSheet("tokens"), "back").step, "question");
});

const PASSES = [{}, { nWords: 1, dModel: 2, nHeads: 1 }, { nWords: 2, dModel: 4, nHeads: 4 }].map(options =>
  readPass(documentOf(options)),
);
const onPictures = (step, parts = {}, pass = PASS) => ({
  ...readWhere(pass, `?step=${step}`),
  view: "matrices",
  present: true,
  ...parts,
});

function shownAt(pass, where, part = null) {
  const { isShown } = revealAt(pass, where, part);
  return resultStages(pass, where)
    .flatMap(name => filled(pass.stages.get(name).shape, (...index) => isShown(name, index)).flat(Infinity))
    .filter(Boolean).length;
}

function walked(pass, from, command) {
  const places = [];
  for (let where = from, parts = {}; parts; parts = destinationOf(pass, where, command), where = { ...where, ...parts })
    places.push(where);
  return places;
}

test("the reveals of a step", () => {
  assert.deepEqual(revealsOf(PASS, onPictures("scores")), ["nothing", "lit", "products", "sum", "next", "row"]);
  assert.deepEqual(revealsOf(PASS, onPictures("tokens")), ["nothing", "sum", "next", "row"]);
  assert.deepEqual(revealsOf(PASS, onPictures("question")), []);
});

test("how many cells each reveal shows: none, the one, the next, its row, all", () => {
  const counts = [0, 1, 2, 3, 4, 5, null].map(reveal => shownAt(PASS, onPictures("scores", { reveal })));
  assert.deepEqual(counts, [0, 0, 0, 1, 2, 6, 72]);
  const cell = { head: 1, query: 2, key: 5, feature: 0, dimension: 0 },
    { isShown } = revealAt(PASS, onPictures("scores", { reveal: 4, cell }));
  assert.ok(isShown("scores", [1, 2, 5]) && isShown("scores", [1, 2, 0]) && !isShown("scores", [1, 2, 1]));
  assert.ok(isShown("q", [0, 0, 0]), "what the step is computed from is always there");
});

test("no term is listed before the products, then as many as Play has come to, then all", () => {
  const listed = (reveal, part = null) => revealAt(PASS, onPictures("scores", { reveal }), part).lines;
  const actual = [0, 1, 2, 3, 4, 5, null].map(reveal => listed(reveal));
  assert.deepEqual(actual, [0, 0, ...Array(5).fill(null)]);
  assert.deepEqual(
    [1, 2, 3, 4].map(part => listed(2, part)),
    [1, 2, 3, 4],
  );
});

test("a remote goes through every reveal of every step and back the same way", () => {
  for (const pass of PASSES) {
    const seen = walked(pass, onPictures(stepsOf(pass)[0], {}, pass), "on");
    for (const [nth, where] of seen.slice(1).entries())
      if (seen[nth].step === where.step)
        assert.ok(shownAt(pass, where) >= shownAt(pass, seen[nth]), "what is there stays");
    assert.deepEqual([...new Set(seen.map(({ step }) => step))], stepsOf(pass));
    assert.equal(seen.at(-1).reveal, null);
    assert.deepEqual(walked(pass, seen.at(-1), "back"), seen.toReversed());
  }
});

test("without presenting a key is a step", () => {
  assert.equal(destinationOf(PASS, onPictures("scores", { present: false }), "on").step, "scaling");
  assert.equal(destinationOf(PASS, onPictures("scores", { present: false }), "back").step, "qkv");
  assert.equal(destinationOf(PASS, onPictures("question", { present: false }), "back"), null);
  assert.equal(destinationOf(PASS, onPictures("scores", { present: false }), "leave"), null);
});

test("presenting begins with nothing and leaves all of it", () => {
  const first = { present: true, view: "sheet", step: "scores", reveal: 0 };
  assert.deepEqual(destinationOf(PASS, onPictures("scores", { present: false }), "present"), first);
  for (const command of ["present", "leave"])
    assert.deepEqual(destinationOf(PASS, onPictures("scores", { reveal: 2 }), command), {
      present: false,
      reveal: null,
    });
});

test("Play goes through the same reveals, product by product, cell by cell, row by row, and takes nothing back", () => {
  for (const pass of PASSES) {
    for (const step of stepsOf(pass)) {
      const where = onPictures(step, {}, pass),
        ticks = ticksOf(pass, where),
        counts = ticks.map(({ reveal, part }) => shownAt(pass, { ...where, reveal }, part));
      assert.deepEqual(
        counts,
        counts.toSorted((one, other) => one - other),
        step,
      );
      assert.deepEqual([...new Set(ticks.map(({ reveal }) => reveal))], [...revealsOf(pass, where).keys(), null]);
      assert.deepEqual({ ...ticks.at(-1), ms: 0 }, { reveal: null, part: null, ms: 0 });
      assert.ok(ticks.length < 90);
    }
  }
  const products = ticksOf(PASS, onPictures("scores")).filter(({ reveal }) => reveal === 2);
  const actual = products.map(({ part }) => part);
  assert.deepEqual(actual, [1, 2, 3, 4]);
});

const TICKS = ["a", "b", "c", "d"].map(name => ({ name, ms: 100 }));

// A play of these ticks, the names of what it has shown, and how often it started or stopped.
function played(t, ticks = TICKS) {
  mockTimeouts(t);
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

test("the sum of a band is there from its last reveal on", () => {
  const step = PASS.document.steps.find(({ id }) => id === "weighted-sum"),
    { count, reveals } = revealsOfBands(step),
    last = reveals.at(-1).last;
  assert.ok(last > 0 && last <= count);
  const isWhole = reveal => visibleRows(PASS, at({ step: "weighted-sum", reveal })).at(-1).isWhole;
  assert.deepEqual([isWhole(last - 1), isWhole(last)], [false, true]);
});

test("the answer goes with its row until another is picked, and rows without answers keep it", () => {
  const words = { query: ["<begin>", "le", "chat"], key: ["the", "cat"] },
    layers = [{ words: { query: words.key, key: words.key } }, { words }],
    most = [3, 1, 2],
    pass = /** @type {any} */ ({
      document: { layers, words, model: { answers: "probabilities" } },
      wordsAt: step => layers[step === "softmax-1" ? 0 : 1].words,
      layerAt: step => (step === "softmax-1" ? 1 : 2),
      row: (_name, [query]) => [0, 1, 2, 3].map(answer => Number(answer === most[query])),
    });
  const place = (query, answer, step = "answer", kept = {}) =>
    /** @type {any} */ ({ step, kept, cell: { query, answer } });
  const cases = /** @type {any} */ ({
    "to another row": [place(1, 1), place(2, 1), 2],
    "from a picked answer": [place(1, 0), place(2, 0), 0],
    "to a picked answer": [place(1, 1), place(1, 0), 0],
    "to the other text": [place(1, 1), place(0, 1, "softmax-1"), 1],
    "from the other text": [place(0, 1, "softmax-1"), place(2, 1), 2],
    "back to what was picked": [place(0, 0, "softmax-1"), place(1, 0, "answer", { 2: {} }), 0],
  });
  for (const [name, [before, after, answer]] of Object.entries(cases))
    assert.equal(withAnswerOfRow({ pass, where: before }, pass, after).cell.answer, answer, name);
});
