import assert from "node:assert/strict";
import test from "node:test";
import { captionOf, columnsOf, drawnOf, linesOf, rightOf } from "../../attnviz/viewer/browser/model/twoTexts.js";
import { correctionOf, readsInVain, textsAt, textsOf, verdictOf } from "../../attnviz/viewer/browser/model/twoTexts.js";
import { layerOfKeys, writtenIn } from "../../attnviz/viewer/browser/model/words.js";
import { turnsOf } from "../../attnviz/viewer/browser/views/learns.js";
import { curveOf } from "../../attnviz/viewer/browser/views/twoRows.js";

const WEIGHTS = [
    [0.9, 0.06, 0.035, 0.005],
    [0.01, 0.19, 0.8, 0],
    [0, 0.7, 0.1, 0.2],
    [0.25, 0.25, 0.25, 0.25],
  ],
  FROM = [50, 150, 250, 350],
  TO = [60, 140, 260, 340],
  BAND = 12,
  LINES = linesOf(WEIGHTS, FROM, TO, BAND),
  NEAR = 1e-9;

test("a line leads from its own word to the word it reads, as wide as the weight, and none is drawn under 1 %", () => {
  const all = WEIGHTS.flatMap((row, nth) => row.map((weight, key) => [nth, key, weight]));
  assert.deepEqual(
    LINES.map(({ row, key, weight }) => [row, key, weight]),
    all.filter(([, , weight]) => weight >= 0.01),
  );
  for (const { row, key, weight, width, from, to } of LINES) {
    assert.equal(to, TO[key]);
    assert.ok(Math.abs(from - FROM[row]) + width / 2 <= BAND / 2 + NEAR, "it begins under its word");
    assert.ok(Math.abs(width - BAND * weight) < NEAR);
  }
});

test("lines of one word begin side by side, and two lines cross where their words change their order", () => {
  for (const one of LINES)
    for (const other of LINES) {
      if (one === other || one.key === other.key) continue;
      if (one.row === other.row && one.key < other.key)
        assert.ok(one.from + one.width / 2 <= other.from - other.width / 2 + NEAR);
      const crosses = (one.from - other.from) * (one.to - other.to) < 0;
      assert.equal(crosses, (one.row - other.row) * (one.key - other.key) < 0);
    }
});

test("a curve begins and ends at its points, which change their coordinates in columns", () => {
  const points = [
    [1, 2],
    [1, 5],
    [7, 5],
    [7, 8],
  ];
  assert.equal(curveOf(points, false), "M1.00 2.00C1.00 5.00 7.00 5.00 7.00 8.00");
  assert.equal(
    curveOf(points, true),
    curveOf(
      points.map(([along, across]) => [across, along]),
      false,
    ),
  );
});

test("right are the most words that both texts have in one order", () => {
  const letters = ["a", "b", "c"],
    texts = [[], ...Array.from({ length: 4 }, (_, n) => allOf(n + 1)).flat()];
  for (const words of texts)
    for (const right of texts.filter((each, nth) => nth % 7 === 3 || each.length === 1)) {
      const isRight = rightOf(words, right),
        kept = words.filter((_, nth) => isRight[nth]);
      assert.ok(isIn(kept, right), `${kept} in ${right}`);
      const most = Math.max(...subsetsOf(words).map(each => (isIn(each, right) ? each.length : 0)));
      assert.equal(kept.length, most, `${words} beside ${right}`);
    }
  assert.deepEqual(rightOf(["a", "b"], []), [true, true], "nothing is known of it");
  const end = "<end>";
  assert.deepEqual(rightOf(["x", end], ["a", "b", end]), [false, false], "an end that comes too early is wrong");
  assert.deepEqual(rightOf(["a", "x", "y", end], ["a", "b", end]), [true, false, false, true]);

  function allOf(length) {
    return length === 0 ? [[]] : allOf(length - 1).flatMap(each => letters.map(letter => [...each, letter]));
  }
});

const subsetsOf = ([first, ...rest]) =>
  first === undefined ? [[]] : subsetsOf(rest).flatMap(each => [each, [first, ...each]]);

function isIn(words, text) {
  let at = 0;
  for (const each of text) if (each === words[at]) at += 1;
  return at === words.length;
}

const FILM = [
  { words: ["les", "les"], rows: [WEIGHTS[1], WEIGHTS[2]], right: ["le", "chat", "noir"] },
  { words: ["le", "noir", "chat"], rows: WEIGHTS.slice(0, 3), right: ["le", "chat", "noir"] },
  { words: ["le", "noir", "chat"], rows: WEIGHTS.slice(1), right: ["le", "chat", "noir"] },
];

test("a training shows its checkpoints, and between two of them lines that are on their way", () => {
  const at = (place, most = 9) => textsAt(FILM, ["a", "b", "c", "d"], place, most);
  for (const [place, { words, rows }] of FILM.entries()) {
    assert.deepEqual(
      at(place).slots.map(({ text }) => text),
      words,
    );
    assert.deepEqual(at(place).weights, rows);
  }
  const between = at(0.75);
  assert.equal(between.slots.length, 3, "the words of the nearer one");
  assert.ok(Math.abs(between.weights[0][0] - (0.25 * 0.01 + 0.75 * 0.9)) < NEAR);
  assert.equal(between.weights[2][1], 0.75 * 0.7, "a line of a new word grows");
  assert.equal(at(1).slots.filter(({ isRight }) => !isRight).length, 1, "one of two words that changed places");
  assert.match(verdictOf(at(1)), /^✗ 1 of 3 /);
  assert.equal(at(1, 2).slots[1].text, "…", "a text that is too long for its columns");
  assert.match(verdictOf(at(1, 2)), /^✗ too many/);
  assert.deepEqual([...turnsOf(FILM)], [1]);
});

test("columns have room for the words of the pass and the right ones, not for every wrong one", () => {
  const texts = { keys: ["the", "because"], slots: [{ text: "le" }, { text: "car" }, { text: "<end>" }], weights: [] };
  assert.deepEqual(columnsOf(/** @type {any} */ (texts), []), [5, 7, 5]);
  const film = [
    { words: ["immensement", "x"], rows: [], right: ["extrêmement"] },
    { words: ["a", "b", "c", "traverse"], rows: [], right: ["a", "b", "fatigués", "d"] },
  ];
  assert.deepEqual(columnsOf(/** @type {any} */ (texts), film), [5, 7, 8, 8]);
});

const PASS = /** @type {any} */ ({
    document: {
      words: {
        query: ["<begin>", "le", "chat"],
        key: ["the", "black", "cat", "<end>"],
        shared: false,
        sides: ["F", "E"],
      },
      layers: [{ attention: "attention_3" }],
      model: { answers: "probabilities", training: null },
      next: null,
    },
    stages: new Map([["probabilities", { axes: [{}, { labels: ["le", "noir"] }] }]]),
    row: () => [0.1, 0.9],
    indexAt: (_name, { query, key }) => [0, query, key],
    number: (_name, [, query, key]) => WEIGHTS[query][key],
  }),
  WHERE = /** @type {any} */ ({ cell: { query: 0, key: 0 } });

test("while a question is open, no word is marked as wrong", () => {
  const pass = { ...PASS, document: { ...PASS.document, next: { answer: 1, right: ["la", "vache"] } } };
  const wrong = isAsked =>
    textsOf(pass, WHERE, /** @type {any} */ ({ shown: () => true, isAsked })).slots.filter(slot => !slot.isRight);
  assert.deepEqual(
    [false, true].map(is => wrong(is).length),
    [3, 0],
  );
});

test("the row of a word is that of the word before it, and the last one is of the word that comes next", () => {
  const texts = textsOf(PASS, WHERE, /** @type {any} */ ({ shown: () => true }));
  assert.deepEqual(
    texts.slots.map(({ text, after, isNext, share }) => [after, text, isNext, share]),
    [
      ["<begin>", "le", false, 0],
      ["le", "chat", false, 0],
      ["chat", "noir", true, 0.9],
    ],
  );
  assert.deepEqual(texts.weights, WEIGHTS.slice(0, 3));
  const said = (/** @type {any} */ held) => captionOf(texts, held, 0);
  for (const [place, { text, after }] of texts.slots.entries()) {
    const caption = said({ side: "query", place });
    for (const each of [text, after, ...drawnOf(WEIGHTS[place]).map(([key]) => texts.keys[key])])
      assert.ok(caption.includes(`“${each}”`), caption);
  }
  assert.match(said({ side: "key", place: 2 }), /read by “chat” 80.%, “noir” 10.% and “le” 4.%/);
  assert.match(
    captionOf(texts, null, 2),
    /cross.*“chat” reads “cat” \(80.%\), then “noir”, written after “chat”, reads “black” \(70.%\)/,
  );
  assert.equal(said(null), said({ side: "query", place: 0 }), "the panel tells of that row");
  const alike = { ...texts, weights: [WEIGHTS[0], WEIGHTS[1], WEIGHTS[1]] };
  assert.equal(captionOf(alike, null, 2), captionOf(alike, { side: "query", place: 2 }, 2), "none cross");
});

test("what numbers set by hand make wrong is struck, and the right text is told; alone without them it is not", () => {
  const cases = /** @type {any} */ ([
    [["le", "chat", "noir", "<end>"], ["heads_3"], 0, /^$/],
    [["le", "chien", "noir", "<end>"], ["heads_3"], 1, /: “le chien noir”\.$/],
    [["le", "chien", "noir", "<end>"], [], 1, /^$/],
    [[], ["heads_3"], 0, /grammar/],
    [[], [], 0, /^$/, true],
  ]);
  for (const [right, changes, nWrong, said, hasVerdict = false] of cases) {
    const pass = { ...PASS, document: { ...PASS.document, changes, next: { answer: 1, right } } },
      texts = textsOf(pass, WHERE, /** @type {any} */ ({ shown: () => true }));
    assert.equal(texts.slots.filter(({ isRight }) => !isRight).length, nWrong);
    assert.match(correctionOf(pass, texts, hasVerdict), said);
  }
});

test("a layer reads in vain if all of its heads are muted, one by one or at once", () => {
  const vain = (/** @type {any} */ indices, stage = "heads_1") =>
    readsInVain(
      /** @type {any} */ ({
        document: { changes: indices.map((/** @type {any} */ index) => ({ stage, index })) },
        stages: new Map([["attention_1", { shape: [2, 3, 3] }]]),
        stepOf: () => ({ heads: "heads_1" }),
      }),
      "attention_1",
    );
  assert.deepEqual(
    [vain([[null]]), vain([[0], [1]]), vain([[0]]), vain([]), vain([[null]], "heads_2")],
    [true, true, false, false, false],
  );
});

test("keys are of an earlier layer or of none, and what is written has no numbers of words", () => {
  const read = ["the", "cat"],
    wrote = ["<begin>", "le", "pont", "suit", "le (2)"],
    encodes = { words: { query: read, key: read } },
    writes = { words: { query: wrote, key: wrote } },
    crosses = { words: { query: wrote, key: read } },
    layers = [encodes, encodes, writes, crosses, writes, crosses],
    document = /** @type {any} */ ({ layers, words: crosses.words, link: { sentence: "the cat" } });
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(layer => layerOfKeys(document, layer)),
    [0, 1, 0, 2, 4, 2],
  );
  assert.equal(writtenIn(document), "le pont suit le");
  assert.equal(writtenIn({ ...document, layers: layers.slice(0, 1) }), "the cat");
});

test("what a talk has not shown yet is not written, and has no line", () => {
  const texts = textsOf(PASS, WHERE, /** @type {any} */ ({ shown: stage => stage !== "probabilities" }));
  assert.deepEqual([texts.slots[2].text, texts.slots[2].share], ["?", 0]);
  const none = textsOf(PASS, WHERE, /** @type {any} */ ({ shown: () => false }));
  assert.ok(none.weights.flat().every(weight => weight === 0));
});
