// The speaker of a class: what this device does leads it, what another has done leads this one, and nothing goes back and forth.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSpeaker } from "../../attnviz/viewer/browser/classroom/classSpeaker.js";

const ROOM = { code: "KTQWRM", key: "key", link: "link", seat: "seat" };
const settled = () => new Promise(done => setTimeout(done));

function storeOf(items = {}) {
  const kept = new Map(Object.entries(items));
  return {
    getItem: name => kept.get(name) ?? null,
    setItem: (name, text) => kept.set(name, text),
    removeItem: name => kept.delete(name),
  };
}

// A room that two devices share, as the server has it: each has a line of its own.
function makeRoom() {
  let state = { number: 0, at: "", kind: "pass", question: null, isShown: false, hasEnded: false },
    pressed = 0;
  const devices = [],
    moves = [];
  const now = () => ({ ...state, audience: { pressed } });
  const tell = () => {
    for (const hear of devices) hear(now());
  };
  return {
    moves,
    line: name => ({
      post: (_code, { do: what, at, isShown, by }) => {
        if (what === "press") {
          pressed += by;
          setTimeout(tell);
        }
        if (what !== "move") return Promise.resolve({ isDone: true, status: 200, data: {} });
        moves.push(`${name} ${at}${isShown ? " shown" : ""}`);
        const isElsewhere = at !== state.at;
        state = { ...state, at, isShown, number: state.number + Number(isElsewhere) };
        setTimeout(tell);
        return Promise.resolve({ isDone: true, status: 200, data: { number: state.number, isOwn: false } });
      },
      listen: (_seat, _isAround, heard) => {
        devices.push(heard.now);
        setTimeout(() => heard.now(now()));
        return () => {};
      },
    }),
  };
}

function device(room, name, items) {
  const store = storeOf({ "attnviz class": JSON.stringify(ROOM), ...items }),
    speaker = makeSpeaker(room.line(name), () => store);
  speaker.store = store;
  return speaker;
}

test("what one device does, another is led to, and tells nobody", async t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const room = makeRoom(),
    [one, other] = ["one", "other"].map(name => device(room, name));
  one.shows({ at: "step=scores" });
  other.shows({ at: "step=scores" });
  await settled();
  await settled();
  const before = room.moves.length;
  one.shows({ at: "step=softmax" });
  await settled();
  await settled();
  assert.equal(one.led, null, "it went there itself");
  assert.deepEqual(other.led, { at: "step=softmax", kind: "pass", question: null, isShown: false });
  other.followed();
  other.shows({ at: "step=softmax&view=sheet" }, true); // as it writes it
  await settled();
  assert.equal(other.led, null);
  assert.deepEqual(room.moves.slice(before), ["one step=softmax"]);
  other.shows({ at: "step=answer" });
  await settled();
  await settled();
  assert.equal(one.led.at, "step=answer");
});

test("an answer that one device shows is shown by the other", async t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const room = makeRoom(),
    [one, other] = ["one", "other"].map(name => device(room, name));
  for (const each of [one, other]) each.shows({ at: "lesson=a&moment=1" });
  await settled();
  await settled();
  one.shows({ at: "lesson=a&moment=1", isShown: true });
  await settled();
  await settled();
  assert.equal(other.led.isShown, true);
  other.followed();
  other.shows({ at: "lesson=a&moment=1", isShown: true }, true);
  assert.equal(other.led, null);
});

test("a page that was opened for a place of the class leads nobody there, and hears where the class has gone meanwhile", async t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const room = makeRoom(),
    one = device(room, "one");
  one.shows({ at: "step=scores" });
  await settled();
  await settled();
  one.leaves(1);
  const opened = device(room, "opened", { "attnviz class led": "1" });
  one.shows({ at: "step=softmax" });
  await settled();
  await settled();
  opened.shows({ at: "step=scores&view=sheet" });
  await settled();
  assert.deepEqual(room.moves, ["one step=scores", "one step=softmax"]);
  assert.equal(opened.led.at, "step=softmax");
});

test("what one device presses in a talk, another is told once, and of nothing from before it came", async t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const room = makeRoom(),
    [remote, gives] = ["remote", "gives"].map(name => device(room, name));
  await settled();
  for (const by of [1, 1, 1, -1]) remote.press(by);
  await settled();
  await settled();
  assert.deepEqual([gives.presses(), gives.presses()], [2, 0]);
  remote.press(-1);
  await settled();
  await settled();
  assert.equal(gives.presses(), -1);
  const late = device(room, "late");
  await settled();
  assert.equal(late.presses(), 0);
});

test("where a move is lost it is made again, where it is refused it is not, and the reason is said until the next", async t => {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const turns = async () => {
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  const answers = [
      { isDone: false, status: 502, message: "Bad gateway." },
      { isDone: true, status: 200, data: { number: 1, isOwn: false } },
      { isDone: false, status: 400, message: "No such cell." },
      { isDone: true, status: 200, data: { number: 2, isOwn: false } },
    ],
    moves = [];
  let hear = null;
  const line = {
    post: (_code, { do: what, at }) => {
      if (what !== "move") return Promise.resolve({ isDone: true, status: 200, data: {} });
      moves.push(at);
      return Promise.resolve(answers.shift());
    },
    listen: (_seat, _isAround, { now }) => {
      hear = now;
      return () => {};
    },
  };
  const speaker = device({ line: () => line }, "one");
  hear({ number: 0, at: "", kind: "pass", question: null, isShown: false, hasEnded: false, audience: { pressed: 0 } });
  for (const [at, said] of [
    ["step=scores", ""],
    ["step=wrong", "No such cell."],
    ["step=softmax", ""],
  ]) {
    speaker.shows({ at });
    for (let n = 0; n < 4; n += 1) {
      await turns();
      t.mock.timers.tick(1000);
    }
    assert.equal(speaker.message, said);
  }
  assert.deepEqual(moves, ["step=scores", "step=scores", "step=wrong", "step=softmax"]);
});

test("a speaker's machine gives a sign of life twice in the 25 seconds after which it counts as asleep, until the class has ended", async t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const told = [],
    line = makeRoom().line("one"),
    post = (code, message) => {
      told.push(message.do);
      return line.post(code, message);
    },
    one = device({ line: () => ({ ...line, post }) }, "one");
  t.mock.timers.tick(24_000);
  assert.ok(told.filter(what => what === "here").length >= 2);
  await one.end();
  const before = told.length;
  t.mock.timers.tick(60_000);
  assert.equal(told.length, before);
  assert.equal(one.room, null);
});

test("a second device speaks with what it was given on the page that it opens next", t => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const room = makeRoom(),
    store = storeOf(),
    given = { code: "KTQWRM", key: "other key", seat: "other seat" };
  makeSpeaker(room.line("first page"), () => store).take(given);
  assert.deepEqual(makeSpeaker(room.line("next page"), () => store).room, given);
});
