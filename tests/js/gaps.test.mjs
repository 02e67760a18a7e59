import assert from "node:assert/strict";
import test from "node:test";
import { answerOf, makeQuestion, verdictOn } from "../../attnviz/viewer/browser/lesson/question.js";
import { install } from "./fakeDom.mjs";
import { mockTimeouts } from "./helpers.mjs";

const gap = (value, nears = []) => ({ value, tolerance: 0.005, nears }),
  given = text => ({ text: [["number", { text, cell: "scores[0,1,0]", of: "B" }]], gap: null }),
  near = { value: 3, tolerance: 0.005, feedback: [["", "That is the score."]] };
const GAPS = {
  kind: "gaps",
  prompt: [["", "Fill in."]],
  words: ["the", "cat"],
  rows: [
    { name: "score", cells: [given("2"), { text: [["", "−1"]], gap: gap(-1) }] },
    { name: "weight", cells: [given("3/7"), { text: [["", "4/7"]], gap: gap(4 / 7, [near]) }] },
  ],
};

// Other tests, in the same process, have no document.
test.beforeEach(t => {
  const descriptors = () => Object.getOwnPropertyDescriptors(globalThis),
    before = descriptors();
  install();
  const changed = Object.entries(descriptors()).filter(([name, { value }]) => value !== before[name]?.value);
  t.after(() => {
    for (const [name] of changed) {
      if (name in before) Object.defineProperty(globalThis, name, before[name]);
      else delete globalThis[name];
    }
  });
});

// Types into the gaps, each text in its gap as one goes; "\n" presses Enter.
function filled(t, ...texts) {
  const tick = mockTimeouts(t),
    answers = [],
    question = makeQuestion(GAPS, { answer: answer => answers.push(answer) });
  question.update({ answer: null, isShown: false });
  const inputs = question.element
      .querySelectorAll("input")
      .map(each => Object.assign(each, { focus() {}, select() {} })),
    help = () => question.element.querySelector(".help").textContent;
  for (const [nth, text] of texts.entries()) {
    for (const [end, sign] of [...text].entries()) {
      if (sign === "\n") inputs[nth].onkeydown({ key: "Enter", preventDefault() {} });
      else {
        inputs[nth].value = text
          .slice(0, end + 1)
          .split("\n")
          .at(-1);
        inputs[nth].oninput();
      }
    }
  }
  const pause = () => tick(1200);
  return { question, answers, inputs, help, pause };
}

test("gaps take numbers as people write them, and are done once all are right", t => {
  for (const [score, weight] of [
    ["-1", "4/7"],
    ["−1", "0,57"],
    ["−1.0", "57 %"],
    [" -1", ".571"],
  ]) {
    t.mock.timers.reset();
    const { answers, pause } = filled(t, score, weight);
    pause();
    assert.equal(answers.length, 1, `${score} and ${weight}`);
    assert.equal(verdictOn(GAPS, answers[0]).isRight, true);
  }
});

test("a number may be rounded, a fraction may not", t => {
  const { answers, inputs, pause } = filled(t, "-1", "57/100");
  pause();
  assert.deepEqual([answers.length, inputs[1].ariaInvalid], [0, "true"]);
});

test("the first wrong gap is named with its cause, once its number is finished", t => {
  const cases = [
    [["1"], "score, cat: Not yet: look at the numbers beside it."],
    [["", "3"], "weight, cat: That is the score."],
    [["", "4"], "weight, cat: Not yet: look at the row above it, score."],
    [["1", "3"], "score, cat: Not yet: look at the numbers beside it."],
    [["-1", "3"], "weight, cat: That is the score."],
    [["-1"], "1 of 2 right."],
    [["-"], ""], // unfinished
    [["", "4/"], ""],
    [["x"], "score, cat: A number, please, such as 3, −0.25, 6/7 or 88 %."],
    [["", "4/\n"], "weight, cat: A number, please, such as 3, −0.25, 6/7 or 88 %."],
  ];
  for (const [texts, told] of cases) {
    t.mock.timers.reset();
    const { help, pause, answers } = filled(t, ...texts);
    pause();
    assert.equal(help(), told, texts.join("; "));
    assert.deepEqual(answers, []);
  }
});

test("the first number in each gap counts, and one that is shown counts for nothing", t => {
  const { answers, pause, inputs } = filled(t, "-1", "3\n4/7");
  assert.deepEqual(inputs[0].ariaLabel, "score, cat: right");
  pause();
  assert.equal(verdictOn(GAPS, answers[0]).isRight, false);
  t.mock.timers.reset();
  const shown = filled(t, "1");
  shown.question.element.querySelectorAll("button").at(-1).onclick();
  assert.deepEqual([shown.answers, verdictOn(GAPS, null).isRight], [[null], null]);
  shown.question.update({ answer: null, isShown: true });
  const cells = shown.question.element.querySelectorAll("td").map(each => each.textContent);
  assert.deepEqual(cells, ["", "2", "−1", "3/7", "4/7"]);
  assert.equal(shown.question.element.querySelectorAll("input").length, 0);
  assert.equal(answerOf(GAPS), "score, cat: −1; weight, cat: 4/7");
});
