import assert from "node:assert/strict";
import test from "node:test";
import {
  makeMoments,
  nextPosition,
  orderOf,
  positionIn,
  searchOf,
} from "../../attnviz/viewer/browser/lesson/course.js";
import { added, edited, moved, without } from "../../attnviz/viewer/browser/talk/talkDrawer.js";
import { entryOf, isTalk, makeTalkUploads, minutesOf, NOTHING } from "../../attnviz/viewer/browser/talk/talkFiles.js";
import { makeMemory } from "../../attnviz/viewer/browser/lesson/memory.js";
import { makeLessonState, makeNavigation } from "../../attnviz/viewer/browser/lesson/navigation.js";
import { candidateAt, verdictOn } from "../../attnviz/viewer/browser/lesson/question.js";
import { makeStopwatch, planText, timeText } from "../../attnviz/viewer/browser/lesson/speakerWindow.js";
import { makeWindowPair } from "../../attnviz/viewer/browser/lesson/windowPair.js";
import { makeTalkStore } from "../../attnviz/viewer/browser/talk/talkController.js";
import { numberIn } from "../../attnviz/viewer/browser/model/numeral.js";
import { forbidden, storeOf } from "./helpers.mjs";

const LESSONS = [
  { id: "one", nMoments: 2 },
  { id: "two", nMoments: 3, moments: [{ id: "first" }, { id: "second" }, { id: "third" }] },
];

test("an address leads to the place that it was written for, and mends what it can't", () => {
  for (const { id, nMoments } of LESSONS)
    for (let moment = 1; moment <= nMoments; moment += 1)
      for (const present of [false, true]) {
        const place = { lesson: id, moment, present };
        assert.deepEqual(positionIn(LESSONS, searchOf(place)), place);
      }
  assert.equal(positionIn(LESSONS, ""), null);
  assert.equal(positionIn(LESSONS, "?lesson=three"), null);
  const momentIn = text => positionIn(LESSONS, `?lesson=two&moment=${text}`).moment;
  assert.deepEqual(["0", "-4", "99", "x", "1.5", ""].map(momentIn), [1, 1, 3, 1, 1, 1]);
  assert.deepEqual(["second", "third", "none"].map(momentIn), [2, 3, 1], "an id names its moment");
});

test("from moment to moment one walks all lessons, and back again", () => {
  const there = [],
    back = [];
  for (let at = { lesson: "one", moment: 1, present: true }; at; at = nextPosition(LESSONS, at, 1))
    there.push(searchOf(at));
  for (let at = { lesson: "two", moment: 3, present: true }; at; at = nextPosition(LESSONS, at, -1))
    back.push(searchOf(at));
  assert.equal(there.length, 5);
  assert.deepEqual(there, back.reverse());
});

const RECALL = origin => ({ id: origin, recall: `one.${origin}`, isOptional: false });
const PLAIN = (id, isOptional = false) => ({ id, recall: "", isOptional });

test("Next skips optional moments, and of two recalls beside each other begins with what was wrong", () => {
  const moments = [PLAIN("a"), PLAIN("b", true), RECALL("c"), RECALL("d"), RECALL("e"), PLAIN("f"), PLAIN("g", true)],
    entry = { id: "two", nMoments: moments.length, moments },
    orderIf = (...wrong) => orderOf(entry, origin => wrong.includes(origin)).join("");
  assert.deepEqual([orderIf(), orderIf("one.c"), orderIf("one.c", "one.d")], ["13456", "13456", "13456"]);
  assert.deepEqual([orderIf("one.d"), orderIf("one.e"), orderIf("one.d", "one.e")], ["14356", "13456", "14356"]);

  const course = [LESSONS[0], entry, { id: "three", nMoments: 1, moments: [PLAIN("x")] }],
    walk = (from, by) => {
      const seen = [];
      for (let at = from; at; at = nextPosition(course, at, by)) seen.push(`${at.lesson} ${at.moment}`);
      return seen;
    };
  const there = walk({ lesson: "one", moment: 1 }, 1);
  assert.deepEqual(there, ["one 1", "one 2", ...[1, 3, 4, 5, 6].map(n => `two ${n}`), "three 1"]);
  assert.deepEqual(walk({ lesson: "three", moment: 1 }, -1), there.toReversed());
  const beside = (moment, by) => walk({ lesson: "two", moment }, by)[1];
  assert.deepEqual([beside(2, -1), beside(2, 1), beside(7, -1), beside(7, 1)], ["two 1", "two 3", "two 6", "three 1"]);
  for (const { id } of moments)
    assert.equal(moments[positionIn(course, `?lesson=two&moment=${id}`).moment - 1].id, id, "a link may name it");
});

// A lesson whose second moment is a worked example of two lines; `window` follows what it sends.
async function workedLesson(after, other = null) {
  const blank = { question: null, worked: [], after: [], ending: null, title: "" },
    line = text => [["", text]],
    all = { 1: blank, 2: { ...blank, worked: [line("one"), line("two")], after }, 3: blank };
  const state = makeLessonState(
      [{ id: `worked${after.length}`, name: "L", nMoments: 3 }],
      null,
      () => true,
      () => false,
    ),
    heard = [],
    frame = { announce: text => heard.push(text), scrollToVerdict() {}, scrollToTop() {}, whileLate: coming => coming },
    moments = { get: async ({ moment }) => all[moment], prefetch() {} },
    host = { has: () => true, address: { read: () => "", write() {} } },
    page = {
      present() {},
      update() {},
      redraw() {},
      forget() {},
      sync: () => other?.(state.now()),
    };
  const navigation = makeNavigation(state, frame, { host, memory: makeMemory(forbidden), moments }, page);
  const go = async act => {
    act();
    await new Promise(done => setTimeout(done));
    return [state.position.moment, state.answered().lines, state.isDone()].join(" ");
  };
  await go(() => navigation.load({ ...state.first, moment: 2 }));
  return { state, navigation, heard, go };
}

test("a worked example comes line by line and goes back so, and another window follows", async () => {
  for (const after of [[], [["", "why"]]]) {
    const last = after.length ? ["2 2 false", "2 3 true"] : ["2 2 true"],
      { navigation, heard, go } = await workedLesson(after),
      steps = ["2 0 false", "2 1 false", ...last, "3 0 true"],
      seen = ["2 0 false"];
    for (const _ of steps.slice(1)) seen.push(await go(navigation.press));
    assert.deepEqual(seen, steps);
    const lines = heard.filter(text => ["one", "two", "why"].includes(text));
    assert.deepEqual(lines, ["one", "two", ...(after.length ? ["why"] : [])], "each line is heard");
    const back = [];
    for (const _ of steps.slice(1)) back.push(await go(navigation.back));
    assert.deepEqual(back, steps.slice(0, -1).toReversed());
    const before = await go(navigation.back);
    assert.equal(before.split(" ")[0], "1");
  }
});

test("presses while a moment is loading are for the moment that comes, and the way back takes them back", async () => {
  const { state, navigation, go } = await workedLesson([]);
  await go(() => navigation.load({ ...state.first, moment: 1 }));
  const pressed = times => () => {
    for (let n = 0; n < times; n += 1) navigation.press();
  };
  assert.equal(await go(pressed(2)), "2 1 false", "the second press shows its first line");
  await go(() => navigation.load({ ...state.first, moment: 1 }));
  const passed = await go(pressed(4));
  assert.deepEqual(passed, "3 0 true", "all lines were shown, then the way goes on");
  await go(() => navigation.load({ ...state.first, moment: 1 }));
  const back = await go(() => {
    pressed(2)();
    for (let n = 0; n < 2; n += 1) navigation.back();
  });
  assert.equal(back.split(" ")[0], "1", "the first takes the second press back, the second leads back");
  const elsewhere = await go(() => {
    pressed(3)();
    navigation.goTo(3);
  });
  assert.equal(elsewhere, "3 0 true");
});

test("another window shows as many lines", async () => {
  const sent = [],
    { navigation, go } = await workedLesson(
      [
        ["", "why"],
        ["", "!"],
      ],
      now => sent.push(now),
    );
  for (let n = 0; n < 3; n += 1) await go(navigation.press);
  await go(navigation.back);
  const seen = [];
  for (const now of structuredClone(sent)) seen.push(await go(() => navigation.follow(now)));
  assert.deepEqual(
    seen.map(each => each.slice(-5)),
    ["false", "false", " true", "false"],
  );
  assert.equal(seen.at(-1), "2 2 false");
});

const momentsOf = (...ids) => ids.map(id => ({ id, isOptional: id === "optional" }));
const ENTRIES = [
  { id: "one", nMoments: 3, moments: momentsOf("a", "optional", "b") },
  { id: "two", nMoments: 2, moments: momentsOf("a", "c") },
];

test("what was said first is kept, by the browser, until it is to forget it", () => {
  const texts = {},
    memory = makeMemory(() => storeOf(texts), ENTRIES),
    stale = makeMemory(() => storeOf(texts), ENTRIES); // of another tab
  memory.answered("one", "a", false);
  memory.answered("one", "a", true);
  memory.answered("one", "b", true);
  memory.answered("two", "a", true);
  memory.answered("two", "c", null);
  memory.answered("two", "c", true);
  memory.at({ lesson: "two", moment: 1 });
  memory.keepOwnWords("one", "<b>mine</b>");
  stale.opensWalkthrough = true;
  const again = makeMemory(() => storeOf(texts), ENTRIES);
  assert.deepEqual(again.scoreOf("one"), { right: 1, asked: 2 });
  assert.deepEqual(again.scoreOf(null), { right: 2, asked: 3 });
  assert.deepEqual(
    [again.resultsOf("one"), again.resultsOf("two")],
    [
      [false, undefined, true],
      [true, null],
    ],
  );
  assert.deepEqual(["one.a", "one.b", "two.c", "two.d"].map(again.isWrong), [true, false, false, false]);
  const actual = [again.last, again.opensWalkthrough, again.ownWordsOf("one"), again.ownWordsOf("two")];
  assert.deepEqual(actual, [{ lesson: "two", moment: 1 }, true, "<b>mine</b>", ""]);
  const moved = [{ ...ENTRIES[0], moments: momentsOf("optional", "b", "a") }];
  assert.deepEqual(makeMemory(() => storeOf(texts), moved).resultsOf("one"), [undefined, true, false], "by their ids");
  again.forget();
  const empty = makeMemory(() => storeOf(texts), ENTRIES);
  assert.deepEqual([empty.scoreOf(null), empty.ownWordsOf("one"), empty.last], [{ right: 0, asked: 0 }, "", null]);
  assert.equal(empty.isEmpty, true);
  assert.ok(!texts["attnviz lessons"].includes("mine"));
});

test("what is to do next begins at the last visit's lesson, and passes what is for engineers", () => {
  const memory = makeMemory(() => storeOf(), ENTRIES),
    idOf = ({ lesson, moment }) => ENTRIES.find(({ id }) => id === lesson).moments[moment - 1].id,
    next = [];
  memory.at({ lesson: "two", moment: 1 });
  for (let to = memory.nextToDo(); to; to = memory.nextToDo()) {
    next.push(`${to.lesson} ${to.moment}`);
    memory.answered(to.lesson, idOf(to), next.length === 1 ? true : null);
  }
  assert.deepEqual(next, ["two 1", "two 2", "one 1", "one 3"]);
});

test("without a store, and with another's text in it, one begins anew", () => {
  for (const store of [
    forbidden,
    () => storeOf({ "attnviz lessons": "[" }),
    () => storeOf({ "attnviz lessons": "null" }),
  ]) {
    const memory = makeMemory(store, ENTRIES);
    assert.equal(memory.last, null);
    memory.answered("one", "a", true);
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
  moments.prefetch([{ lesson: "one", moment: 2 }]);
  moments.prefetch([]);
  for (const moment of [1, 1, 2]) assert.equal(await moments.get({ lesson: "one", moment }), moment);
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
  const said = (answer, ...after) => sentencesOf(verdictOn(PICK, answer, ...after)).join(" | "),
    after = [["", "And so on."]];
  assert.equal(said(0, after), "You said cat. It is mat. | the second share | And so on.");
  assert.equal(said(1, after), "Right: mat. | And so on.");
  assert.equal(said(null), "It is mat. | the largest share");
  const actual = [0, 1, null].map(answer => verdictOn(PICK, answer).isRight);
  assert.deepEqual(actual, [false, true, null]);
});

const SUM = { kind: "fill", right: 6 / 7, text: "0.86", tolerance: 0.01, isShare: false, nears: [] };

test("an answer that is off by rounding is near enough", () => {
  const said = (question, answer) =>
    sentencesOf(verdictOn(question, answer, [["", "And."]]))
      .join(" | ")
      .replaceAll("\u00a0", " ");
  for (const answer of [0.86, 0.857]) assert.equal(said(SUM, answer), "Right: 0.86. | And.");
  assert.equal(said(SUM, 0.85), "Near enough: you said 0.85, it is 0.86. | And.");
  assert.equal(said(SUM, 0.84), "You said 0.84. It is 0.86. | And.");
  const share = { ...SUM, right: 0.063, text: "6 %", tolerance: 0.03, isShare: true };
  assert.equal(said(share, 0.06), "Right: 6 %. | And.");
  assert.equal(said(share, 0.08), "Near enough: you said 8 %, it is 6 %. | And.");
  const percent = { ...SUM, right: 88, text: "88", tolerance: 5, unit: "%" };
  assert.equal(said(percent, 86), "Near enough: you said 86 %, it is 88 %. | And.");
  assert.equal(said(percent, 50), "You said 50 %. It is 88 %. | And.");
});

test("what is clicked in the picture is the candidate that stands for it", () => {
  assert.equal(candidateAt(PICK, { word: 3 }), 1);
  assert.equal(candidateAt(PICK, { word: 2, cell: "q[0,1]" }), -1);
  assert.equal(candidateAt({ kind: "choose", candidates: [{ label: "more" }] }, { word: undefined }), -1);
  const candidates = ["0,1", "1,0"].map(index => ({ label: index, cell: `mask[${index}]` }));
  assert.equal(candidateAt({ kind: "pick", candidates }, { word: 0, cell: "mask[1,0]" }), 1);
});

const NEARS = [{ value: 6, tolerance: 0.1, feedback: [["", "the sum"]] }];
const FILL = { kind: "fill", right: 3, text: "3", tolerance: 0.5, isShare: false, nears: NEARS, unit: "cells" };

test("a number is right within its tolerance, and a wrong one is told what it is near to", () => {
  const actual = [2.5, 3, 3.5, 3.51, 6].map(answer => verdictOn(FILL, answer).isRight);
  assert.deepEqual(actual, [true, true, true, false, false]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, 6)), ["You said 6 cells. It is 3 cells.", "the sum"]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, -7)), ["You said −7 cells. It is 3 cells."]);
  assert.deepEqual(sentencesOf(verdictOn(FILL, null, [["", "3,000 are"]])), ["It is 3 cells.", "3,000 are"]);
});

test("a share is told the lead that it would need: with that score the softmax gives it", () => {
  const others = [0.5, 2, -1],
    lead = [1, Math.log(others.reduce((sum, each) => sum + Math.exp(each), 0))];
  const numbers = { right: 0.2, text: "20 %", tolerance: 0.02, nears: [], unit: "" },
    share = { ...FILL, isShare: true, ...numbers, lead, score: "logit" };
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
  const numbers = { "−5.59": -5.59, "-5,59": -5.59, " 22 176 ": 22176, ".5": 0.5, "1e-3": 0.001, "+2": 2 };
  for (const [text, number] of Object.entries(numbers)) assert.equal(numberIn(text), number, text);
  for (const text of ["", "x", "1.2.3", "−", "6/0", "6/", "1/2/3", "%"])
    for (const isPart of [false, true]) assert.equal(numberIn(text, isPart), null, text);
  const parts = { "88%": [88, 0.88], "88 %": [88, 0.88], "0,85": [0.85, 0.85], "6/7": [6 / 7, 6 / 7] },
    fractions = { "−6 / 7": [-6 / 7, -6 / 7], "1/2 %": [0.5, 0.005] };
  for (const [text, expected] of Object.entries({ ...parts, ...fractions }))
    assert.deepEqual([numberIn(text), numberIn(text, true)], expected, text);
});

const TALK = { title: "T", moment: ["a", "b", "c", "d"].map(at => ({ at })) };
const order = ({ moment }) => moment.map(({ at }) => at).join("");

test("a moment is added, moved, edited and deleted, and the list before stays what it was", () => {
  assert.equal(order(added(TALK, { at: "e" })), "abcde");
  assert.equal(order(added(TALK, { at: "e" }, 1)), "aebcd");
  for (const from of [0, 1, 2, 3])
    for (const to of [-1, 0, 1, 2, 3, 9]) {
      const expected = [..."abcd"].filter((_, nth) => nth !== from);
      expected.splice(Math.max(0, Math.min(to, 3)), 0, "abcd"[from]);
      assert.equal(order(moved(TALK, from, to)), expected.join(""));
      const actual = order(moved(moved(TALK, from, Math.max(0, Math.min(to, 3))), Math.max(0, Math.min(to, 3)), from));
      assert.equal(actual, "abcd");
    }
  assert.equal(order(without(TALK, 2)), "abd");
  const said = edited(TALK, 1, { text: "x", minutes: 2, ask: { kind: "answer", prompt: "" } });
  assert.deepEqual(said.moment[1], { at: "b", text: "x", minutes: 2, ask: { kind: "answer", prompt: "" } });
  assert.deepEqual(edited(said, 1, { text: "", minutes: 0, ask: null }), TALK);
  assert.equal(order(TALK), "abcd");
});

test("an entry counts its moments and minutes, and there is none of an empty talk", () => {
  assert.equal(entryOf(NOTHING), null);
  const moment = [{ at: "", minutes: 1.5 }, { at: "", minutes: 2.5 }, { at: "" }],
    { name, nMoments, minutes } = entryOf({ title: " ", moment });
  assert.deepEqual([name, nMoments, minutes], ["Your talk", 3, 4]);
  assert.equal(minutesOf([]), 0);
});

const windowOf = () => ({ listen: [], addEventListener: (_, act) => windowOf.all.push(act) });
windowOf.all = [];

test("a talk is kept by the browser, and what was done to it is undone", () => {
  const store = storeOf(),
    own = makeTalkStore(() => store, windowOf());
  own.change(added(own.talk, { at: "a" }));
  own.change({ ...own.talk, title: "A" }, "title");
  own.change({ ...own.talk, title: "AB" }, "title");
  own.keepPicture("a", { words: [] });
  const again = makeTalkStore(() => store, windowOf());
  assert.deepEqual(again.talk, { title: "AB", moment: [{ at: "a" }] });
  assert.deepEqual(again.pictureOf("a"), { words: [] });
  own.undo();
  assert.equal(own.talk.title, "", "what was typed into one box is one change");
  assert.equal(order(own.talk), "a");
  own.undo();
  assert.deepEqual(own.talk, NOTHING);
  assert.equal(own.canUndo, false);
});

test("whether a talk is kept is what the browser says, and one that has little room keeps the talk without its pictures", () => {
  const unstored = makeTalkStore(forbidden, windowOf());
  assert.equal(unstored.isKept, true, "as there is nothing to keep");
  unstored.change(added(unstored.talk, { at: "a" }));
  assert.deepEqual([unstored.isKept, order(unstored.talk)], [false, "a"]);

  const texts = {},
    own = makeTalkStore(() => storeOf(texts, 200), windowOf()),
    again = () => makeTalkStore(() => storeOf(texts), windowOf()).talk;
  let told = 0;
  own.onChange(() => (told += 1));
  own.change(added(own.talk, { at: "a" }));
  own.keepPicture("a", { words: ["x".repeat(200)] });
  assert.deepEqual([own.isKept, again()], [true, own.talk]);
  own.change(added(own.talk, { at: "b", text: "y".repeat(200) }));
  assert.deepEqual([own.isKept, order(again()), order(own.talk)], [false, "a", "ab"], "what is kept is older");
  told = 0;
  own.change(without(own.talk, 1));
  assert.deepEqual([own.isKept, again(), told], [true, own.talk, 1]);
});

test("whether answers and files are kept is what the browser says", async () => {
  const texts = {},
    memories = [() => storeOf(texts), () => storeOf({}, 10)].map(store => makeMemory(store, ENTRIES));
  for (const memory of memories) {
    memory.keepOwnWords("one", "mine");
    memory.keepOwnWords("two", "mine");
  }
  assert.equal(memories.map(({ isKept }) => isKept).join(), "true,false");
  assert.deepEqual(
    memories.map(memory => memory.ownWordsOf("one")),
    ["mine", "mine"],
    "as long as the page",
  );

  const uploads = makeTalkUploads({ open: forbidden });
  assert.equal(uploads.areKept(["a"]), true);
  await uploads.keep({ a: "AAAA" });
  const actual = [uploads.areKept(["a"]), uploads.areKept(["b"]), await uploads.of(["a"])];
  assert.deepEqual(actual, [false, true, { a: "AAAA" }]);
});

test("another tab's change is taken, and what is no talk is none", () => {
  const texts = {},
    store = storeOf(texts),
    before = windowOf.all.length,
    own = makeTalkStore(() => store, windowOf());
  let told = 0;
  own.onChange(() => (told += 1));
  texts["attnviz talk"] = JSON.stringify({ talk: TALK });
  windowOf.all[before]({ key: "attnviz talk" });
  assert.deepEqual([order(own.talk), told], ["abcd", 1]);
  const wrong = [
    { title: 1, moment: [] },
    ...[{ at: 1 }, { at: "", text: {} }].map(each => ({ title: "", moment: [each] })),
  ];
  for (const kept of ["", "[", "null", "7", ...wrong.map(talk => JSON.stringify({ talk }))])
    assert.deepEqual(makeTalkStore(() => storeOf({ "attnviz talk": kept }), windowOf()).talk, NOTHING);
  assert.deepEqual(makeTalkStore(forbidden, windowOf()).talk, NOTHING);
  assert.equal(isTalk(TALK), true);
});

test("one's own talk doesn't go on to a lesson, nor a lesson to it", () => {
  const course = [
    { id: "one", nMoments: 1 },
    { id: "talk", nMoments: 2, isTalk: true },
  ];
  assert.equal(nextPosition(course, { lesson: "one", moment: 1 }, 1), null);
  assert.equal(nextPosition(course, { lesson: "talk", moment: 1 }, -1), null);
  assert.deepEqual(nextPosition(course, { lesson: "talk", moment: 1 }, 1), { lesson: "talk", moment: 2 });
});

test("two windows tell each other where they are, and one goes on when the other is gone", async () => {
  const places = { main: { lesson: "talk", moment: 3, isShown: false }, speaker: null },
    acts = who => ({ now: () => places[who], follow: to => Object.assign(places, { [who]: to }) });
  let href = "";
  const window = {
    location: { protocol: "https:" },
    BroadcastChannel,
    crypto: globalThis.crypto,
    open: to => {
      href = to;
      return {};
    },
  };
  const main = makeWindowPair(window, "", acts("main"));
  main.sync(); // nobody listens
  const actual = main.open(name => name);
  assert.equal(actual, true);
  const speaker = makeWindowPair(window, href, acts("speaker"));
  const becomes = async (who, moment) => {
    for (let n = 0; n < 200 && places[who]?.moment !== moment; n += 1) await new Promise(done => setTimeout(done, 5));
    assert.equal(places[who]?.moment, moment);
  };
  await becomes("speaker", 3);
  places.speaker = { lesson: "talk", moment: 4, isShown: true };
  speaker.sync();
  await becomes("main", 4);
  speaker.end();
  places.main = { lesson: "talk", moment: 5, isShown: false };
  main.sync();
  main.end();
  assert.equal(places.speaker.moment, 4);
});

// A window of a talk from a file, opened by another one.
function fileOf(opener) {
  const listeners = [];
  return {
    location: { protocol: "file:" },
    crypto: globalThis.crypto,
    opener,
    addEventListener: (_, act) => listeners.push(act),
    removeEventListener: (_, act) => listeners.splice(listeners.indexOf(act), 1),
    hear: event => {
      for (const act of listeners) act(event);
    },
  };
}

// Two such windows: what posts to one arrives as `deliver` calls it. Returns {main, speaker}.
function twoFiles(deliver) {
  const doorTo = (window, source) => ({
      postMessage: data => deliver(() => window().hear({ source: source(), data })),
    }),
    mainAt = doorTo(
      () => main,
      () => speakerAt,
    ),
    speakerAt = doorTo(
      () => speaker,
      () => mainAt,
    );
  const main = fileOf(null),
    speaker = fileOf(mainAt);
  main.open = () => speakerAt;
  return { main, speaker };
}

test("two files tell each other too, and hear nobody else", () => {
  const followed = [],
    { main, speaker } = twoFiles(arrive => arrive());
  const acts = who => ({ now: () => ({ moment: who }), follow: to => followed.push([who, to.moment]) });
  const one = makeWindowPair(main, "", acts("main"));
  one.open(name => name);
  const other = makeWindowPair(speaker, "7", acts("speaker"));
  assert.deepEqual(followed, [["speaker", "main"]], "as it opens, it is told where the talk is");
  other.sync();
  main.hear({ source: {}, data: { moment: "a stranger's" } });
  assert.deepEqual(followed.slice(1), [["main", "speaker"]]);
  other.end();
  one.sync();
  assert.equal(followed.length, 2);
});

test("who presses on before the talk has said where it is, is not set back", () => {
  const posted = [],
    { main, speaker } = twoFiles(arrive => posted.push(arrive)),
    at = { main: 1, speaker: 1 };
  const acts = who => ({
    now: () => ({ moment: at[who] }),
    follow: ({ moment }) => Object.assign(at, { [who]: moment }),
  });
  makeWindowPair(main, "", acts("main")).open(name => name);
  const own = makeWindowPair(speaker, "7", acts("speaker"));
  for (at.speaker of [2, 3]) own.sync();
  while (posted.length) posted.shift()();
  assert.deepEqual(at, { main: 3, speaker: 3 });
});

test("time and plan are said in minutes and seconds", () => {
  assert.deepEqual([0, 59_999, 60_000, 3_725_000].map(timeText), ["0:00", "0:59", "1:00", "62:05"]);
  assert.equal(planText([1.5, 2], 1), "This moment ends at 1:30 of 3:30 planned");
  assert.equal(planText([0, 0], 1), "");
  assert.deepEqual([planText([2, 0, 1], 2), planText([2, 0, 1], 3)], ["", "This moment ends at 3:00 of 3:00 planned"]);
});

test("a speaker's clock goes on when its window is loaded again, and starts anew in another", t => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const store = storeOf(),
    begun = makeStopwatch(() => store, "a");
  t.mock.timers.setTime(1_204_000);
  assert.equal(begun.elapsed(), 204_000);
  assert.deepEqual(
    ["a", "b"].map(name => makeStopwatch(() => store, name).elapsed()),
    [204_000, 0],
  );
  begun.restart();
  t.mock.timers.setTime(1_205_000);
  assert.equal(makeStopwatch(() => store, "a").elapsed(), 1_000);
  assert.equal(makeStopwatch(forbidden, "a").elapsed(), 0);
});
