import assert from "node:assert/strict";
import test from "node:test";
import { makeServer } from "../../attnviz/viewer/browser/shell/server.js";
import { mockTimeouts } from "./timeouts.mjs";

// A server that answers when it is told to, and what is shown of it. An answer is {view, address: {seed}} of a scene.
function told({ view = "pass" } = {}) {
  const asked = [],
    shown = [],
    answers = [];
  const post = message => new Promise((answer, fail) => asked.push({ ...message, answer, fail }));
  const server = makeServer({ post, look: () => "?step=mask" });
  const numbers = [...Array(20).keys()].values();
  const answerOf = (seed, drawn = view, { tab = "t", number = numbers.next().value } = {}) => ({
    tab,
    number,
    address: { seed },
    view: drawn,
  });
  const draw = (answer, isDone) => {
    const { address, notices } = answer;
    answers.push(answer);
    shown.push(notices ? notices[0] : `${isDone ? "done" : "run"} ${address.seed}`);
  };
  const say = async what => {
    asked.at(-1).answer(what);
    await new Promise(setImmediate);
  };
  return {
    server,
    asked,
    shown,
    answers,
    answerOf,
    say,
    run: (seed, ...more) => server.given(answerOf(seed, ...more), draw),
  };
}

const actsOf = asked => asked.map(({ acts }) => acts.map(([name, message]) => `${name} ${message}`).join(", "));

test("what is done is told one after the other and in its order, with the scene that was seen", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  for (const name of ["mute", "swap"]) server.act(name, "b");
  assert.deepEqual(actsOf(asked), ["swap a"], "one request at a time");
  assert.deepEqual(
    [asked[0].tab, asked[0].look, asked[0].view, asked[0].address],
    ["t", "?step=mask", "pass", { seed: 1 }],
  );
  assert.ok(server.isWaiting);
  await say(answerOf(2));
  assert.deepEqual(actsOf(asked), ["swap a", "mute b, swap b"]);
  assert.deepEqual(asked[1].address, { seed: 2 });
  assert.ok(server.isWaiting);
  await say(answerOf(3));
  assert.deepEqual(shown, ["run 1", "done 2", "done 3"]);
  assert.ok(!server.isWaiting);
});

test("of what replaces itself the last is told, and no other", async () => {
  const { server, asked, answerOf, say, run } = told();
  run(1);
  for (const text of ["a", "ab", "abc"]) server.act("sentence", text);
  for (const text of ["x", "y"]) server.act("context", text);
  for (const word of ["on", "on"]) server.act("word", word);
  server.act("sentence", "abcd");
  await say(answerOf(2));
  assert.deepEqual(actsOf(asked), ["sentence a", "sentence abc, context y, word on, word on, sentence abcd"]);
});

test("of each setting that holds one value the last is told", async () => {
  const { server, asked, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  const settings = ["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"];
  for (const name of settings) for (const value of [1, 2]) server.act(name, value);
  while (server.isWaiting) await say(answerOf(2));
  assert.deepEqual(
    asked.slice(1).flatMap(({ acts }) => acts),
    settings.map(name => [name, 2]),
  );
});

test("more than a request may tell is told by several", async () => {
  const { server, asked, answerOf, say, run } = told();
  run(1);
  for (let n = 0; n < 46; n += 1) server.act("swap", n);
  while (server.isWaiting) await say(answerOf(2));
  assert.deepEqual(
    asked.map(({ acts }) => acts.length),
    [1, ...Array(9).fill(5)],
  );
  assert.deepEqual(
    asked.flatMap(({ acts }) => acts.map(([, n]) => n)),
    [...Array(46).keys()],
  );
});

test("where there is no answer it is asked again, before what was done since, and at once by a process that takes over", async t => {
  mockTimeouts(t.mock);
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.act("mute", "b");
  await say(null);
  assert.deepEqual(shown, ["run 1"]);
  assert.ok(server.isWaiting);
  t.mock.timers.tick(999);
  assert.equal(asked.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(actsOf(asked), ["swap a", "swap a, mute b"]);
  await say(null);
  run(1);
  assert.deepEqual(actsOf(asked).slice(2), ["swap a, mute b"]);
  await say(answerOf(2));
  t.mock.timers.tick(9000);
  assert.equal(asked.length, 3);
  assert.deepEqual(shown, ["run 1", "run 1", "done 2"]);
});

test("what can't be done is said, and what is shown stays", async () => {
  const { server, asked, shown, answers, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.act("mute", "b");
  asked[0].fail(new Error("The server could not do that."));
  await new Promise(setImmediate);
  assert.deepEqual(actsOf(asked), ["swap a", "mute b"], "and it is not asked again");
  assert.deepEqual(answers[1], { ...answers[0], notices: ["The server could not do that."] });
  assert.deepEqual(asked[1].address, { seed: 1 });
  await say(answerOf(2));
  assert.deepEqual(shown, ["run 1", "The server could not do that.", "done 2"]);
});

test("after Back what was on its way isn't shown, what waited isn't done, and the server hears where one is", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.act("mute", "b");
  server.forget();
  await say(answerOf(2));
  assert.deepEqual([actsOf(asked), shown], [["swap a"], ["run 1"]], "nobody knows yet where Back leads");
  server.act("seed", "c");
  assert.equal(asked.length, 1);
  run(0);
  assert.deepEqual(actsOf(asked), ["swap a", "nothing true, seed c"]);
  assert.deepEqual(asked[1].address, { seed: 0 });
  await say(answerOf(3));
  assert.deepEqual(shown, ["run 1", "run 0", "done 3"]);
});

test("after a second Back too the server hears where one is, and one is busy until it has", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  for (let n = 0; n < 2; n += 1) server.forget();
  assert.ok(server.isWaiting);
  run(0);
  await say(answerOf(2));
  assert.deepEqual([actsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 0 }]);
  await say(answerOf(0));
  assert.deepEqual([shown, server.isWaiting], [["run 1", "run 0", "done 0"], false]);
});

test("a run that answers Back before what was on its way is answered stays what is shown", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.forget();
  run(0);
  await say(answerOf(2));
  assert.deepEqual([actsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 0 }]);
  await say(answerOf(0));
  assert.deepEqual(shown, ["run 1", "run 0", "done 0"]);
});

test("Back where nothing was on its way asks for nothing, and where no run follows it what is done is done in the end", async t => {
  mockTimeouts(t.mock);
  const { server, asked, answerOf, say, run } = told();
  run(1);
  server.forget();
  server.act("swap", "a");
  t.mock.timers.tick(2999);
  assert.equal(asked.length, 0);
  t.mock.timers.tick(1);
  assert.deepEqual(actsOf(asked), ["swap a"]);
  await say(answerOf(2));
  assert.ok(!server.isWaiting);
});

test("a run's answer while one is on its way is shown, and what is on its way after it", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.act("mute", "b");
  run(1);
  assert.deepEqual(actsOf(asked), ["swap a"], "one request at a time");
  await say(answerOf(2));
  assert.deepEqual(asked[1].address, { seed: 2 });
  await say(answerOf(3));
  assert.deepEqual(shown, ["run 1", "run 1", "done 2", "done 3"]);
});

test("what is on its way as one goes to a page with another view is shown there", async () => {
  for (const [view, other] of [
    ["pass", "audit"],
    ["audit", "script"],
    ["script", "pass"],
  ]) {
    const { server, asked, shown, answerOf, say, run } = told({ view });
    run(1);
    server.act("swap", "a");
    run(1, other);
    await say(answerOf(2));
    assert.deepEqual(
      [actsOf(asked), asked[1].address, asked[1].view],
      [["swap a", "nothing true"], { seed: 2 }, other],
    );
    await say(answerOf(2, other));
    assert.deepEqual(shown, ["run 1", "run 1", "done 2"]);
  }
});

test("a run that was slower than what was done after it isn't shown, and the next is done to what was", async () => {
  for (const view of ["pass", "audit"]) {
    const { server, asked, shown, answerOf, say, run } = told();
    run(1);
    server.act("swap", "a");
    await say(answerOf(4, "pass", { number: 4 }));
    for (const number of [2, 3]) run(number, view, { number });
    server.act("mute", "b");
    assert.deepEqual([asked[1].address, asked[1].view], [{ seed: 4 }, view]);
    await say(answerOf(4, view, { number: 5 }));
    await say(answerOf(6, view, { number: 6 }));
    assert.deepEqual(actsOf(asked), ["swap a", "nothing true", "nothing true, mute b"]);
    assert.deepEqual(shown, ["run 1", "done 4", "done 4", "done 6"]);
    run(7, view, { number: 7 });
    assert.equal(shown.at(-1), "run 7");
  }
});

test("the numbers of a process that takes over begin anew", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1, "pass", { number: 8 });
  run(2, "pass", { tab: "other", number: 1 });
  server.act("swap", "a");
  await say(answerOf(3, "pass", { tab: "other", number: 2 }));
  run(4, "pass", { tab: "other", number: 3 });
  assert.deepEqual([actsOf(asked), shown], [["swap a"], ["run 1", "run 2", "done 3", "run 4"]]);
});

test("a slow run is no sign of where Back has led: nothing is asked until that is shown", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  await say(answerOf(3, "pass", { number: 3 }));
  server.forget();
  run(2, "pass", { number: 2 });
  assert.deepEqual([actsOf(asked), shown], [["swap a"], ["run 1", "done 3"]]);
  run(1, "pass", { number: 4 });
  assert.deepEqual([actsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 1 }]);
});

test("an answer for a page that has gone counts for a slow run of the page that has come", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  run(1, "audit", { number: 2 });
  await say(answerOf(4, "pass", { number: 4 }));
  run(3, "audit", { number: 3 });
  await say(answerOf(4, "audit", { number: 5 }));
  assert.deepEqual(
    asked.slice(1).map(({ address }) => address),
    [{ seed: 4 }, { seed: 4 }],
  );
  assert.deepEqual(shown, ["run 1", "run 1", "done 4"]);
});
