import assert from "node:assert/strict";
import test from "node:test";
import { countLines } from "../../attnviz/viewer/browser/lesson/classPanel.js";
import { UNANSWERED, nextPress, pressed } from "../../attnviz/viewer/browser/lesson/presses.js";

// The order of presses: what is shown of each kind of moment after each press, and back again.

const BLANK = { question: null, worked: [], after: [], ending: null },
  CHOICE = { kind: "pick", candidates: [], right: [0] },
  KINDS = {
    text: BLANK,
    after: { ...BLANK, after: [["", "why"]] },
    ending: { ...BLANK, ending: {} },
    worked: { ...BLANK, worked: [[], []], after: [["", "why"]] },
    pick: { ...BLANK, question: CHOICE },
    choose: { ...BLANK, question: { ...CHOICE, kind: "choose" }, after: [["", "why"]] },
    zero: { ...BLANK, question: { kind: "fill", right: 0, isShare: true } },
    gaps: { ...BLANK, question: { kind: "gaps" } },
    opinion: { ...BLANK, question: { kind: "choose", candidates: [], right: [] } },
    anyNumber: { ...BLANK, question: { kind: "fill", right: null } },
    words: { ...BLANK, question: { kind: "write" } },
  };
const ALONE = { text: "", after: "shown", ending: "shown", worked: "1 2 shown", gaps: "shown" },
  ASKED = "answers answers+shown",
  ORDERS = {
    ...ALONE,
    ...{ pick: ASKED, choose: ASKED, zero: ASKED, opinion: "answers", anyNumber: "answers", words: "answers" },
  };
const stateOf = ({ lines, isShown, showsClass }) =>
  [!isShown && lines, showsClass && "answers", isShown && "shown"].filter(Boolean).join("+");

// What is shown after each press until one leads on.
function walkMoment(moment, from, by, isClass) {
  const walk = [];
  for (let shown = pressed(moment, from, by, isClass); shown; shown = pressed(moment, shown, by, isClass))
    walk.push(shown);
  return walk;
}

for (const [kind, moment] of Object.entries(KINDS))
  test(`in a class presses show ${kind} in order, and back again`, () => {
    const there = walkMoment(moment, UNANSWERED, 1, true),
      last = there.at(-1) ?? UNANSWERED;
    assert.equal(there.map(stateOf).join(" "), ORDERS[kind]);
    assert.equal(walkMoment(moment, last, -1, true).length, there.length);
    for (const [nth, shown] of there.entries()) {
      const before = nth ? there[nth - 1] : UNANSWERED;
      assert.deepEqual({ ...pressed(moment, shown, -1, true), wasShown: before.wasShown }, before);
    }
  });

test("without a class a press shows the answer at once, and one back leaves it", () => {
  for (const [kind, moment] of Object.entries(KINDS)) {
    const there = walkMoment(moment, UNANSWERED, 1, false);
    assert.equal(there.map(stateOf).join(" "), ALONE[kind] ?? "shown");
    if (kind !== "worked") assert.deepEqual(walkMoment(moment, there.at(-1) ?? UNANSWERED, -1, false), []);
  }
});

test("a button says what the next press does, and one that reveals before the answers are shown is taken back at once", () => {
  const said = [UNANSWERED, ...walkMoment(KINDS.pick, UNANSWERED, 1, true)];
  assert.deepEqual(
    said.map(shown => nextPress(KINDS.pick, shown, true)),
    ["Show answers", "Reveal", ""],
  );
  assert.equal(nextPress(KINDS.worked, UNANSWERED, true), "Next line");
  const early = { ...UNANSWERED, isShown: true, answer: 2 };
  assert.deepEqual(pressed(KINDS.pick, early, -1, true), UNANSWERED);
});

test("a speaker sees how many gave each answer, in each round, and which is right", () => {
  const lines = (question, counts) => countLines(question, counts).map(each => Object.values(each).join(" "));
  const pick = { ...CHOICE, candidates: [{ label: "a" }, { label: "b" }] };
  assert.deepEqual(lines(pick, [[[1, 3]], [[0, 2]]]), ["a true 0,2", "b false 3,0"]);
  const number = { kind: "fill", right: 1.5, text: "1.50", tolerance: 0.01, isShare: false };
  assert.deepEqual(
    lines(number, [
      [
        [-2, 1],
        [1.5, 2],
        [1.505, 3],
      ],
    ]),
    ["1.505 true 3", "1.50 true 2", "−2 false 1"],
  );
  const share = { kind: "fill", right: 0.567, text: "56.70 %", tolerance: 0.1, isShare: true };
  assert.deepEqual(
    lines(share, [
      [
        [0.11, 1],
        [0.12, 2],
        [0.6, 4],
      ],
    ]),
    ["56.70 % true 4", "10 % false 3"],
  );
  assert.deepEqual(lines({ kind: "fill", right: null, isShare: false }, [[[7, 1]]]), ["7 false 1"]);
  assert.deepEqual(lines({ kind: "write" }, [[["words", 1]]]), []);
});
