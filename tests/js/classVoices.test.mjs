import assert from "node:assert/strict";
import test from "node:test";
import { groupAnswers } from "../../attnviz/viewer/browser/classroom/answerGroups.js";
import { drawMoves, flowOf } from "../../attnviz/viewer/browser/classroom/answerMoves.js";
import { makeAnswerBoard, needsBoard } from "../../attnviz/viewer/browser/classroom/answerDots.js";
import { makeAnswers, makeDrafts } from "../../attnviz/viewer/browser/classroom/phoneAnswers.js";
import { makeWonder } from "../../attnviz/viewer/browser/classroom/wonder.js";
import { drawShownQuestions, makeTextLists, textButtons } from "../../attnviz/viewer/browser/lesson/classTexts.js";
import { makeNeighbourTimer } from "../../attnviz/viewer/browser/lesson/neighbour.js";
import { answerOf, makeQuestion, verdictOn } from "../../attnviz/viewer/browser/lesson/question.js";
import { install } from "./fakeDom.mjs";
import { mockTimeouts, storeOf, turns } from "./helpers.mjs";

install();

// A random number from 0 to 1, the same in each run.
function drawOf(seed) {
  let state = seed;
  return () => {
    state = (state * 16807) % 2147483647;
    return state / 2147483647;
  };
}

const NUMBER = { kind: "fill", isShare: false, right: 3, tolerance: 0.5, text: "3.0", unit: "", nears: [] },
  SHARE = { ...NUMBER, isShare: true, right: 0.88, tolerance: 0.05, text: "88 %" },
  labels = ["a", "b", "c", "d"],
  CHOOSE = { kind: "choose", right: [2], candidates: labels.map(label => ({ label, feedback: [] })) },
  OPINION = { ...CHOOSE, right: [] },
  OWN = { ...NUMBER, right: null, text: "", tolerance: 0 },
  WRITE = { kind: "write" };
const asked = question => ({ prompt: [["", question.kind]], ...question });

// Flow: bands are as wide as their counts, and what leaves and enters an answer is what was counted there.

test("bands and sides are as wide as their counts, none of a side lies on another, and all is within the picture", () => {
  const draw = drawOf(7);
  for (let nth = 0; nth < 200; nth += 1) {
    const n = 1 + Math.floor(draw() * 12),
      moves = [];
    for (let from = 0; from < n; from += 1)
      for (let to = 0; to < n; to += 1) if (draw() < 0.4) moves.push([from, to, 1 + Math.floor(draw() * 40)]);
    if (!moves.length) continue;
    const { sides, bands } = flowOf(moves, n),
      scale = bands[0].height / bands[0].count,
      isClose = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} ${other}`);
    assert.ok(scale > 0);
    assert.deepEqual(bands.map(({ from, to, count }) => [from, to, count]).sort(), moves.toSorted());
    for (const { height, count } of bands) isClose(height, count * scale);
    for (const [which, end, start] of [
      [0, "from", "starts"],
      [1, "to", "ends"],
    ]) {
      const shown = sides[which].filter(Boolean);
      for (const [nthSide, { slot, top, height }] of shown.entries()) {
        assert.ok(slot[0] >= -1e-9 && slot[0] + slot[1] <= 100 + 1e-9);
        assert.ok(top >= slot[0] && top + height <= slot[0] + slot[1] + 1e-9);
        if (nthSide) assert.ok(slot[0] >= shown[nthSide - 1].slot[0] + shown[nthSide - 1].slot[1]);
      }
      for (let index = 0; index < n; index += 1) {
        const own = bands.filter(band => band[end] === index).sort((one, other) => one[start] - other[start]);
        let count = 0;
        for (const band of own) {
          isClose(band[start], sides[which][index].top + count * scale);
          count += band.count;
        }
        assert.equal(sides[which][index]?.count ?? 0, count);
        if (count) isClose(sides[which][index].height, count * scale);
      }
    }
  }
});

test("a flow says in words who moved where, marks the right answer once it is shown, and counts everybody once", () => {
  const moves = [
      [0, 2, 5],
      [0, 0, 3],
      [2, 2, 4],
      [1, 2, 1],
    ],
    counts = [
      [
        [0, 8],
        [1, 1],
        [2, 4],
      ],
      [
        [0, 3],
        [2, 12],
      ],
    ];
  const [hidden, shown] = [false, true].map(isShown => drawMoves(CHOOSE, { moves, counts }, isShown).textContent);
  for (const text of ["5 moved from a to c", "3 stayed at a", "6 of 13 changed", "2 more votes"])
    assert.ok(hidden.includes(text), text);
  assert.ok(!hidden.includes("right") && !hidden.includes("✓"));
  assert.ok(shown.includes("5 moved from a to c (right)") && shown.includes("✓"));
});

// Groups of answers.

test("every answer is in a group whose name is true of it, groups are few and in order, and right ones are apart once shown", () => {
  const draw = drawOf(3);
  for (const question of [NUMBER, OWN, SHARE])
    for (const isShown of [false, true])
      for (const spread of [1, 8, 1000])
        for (const n of [1, 5, 60]) {
          const values = Array.from({ length: n }, () =>
              question.isShare ? draw() : Math.round(spread * (draw() - 0.3) * 10) / 10,
            ),
            { groups, groupOf } = groupAnswers(question, values, isShown);
          assert.ok(groups.length <= 12, `${groups.length}`);
          assert.equal(groups.length, new Set(values.map(groupOf)).size);
          const sorted = values.toSorted((one, other) => one - other),
            wrong = sorted.filter(value => !groups[groupOf(value)].isRight).map(groupOf);
          assert.deepEqual(
            wrong,
            wrong.toSorted((one, other) => one - other),
          );
          for (const value of values) {
            const { label, isRight } = groups[groupOf(value)],
              is = isShown && question.right !== null && Math.abs(value - question.right) <= question.tolerance;
            assert.equal(isRight, is);
            if (is && label.includes("±")) assert.ok(label.startsWith(question.text));
            else assert.ok(isIn(value, label, question.isShare), `${value} in ${label}`);
          }
        }
});

function isIn(value, label, isShare) {
  const numbers = label
      .replaceAll("−", "-")
      .match(/-?[\d.]+/g)
      .map(each => Number(each) / (isShare ? 100 : 1)),
    [low, high = low] = numbers,
    slack = 1e-6 * Math.max(1, Math.abs(value));
  if (label.startsWith("under")) return value <= low + slack;
  if (label.endsWith("more")) return value >= low - slack;
  return value >= low - slack && value <= high + slack;
}

test("numbers that count as right stand at their own values, not under the right one", () => {
  const question = { kind: "fill", right: 11.5, text: "11.5", tolerance: 2, isShare: false },
    { groups } = groupAnswers(question, [1.3, 10.5, 11, 11.5], true);
  assert.deepEqual(
    groups.map(({ label, isRight }) => [label, isRight]),
    [
      ["1.3", false],
      ["10.5", true],
      ["11", true],
      ["11.5", true],
    ],
  );
});

// Questions without a right answer are never judged.

test("an opinion, a number of one's own and words are repeated, and called neither right nor wrong", () => {
  for (const [question, answer, text] of [
    [OPINION, 1, "b"],
    [OWN, 0, "0"],
    [WRITE, "=1+1 <b>", "=1+1 <b>"],
  ]) {
    const { isRight, sentences } = verdictOn(question, answer, [["", "Afterwards."]]),
      said = sentences.flat().map(([, each]) => each);
    assert.equal(isRight, null);
    assert.ok(said.join("").includes(text));
    const none = "There is no right answer.",
      begun = question === WRITE ? [] : [[["", none]]];
    assert.equal(said.join("").includes(none), question !== WRITE);
    assert.ok(!/right|wrong/i.test(said.join("").replace(none, "")));
    assert.deepEqual(verdictOn(question, null, [["", "Afterwards."]]).sentences, [...begun, [["", "Afterwards."]]]);
    assert.ok(!answerOf(question).includes("null"));
    const board = makeAnswerBoard();
    board.update(asked(question), { counts: question === WRITE ? [] : [[[answer, 3]]], isShown: true });
    assert.equal(board.element.querySelectorAll(".right").length, 0);
  }
});

test("what is typed is kept by the draft and put back, and what was sent is, unless something is typed", () => {
  const drafts = { text: "half a sen", kept: [], keep: text => drafts.kept.push(text) },
    sent = [],
    made = makeQuestion(WRITE, { answer: text => sent.push(text), verb: "Send", draft: drafts }),
    input = made.element.querySelector("textarea");
  assert.equal(input.value, "half a sen");
  made.update({ answer: "an earlier answer", isShown: false });
  assert.equal(input.value, "half a sen");
  input.value = "half a sentence ";
  input.oninput();
  assert.deepEqual(drafts.kept, ["half a sentence "]);
  made.update({ answer: null, isShown: false, isClosed: true });
  assert.equal(input.value, "half a sentence ");
  made.element.onsubmit({ preventDefault() {} });
  assert.deepEqual(sent, ["half a sentence"]);
});

// Texts: on the projector is what the speaker shows, and nothing else.

const written = (id, isShown, votes = 0) => ({ id, text: `text ${id} <i>`, isShown, votes });

test("a board and its questions have the shown texts alone, as text", () => {
  const texts = [written(1, true), written(2, false), written(3, true)],
    board = makeAnswerBoard(),
    more = { sure: [], moves: [], texts };
  board.update(asked(WRITE), { counts: [], isShown: false, more });
  assert.equal(
    board.element
      .querySelectorAll("li")
      .map(each => each.textContent)
      .join(),
    "text 1 <i>,text 3 <i>",
  );
  assert.ok(!drawShownQuestions(texts).textContent.includes("text 2"));
  board.update(asked(WRITE), {
    counts: [],
    isShown: false,
    more: { ...more, texts: texts.map(each => ({ ...each, isShown: false })) },
  });
  assert.ok(!/text \d/.test(board.element.textContent), "hidden again");
  assert.ok(needsBoard(WRITE, more) && !needsBoard(CHOOSE, { ...more, texts: [] }));
});

test("a speaker shows one text, the next, all, or none, and takes questions or not", () => {
  const sent = [],
    show = (ids, isShown) => sent.push([ids, isShown]),
    texts = [written(1, true), written(2, false), written(3, false)];
  const press = (buttons, start) => buttons.find(({ textContent }) => textContent.startsWith(start)).onclick();
  for (const start of ["Show the next", "Show all", "Hide"]) press(textButtons({ texts, wondered: [] }, show), start);
  assert.deepEqual(sent, [
    [[2], true],
    [null, true],
    [null, false],
  ]);
  assert.equal(textButtons({ texts: [], wondered: [] }, show).length, 0);
  const acts = [],
    lists = makeTextLists(act => acts.push(act));
  lists.update({ texts, wondered: [written(4, false, 2)], takesQuestions: false });
  for (const each of lists.element.querySelectorAll("li button")) each.onclick();
  press(lists.element.querySelectorAll("button"), "Take");
  assert.deepEqual(
    acts.map(({ ids, isShown, isOn }) => [ids?.[0], isShown ?? isOn]),
    [
      [1, false],
      [2, true],
      [3, true],
      [4, true],
      [undefined, true],
    ],
  );
});

// How sure: of each degree how many, and once the answer is shown how many of them were right.

test("how sure a class was is counted over all answers, and judged only once the answer is shown", () => {
  const sure = [
      [0, 3, 4],
      [2, 3, 6],
      [1, 1, 2],
      [2, 1, 1],
    ],
    board = makeAnswerBoard(),
    more = { sure: [sure], moves: [], texts: [] },
    textOf = () =>
      board.element
        .querySelector(".class-sure")
        .childNodes.map(each => each.textContent)
        .join();
  board.update(asked(CHOOSE), { counts: [[[0, 4]]], isShown: false, more });
  assert.equal(textOf(), "Very sure10,Fairly sure0,Guessed3");
  board.update(asked(CHOOSE), { counts: [[[0, 4]]], isShown: true, more });
  assert.equal(textOf(), "Very sure6 of 10 right,Fairly sure0 of 0 right,Guessed1 of 3 right");
  board.update(asked(OPINION), { counts: [[[0, 4]]], isShown: true, more });
  assert.equal(textOf(), "Very sure10,Fairly sure0,Guessed3");
});

test("a timer counts down from what the server says is left, and a time that comes again doesn't jump", t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let now = 0;
  const timer = makeNeighbourTimer(() => now),
    textOf = () => timer.element.querySelector("[role=timer]").textContent;
  timer.update(90);
  assert.deepEqual([textOf(), timer.element.hidden], ["1:30", false]);
  now = 30_000;
  t.mock.timers.tick(1000);
  assert.equal(textOf(), "1:00");
  timer.update(61);
  assert.equal(textOf(), "1:00");
  timer.update(120);
  assert.equal(textOf(), "2:00");
  timer.update(0);
  assert.equal(timer.element.hidden, true);
});

// A phone's own question and votes: what is typed goes only once it was taken.

test("a question is cleared once it was taken, stays where it wasn't, and a refused vote is taken back", async () => {
  const replies = [
      { isDone: false, message: "One question every 10 s." },
      { isDone: true, message: "" },
    ],
    sent = [],
    post = message => {
      sent.push(message);
      return Promise.resolve(replies.shift() ?? { isDone: false, message: "This question isn’t shown any more." });
    },
    drafts = makeDrafts(() => storeOf()),
    wonder = makeWonder(post, drafts.of("to the speaker")),
    input = wonder.element.querySelector("textarea"),
    form = wonder.element.querySelector("form");
  const type = text => Object.assign(input, { value: text }).oninput();
  wonder.update([{ id: 4, text: "Why?", votes: 2 }]);
  assert.equal(wonder.element.hidden, false);
  type("What is √d_k for?");
  for (const expected of ["What is √d_k for?", ""]) {
    form.onsubmit({ preventDefault() {} });
    await turns();
    assert.equal(input.value, expected);
    assert.equal(drafts.of("to the speaker").text, expected);
  }
  assert.ok(wonder.element.querySelector(".own-question").textContent.includes("What is √d_k for?"));
  const voting = () => wonder.element.querySelector("li button");
  voting().onclick();
  assert.equal(voting().getAttribute("aria-pressed"), "true");
  await turns();
  assert.equal(voting().getAttribute("aria-pressed"), "false");
  assert.deepEqual(sent.at(-1), { do: "vote", id: 4, isOn: true });
  wonder.recall({ wondered: "", votes: [4] });
  assert.equal(voting().getAttribute("aria-pressed"), "true");
  wonder.update(null);
  assert.equal(wonder.element.hidden, true);
});

test("drafts are of their question, outlive a reload, and are the latest twenty", () => {
  const store = storeOf(),
    drafts = makeDrafts(() => store);
  for (let n = 0; n < 25; n += 1) drafts.of(`question ${n}`).keep(`text ${n}`);
  const again = makeDrafts(() => store);
  assert.deepEqual(
    [4, 5, 24].map(n => again.of(`question ${n}`).text),
    ["", "text 5", "text 24"],
  );
  again.of("question 24").keep("");
  assert.equal(makeDrafts(() => store).of("question 24").text, "");
  again.forget();
  assert.equal(makeDrafts(() => store).of("question 10").text, "");
});

test("how sure one is is sent with the answer that it is of, and comes back after a reload", async t => {
  mockTimeouts(t);
  const sent = [],
    now = { number: 3, at: "a", kind: "lesson", question: null, round: { question: 0, number: 1, isOpen: true } },
    answers = makeAnswers(
      message => {
        sent.push(message);
        return Promise.resolve({ isDone: true, status: 200, message: "" });
      },
      () => {},
    );
  answers.give(now, 2);
  answers.give(now, 2, 3);
  assert.deepEqual([answers.at(now), answers.sureAt(now)], [2, 3]);
  for (let n = 0; n < 2; n += 1) {
    await turns();
    t.mock.timers.tick(1100);
  }
  await turns();
  assert.deepEqual(
    sent.map(({ value, sure }) => [value, sure]),
    [
      [2, 0],
      [2, 3],
    ],
  );
  answers.give(now, 1);
  assert.equal(answers.sureAt(now), 0, "of another answer that wasn't said");
  answers.recall([{ question: 1, round: 1, value: "words", sure: 2 }]);
  const later = { ...now, number: 4, round: { question: 1, number: 1 } };
  assert.deepEqual([answers.at(later), answers.sureAt(later)], ["words", 2]);
});
