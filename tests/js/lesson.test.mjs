import assert from "node:assert/strict";
import test from "node:test";
import {
  makeMoments,
  minutesText,
  placeBeside,
  placeIn,
  searchOf,
} from "../../attnviz/viewer/browser/lesson/course.js";
import { candidateAt, numberIn, verdictOn } from "../../attnviz/viewer/browser/lesson/question.js";
import { makeMemory } from "../../attnviz/viewer/browser/lesson/memory.js";

const LESSONS = [
  { id: "one", nMoments: 2 },
  { id: "two", nMoments: 3 },
];

test("an address leads to the place that it was written for, and mends what it can't", () => {
  for (const { id, nMoments } of LESSONS)
    for (let moment = 1; moment <= nMoments; moment += 1)
      for (const present of [false, true]) {
        const place = { lesson: id, moment, present };
        assert.deepEqual(placeIn(LESSONS, searchOf(place)), place);
      }
  assert.equal(placeIn(LESSONS, ""), null);
  assert.equal(placeIn(LESSONS, "?lesson=three"), null);
  for (const [said, moment] of [
    ["0", 1],
    ["-4", 1],
    ["99", 3],
    ["x", 1],
    ["1.5", 1],
    ["", 1],
  ])
    assert.equal(placeIn(LESSONS, `?lesson=two&moment=${said}`).moment, moment);
});

test("from moment to moment one walks all lessons, and back again", () => {
  const there = [],
    back = [];
  for (let at = { lesson: "one", moment: 1, present: true }; at; at = placeBeside(LESSONS, at, 1))
    there.push(searchOf(at));
  for (let at = { lesson: "two", moment: 3, present: true }; at; at = placeBeside(LESSONS, at, -1))
    back.push(searchOf(at));
  assert.equal(there.length, 5);
  assert.deepEqual(there, back.reverse());
});

test("minutes are said in words", () => {
  assert.deepEqual([1, 4, 14].map(minutesText), ["one minute", "four minutes", "14 minutes"]);
});

function storeOf(texts = {}) {
  return {
    getItem: name => texts[name] ?? null,
    setItem: (name, text) => {
      texts[name] = text;
    },
  };
}

test("what was said first is kept, by the browser, until it is to forget it", () => {
  const texts = {},
    memory = makeMemory(() => storeOf(texts));
  memory.predicted({ lesson: "one", moment: 1 }, false);
  memory.predicted({ lesson: "one", moment: 1 }, true);
  memory.predicted({ lesson: "one", moment: 2 }, true);
  memory.predicted({ lesson: "two", moment: 1 }, true);
  memory.at({ lesson: "two", moment: 2 });
  memory.at({ lesson: "two", moment: 1 });
  memory.opensWalkthrough = true;
  const again = makeMemory(() => storeOf(texts));
  assert.deepEqual(again.scoreOf("one"), { right: 1, asked: 2 });
  assert.deepEqual(again.scoreOf(null), { right: 2, asked: 3 });
  assert.deepEqual(
    [again.last, again.reached, again.opensWalkthrough],
    [{ lesson: "two", moment: 1 }, { two: 2 }, true],
  );
  again.forget();
  assert.deepEqual(makeMemory(() => storeOf(texts)).scoreOf(null), { right: 0, asked: 0 });
});

test("without a store, and with another's text in it, one begins anew", () => {
  const none = () => {
    throw new Error("denied");
  };
  for (const store of [none, () => storeOf({ "attnviz lessons": "[" }), () => storeOf({ "attnviz lessons": "null" })]) {
    const memory = makeMemory(store);
    assert.equal(memory.last, null);
    memory.predicted({ lesson: "one", moment: 1 }, true);
    assert.deepEqual(memory.scoreOf("one"), { right: 1, asked: 1 });
  }
});

test("a moment is asked for once, and again where that failed", async () => {
  const asked = [];
  let fails = true;
  const moments = makeMoments(place => {
    asked.push(place.moment);
    return fails ? Promise.reject(new Error("away")) : Promise.resolve(place.moment);
  });
  await assert.rejects(moments.get({ lesson: "one", moment: 1 }));
  fails = false;
  moments.ahead([{ lesson: "one", moment: 2 }]);
  moments.ahead([]);
  assert.deepEqual(
    [
      await moments.get({ lesson: "one", moment: 1 }),
      await moments.get({ lesson: "one", moment: 1 }),
      await moments.get({ lesson: "one", moment: 2 }),
    ],
    [1, 1, 2],
  );
  assert.deepEqual(asked, [1, 2, 1]);
});

const sentencesOf = ({ sentences: paragraphs }) =>
  paragraphs.map(runs => runs.map(([, text]) => text.text ?? text).join(""));
const PICK = {
  kind: "pick",
  candidates: [
    { label: "cat", word: 0, feedback: [["", "the second share"]] },
    { label: "mat", word: 3, feedback: [["", "the largest share"]] },
  ],
  right: [1],
};

test("a wrong word is told what it is the answer to, a right one is not told twice", () => {
  assert.deepEqual(sentencesOf(verdictOn(PICK, 0, [["", "And so on."]])), [
    "You said cat. It is mat.",
    "the second share",
    "And so on.",
  ]);
  assert.deepEqual(sentencesOf(verdictOn(PICK, 1, [["", "And so on."]])), ["Right: mat.", "And so on."]);
  assert.deepEqual(sentencesOf(verdictOn(PICK, null)), ["It is mat.", "the largest share"]);
  assert.deepEqual(
    [0, 1, null].map(answer => verdictOn(PICK, answer).isRight),
    [false, true, null],
  );
});

const SUM = { kind: "fill", right: 6 / 7, text: "0.86", tolerance: 0.01, isShare: false, nears: [] };

test("an answer that is off by rounding is near enough, and a number is said once", () => {
  const after = [["", "0.86, which is 6/7."]];
  assert.deepEqual(sentencesOf(verdictOn(SUM, 0.86, after)), ["Right: 0.86, which is 6/7."]);
  assert.deepEqual(sentencesOf(verdictOn(SUM, 0.857, after)), ["Right: 0.86, which is 6/7."]);
  assert.deepEqual(sentencesOf(verdictOn(SUM, 0.85, after)), ["Near enough: you said 0.85, it is 0.86, which is 6/7."]);
  assert.deepEqual(sentencesOf(verdictOn(SUM, 0.84, after)), ["You said 0.84.", "It is 0.86, which is 6/7."]);
  assert.deepEqual(sentencesOf(verdictOn(SUM, 0.84, [["", "And so on."]])), [
    "You said 0.84. It is 0.86.",
    "And so on.",
  ]);
  const share = { ...SUM, right: 0.063, text: "6 %", tolerance: 0.03, isShare: true };
  assert.deepEqual(sentencesOf(verdictOn(share, 0.06, [["", "And."]])), ["Right: 6 %.", "And."]);
  assert.deepEqual(sentencesOf(verdictOn(share, 0.08, [["", "And."]])), [
    "Near enough: you said 8 %, it is 6 %.",
    "And.",
  ]);
  const percent = { ...SUM, right: 88, text: "88", tolerance: 5, unit: "%" };
  assert.deepEqual(sentencesOf(verdictOn(percent, 86, [["", "88 %. And."]])), [
    "Near enough: you said 86 %, it is 88 %. And.",
  ]);
  assert.deepEqual(sentencesOf(verdictOn(percent, 50, [["", "88 %. And."]])), ["You said 50 %.", "It is 88 %. And."]);
});

test("what is clicked in the picture is the candidate that stands for it", () => {
  assert.equal(candidateAt(PICK, { word: 3 }), 1);
  assert.equal(candidateAt(PICK, { word: 2, cell: "q[0,1]" }), -1);
  assert.equal(candidateAt({ kind: "choose", candidates: [{ label: "more" }] }, { word: undefined }), -1);
  const cells = {
    kind: "pick",
    candidates: [
      { label: "a", cell: "mask[0,1]" },
      { label: "b", cell: "mask[1,0]" },
    ],
  };
  assert.equal(candidateAt(cells, { word: 0, cell: "mask[1,0]" }), 1);
});

const FILL = {
  kind: "fill",
  right: 3,
  text: "3",
  tolerance: 0.5,
  isShare: false,
  nears: [{ value: 6, tolerance: 0.1, feedback: [["", "the sum"]] }],
  unit: "cells",
};

test("a number is right within its tolerance, and a wrong one is told what it is near to", () => {
  assert.deepEqual(
    [2.5, 3, 3.5, 3.51, 6].map(answer => verdictOn(FILL, answer).isRight),
    [true, true, true, false, false],
  );
  assert.deepEqual(sentencesOf(verdictOn(FILL, 6)), ["You said 6 cells. It is 3 cells.", "the sum"]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, -7)), ["You said −7 cells. It is 3 cells."]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, null, [["", "3,000 are"]])), ["It is 3 cells.", "3,000 are"]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, null, [["", "3: one for each word."]])), [
    "It is 3: one for each word.",
  ]);
});

test("a share is told the lead that it would need: with that score the softmax gives it", () => {
  const others = [0.5, 2, -1],
    lead = [1, Math.log(others.reduce((sum, each) => sum + Math.exp(each), 0))];
  const share = {
    ...FILL,
    isShare: true,
    right: 0.2,
    text: "20 %",
    tolerance: 0.02,
    nears: [],
    lead,
    score: "logit",
    unit: "",
  };
  for (const answer of [0.01, 0.3, 0.77, 0.99]) {
    const told = sentencesOf(verdictOn(share, answer))[1],
      needed = Number(/have to be (\S+),/.exec(told)[1].replace("−", "-"));
    const softmax = Math.exp(needed) / (Math.exp(needed) + others.reduce((sum, each) => sum + Math.exp(each), 0));
    assert.ok(Math.abs(softmax - answer) < 0.005, told);
    assert.ok(told.includes(" its logit would "), told);
    assert.ok(told.includes(needed > lead[0] ? "more" : "less"), told);
  }
  assert.match(sentencesOf(verdictOn(share, 0))[1], /more than 0/);
  assert.match(sentencesOf(verdictOn(share, 1))[1], /another word/);
});

test("a number is read as people write it", () => {
  const cases = {
    "−5.59": -5.59,
    "-5,59": -5.59,
    " 22 176 ": 22176,
    ".5": 0.5,
    "1e-3": 0.001,
    "+2": 2,
    "": null,
    x: null,
    "1.2.3": null,
    "−": null,
  };
  for (const [text, number] of Object.entries(cases)) assert.equal(numberIn(text), number, text);
  for (const [text, number, part] of [
    ["88%", 88, 0.88],
    ["88 %", 88, 0.88],
    ["0,85", 0.85, 0.85],
    ["6/7", 6 / 7, 6 / 7],
    ["−6 / 7", -6 / 7, -6 / 7],
    ["1/2 %", 0.5, 0.005],
    ["6/0", null, null],
    ["6/", null, null],
    ["1/2/3", null, null],
    ["%", null, null],
  ]) {
    assert.equal(numberIn(text), number, text);
    assert.equal(numberIn(text, true), part, `${text} of one`);
  }
});
