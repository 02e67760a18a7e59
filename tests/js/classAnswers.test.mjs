// One's own answers in a class: sent until they arrive, one a second, and of several the last.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAnswers } from "../../attnviz/viewer/browser/classroom/classPage.js";

const NOW = { number: 3, at: "lesson=a&moment=1", kind: "lesson", question: null, round: { number: 1, isOpen: true } };
const turns = async () => {
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
};

function made(t, replies) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [],
    post = ({ value, number, round }) => {
      sent.push([number, round, value]);
      return Promise.resolve(replies.shift() ?? { isDone: true, status: 200, message: "" });
    };
  return { sent, answers: makeAnswers(post, () => {}) };
}

test("of several answers in a second the last counts", async t => {
  const { sent, answers } = made(t, []);
  for (const value of [1, 2, 5]) answers.give(NOW, value);
  assert.equal(answers.at(NOW), 5, "seen at once");
  await turns();
  t.mock.timers.tick(1100);
  await turns();
  assert.deepEqual(sent, [
    [3, 1, 1],
    [3, 1, 5],
  ]);
  t.mock.timers.tick(1100);
  await turns();
  assert.equal(sent.length, 2);
});

test("an answer is sent again where a process is lost, and not where it is refused", async t => {
  const lost = { isDone: false, status: 502, message: "bad gateway" },
    refused = { isDone: false, status: 400, message: "No more answers are taken." };
  const { sent, answers } = made(t, [lost, refused]);
  answers.give(NOW, 2);
  for (let n = 0; n < 4; n += 1) {
    await turns();
    t.mock.timers.tick(1100);
  }
  assert.equal(sent.length, 2);
  assert.equal(answers.failureAt(NOW), "No more answers are taken.");
  assert.equal(answers.failureAt({ ...NOW, number: 4 }), "", "which is of that question alone");
});

test("an answer is of its question and its round", t => {
  const { answers } = made(t, []);
  answers.recall({ number: 3, round: 1, value: 0 });
  assert.equal(answers.at(NOW), 0);
  assert.equal(answers.at({ ...NOW, round: { number: 2 } }), null);
  assert.equal(answers.at({ ...NOW, round: null }), null);
});

test("where the class comes back to a question, one's answer is there still", t => {
  const { answers } = made(t, []),
    question = { kind: "word", cell: "scores[0,1,1]" };
  answers.give(NOW, 2);
  assert.equal(answers.at({ ...NOW, number: 5 }), 2);
  for (const other of [
    { at: "lesson=a&moment=2" },
    { question },
    { round: { number: 2 } },
    { kind: "talk", number: 4 },
  ])
    assert.equal(answers.at({ ...NOW, number: 5, ...other }), null);
});

test("who comes back sees the answer that counts: their newest one, and once it was sent, what the server has", async t => {
  const { answers } = made(t, [{ isDone: false, status: 0, message: "No network." }]);
  answers.recall({ number: 3, round: 1, value: 0 });
  answers.give(NOW, 2);
  assert.equal(answers.at(NOW), 2);
  answers.recall({ number: 3, round: 1, value: 0 }); // the line is back before the answer was sent
  assert.equal(answers.at(NOW), 2);
  answers.recall(null);
  assert.equal(answers.at(NOW), 2);
  answers.recall({ number: 4, round: 1, value: 5 });
  assert.equal(answers.at({ ...NOW, number: 4 }), 5, "of another question it is what was said there");
  for (let n = 0; n < 3; n += 1) {
    await turns();
    t.mock.timers.tick(1100);
  }
  await turns();
  answers.recall({ number: 3, round: 1, value: 1 });
  assert.equal(answers.at(NOW), 1);
});
