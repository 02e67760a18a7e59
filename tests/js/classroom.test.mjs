import assert from "node:assert/strict";
import test from "node:test";
import { askableOf } from "../../attnviz/viewer/browser/classroom/classQuestion.js";
import { joinAddresses } from "../../attnviz/viewer/browser/classroom/classBar.js";
import { makeAnswers } from "../../attnviz/viewer/browser/classroom/phoneAnswers.js";
import { takeSeat } from "../../attnviz/viewer/browser/classroom/classSeat.js";
import { makeSpeaker } from "../../attnviz/viewer/browser/classroom/classSpeaker.js";
import { makeClassApi } from "../../attnviz/viewer/browser/shell/server.js";
import { forbidden, mockTimeouts, storeOf, turns } from "./helpers.mjs";

// One's own answers in a class: sent until they arrive, one a second, and of several the last.

const NOW = {
  number: 3,
  at: "lesson=a&moment=1",
  kind: "lesson",
  question: null,
  round: { question: 0, number: 1, isOpen: true },
};

function made(t, replies) {
  mockTimeouts(t);
  const sent = [],
    post = ({ value, question, round }) => {
      sent.push([question, round, value]);
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
  assert.equal(sent.join(" "), "0,1,1 0,1,5");
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
  assert.equal(answers.at(NOW), null, "an answer that doesn't count isn't shown");
  assert.equal(answers.failureAt({ ...NOW, round: { question: 1, number: 1 } }), "", "which is of that question alone");
});

test("an answer is of its question and its round", t => {
  const { answers } = made(t, []);
  answers.recall([{ question: 0, round: 1, value: 0 }]);
  assert.equal(answers.at(NOW), 0);
  assert.equal(answers.at({ ...NOW, round: { question: 0, number: 2 } }), null);
  assert.equal(answers.at({ ...NOW, round: null }), null);
});

test("where the class comes back to a question, one's answer is there still", t => {
  const { answers } = made(t, []),
    other = { ...NOW, number: 4, round: { question: 1, number: 1 } };
  answers.give(NOW, 2);
  for (const kind of ["lesson", "talk"]) {
    assert.equal(answers.at({ ...other, kind }), null);
    assert.equal(answers.at({ ...NOW, kind, number: 5 }), 2);
  }
  answers.recall([0, 1].map(question => ({ question, round: 1, value: 3 + question }))); // after a reload
  assert.deepEqual([answers.at(other), answers.at({ ...NOW, number: 7 })], [4, 2], "what is being sent is newer");
});

test("who comes back sees the answer that counts: their newest one, and once it was sent, what the server has", async t => {
  const { answers } = made(t, [{ isDone: false, status: 0, message: "No network." }]);
  answers.recall([{ question: 0, round: 1, value: 0 }]);
  answers.give(NOW, 2);
  assert.equal(answers.at(NOW), 2);
  answers.recall([{ question: 0, round: 1, value: 0 }]); // the line is back before the answer was sent
  assert.equal(answers.at(NOW), 2);
  answers.recall([]);
  assert.equal(answers.at(NOW), 2);
  answers.recall([{ question: 1, round: 1, value: 5 }]);
  assert.equal(
    answers.at({ ...NOW, round: { question: 1, number: 1 } }),
    5,
    "of another question it is what was said there",
  );
  for (let n = 0; n < 3; n += 1) {
    await turns();
    t.mock.timers.tick(1100);
  }
  await turns();
  answers.recall([{ question: 0, round: 1, value: 1 }]);
  assert.equal(answers.at(NOW), 1);
});

// The code of a class: what people type is short, and what a phone's camera reads lets in without a code.

test("the code is typed after the site's address, and the QR code holds the link besides, where there is one", () => {
  const site = "https://example.org/course/?lesson=a#b";
  assert.deepEqual(joinAddresses(site, { code: "KTQWRM", link: "secret" }), {
    typed: "example.org/course/KTQWRM",
    coded: "https://example.org/course/KTQWRM#secret",
  });
  assert.equal(joinAddresses("http://localhost:8501/", { code: "KTQWRM" }).coded, "http://localhost:8501/KTQWRM");
});

// The line to a class: who lost it asks again within a second, however long nobody answers, and with the seat that they had.

const SITE = "http://localhost/course/",
  SEAT = { code: "KTQWRM", seat: "mine" };

// A browser in which `statuses` are the answers to what is posted, 0 for none. `sources` are the streams that were opened.
function browser(t, statuses, isAround = () => false) {
  mockTimeouts(t);
  const { document, EventSource, fetch } = globalThis;
  t.after(() => Object.assign(globalThis, { document, EventSource, fetch }));
  const sources = [],
    heard = [];
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  globalThis.EventSource = Object.assign(
    class {
      constructor(url) {
        Object.assign(this, { url: String(url), readyState: 1 });
        sources.push(this);
      }
      addEventListener() {}
      close() {
        this.readyState = 2;
      }
      fails(readyState) {
        this.readyState = readyState;
        return this.onerror();
      }
    },
    { CLOSED: 2 },
  );
  const polls = [];
  globalThis.fetch = (url, request) => {
    if (!request.method) polls.push(String(url));
    const status = statuses.shift() ?? 200,
      headers = { "Content-Type": "application/json" };
    return status
      ? Promise.resolve(new Response(JSON.stringify({ now: NOW, own: { answers: [] } }), { status, headers }))
      : Promise.reject(new TypeError("no network"));
  };
  const told = Object.fromEntries(["now", "own", "lost", "gone"].map(name => [name, () => heard.push(name)]));
  const end = makeClassApi(SITE, {}).listen(SEAT, isAround, told);
  return { sources, heard, polls, end };
}

// The phone's clock after so many ms, a second at a time.
async function after(t, ms) {
  for (let gone = 0; gone < ms; gone += 1000) {
    t.mock.timers.tick(1000);
    await turns();
  }
}

test("a stream that a proxy ended is opened again a second later, as long as no server says that the room is gone", async t => {
  const { sources, heard, end } = browser(t, [502, 0, 200]);
  for (const n of [1, 2, 3]) {
    sources.at(-1).fails(2);
    await turns();
    t.mock.timers.tick(999);
    assert.equal(sources.length, n);
    t.mock.timers.tick(1);
    assert.equal(sources.length, n + 1);
    assert.match(sources.at(-1).url, /room=KTQWRM&seat=mine/);
  }
  assert.deepEqual(heard, ["lost", "lost", "lost"]);
  end();
});

test("a browser that asks again by itself is left to it, and a phone that wakes asks at once", async t => {
  const { sources, end } = browser(t, []);
  sources[0].fails(0);
  await turns();
  t.mock.timers.tick(60_000);
  assert.equal(sources.length, 1);
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(sources.length, 2);
  end();
});

test("who looks around still does once the line is back", t => {
  let isAround = false;
  const { sources, end } = browser(t, [], () => isAround);
  for (const was of [0, 1, 0]) {
    assert.ok(sources.at(-1).url.includes(`around=${was}`));
    isAround = !was;
    document.dispatchEvent(new Event("visibilitychange"));
  }
  end();
});

test("of a room that is gone nobody asks again", async t => {
  const { sources, heard } = browser(t, [404]);
  sources[0].fails(2);
  await turns();
  t.mock.timers.tick(60_000);
  assert.deepEqual([sources.length, heard], [1, ["lost", "gone"]]);
});

// The speaker of a class: what this device does leads it, what another has done leads this one, and nothing goes back and forth.

const ROOM = { code: "KTQWRM", key: "key", link: "link", seat: "seat" };
const nextTask = () => new Promise(done => setTimeout(done));
const settled = async () => {
  await nextTask();
  await nextTask();
};

// A room that two devices share, as the server has it: each has a line of its own.
function makeRoom() {
  let state = { number: 0, at: "", kind: "pass", question: null, isShown: false, hasEnded: false },
    presses = [],
    showsClass = false;
  const devices = [],
    moves = [];
  const now = () => ({
    ...state,
    audience: { pressed: presses.length, presses: presses.slice(-8), showsClass, leads: moves.length },
  });
  const tell = () => {
    for (const hear of devices) hear(now());
  };
  return {
    moves,
    line: name => ({
      post: (_code, { do: what, at, isShown, what: press, ...rest }) => {
        if (what === "press") {
          presses = [...presses, press];
          setTimeout(tell);
        }
        if (what !== "move") return Promise.resolve({ isDone: true, status: 200, data: {} });
        ({ showsClass } = rest);
        moves.push(`${name} ${at}${showsClass ? " answers" : ""}${isShown ? " shown" : ""}`);
        const isElsewhere = at !== state.at;
        state = { ...state, at, isShown, number: state.number + Number(isElsewhere) };
        setTimeout(tell);
        return Promise.resolve({
          isDone: true,
          status: 200,
          data: { number: state.number, leads: moves.length, isOwn: false },
        });
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
  mockTimeouts(t, ["setInterval"]);
  const room = makeRoom(),
    [one, other] = ["one", "other"].map(name => device(room, name));
  one.sendPlace({ at: "step=scores" });
  other.sendPlace({ at: "step=scores" });
  await settled();
  const before = room.moves.length;
  one.sendPlace({ at: "step=softmax" });
  await settled();
  assert.equal(one.led, null, "it went there itself");
  const there = { kind: "pass", question: null, isShown: false, showsClass: false };
  assert.deepEqual(other.led, { at: "step=softmax", ...there });
  other.noteFollowed();
  other.sendPlace({ at: "step=softmax&view=sheet" }, { isLed: true }); // as it writes it
  await settled();
  assert.equal(other.led, null);
  assert.deepEqual(room.moves.slice(before), ["one step=softmax"]);
  other.sendPlace({ at: "step=answer" });
  await settled();
  assert.equal(one.led.at, "step=answer");
});

test("what one device shows of a moment, or hides again, the other does, and neither undoes its own", async t => {
  mockTimeouts(t, ["setInterval"]);
  const room = makeRoom(),
    at = "lesson=a&moment=1",
    [one, other] = ["one", "other"].map(name => device(room, name)),
    wishes = [{ showsClass: true }, { showsClass: true, isShown: true }, { showsClass: true }, {}];
  for (const each of [one, other]) each.sendPlace({ at });
  await settled();
  one.noteFollowed(); // the other one has led there last
  for (const wish of wishes) {
    const shown = { isShown: false, showsClass: false, ...wish };
    one.sendPlace({ at, ...shown });
    assert.equal(one.led, null, "the room has another state, older than this");
    for (let n = 0; n < 9; n += 1) await Promise.resolve();
    assert.equal(one.led, null, "nor once that is taken, before the room says so");
    await settled();
    assert.equal(one.led, null);
    const { isShown, showsClass } = other.led;
    assert.deepEqual({ isShown, showsClass }, shown);
    other.noteFollowed();
    other.sendPlace({ at, ...shown }, { isLed: true });
    assert.equal(other.led, null);
  }
  assert.ok(one.isHere);
});

test("counts are of the question that a page shows, not of the one that it has left", async t => {
  mockTimeouts(t, ["setInterval"]);
  const one = device(makeRoom(), "one");
  one.sendPlace({ at: "lesson=a&moment=1" });
  assert.equal(one.isHere, false);
  await settled();
  assert.equal(one.isHere, true);
  one.sendPlace({ at: "lesson=a&moment=1", isShown: true });
  assert.equal(one.isHere, true, "as long as that is sent");
  one.sendPlace({ at: "lesson=a&moment=2" });
  assert.equal(one.isHere, false);
  await settled();
  assert.equal(one.isHere, true);
});

test("a page that was opened for a place of the class leads nobody there, and hears where the class has gone meanwhile", async t => {
  mockTimeouts(t, ["setInterval"]);
  const room = makeRoom(),
    one = device(room, "one");
  one.sendPlace({ at: "step=scores" });
  await settled();
  one.willOpen(1);
  const opened = device(room, "opened", { "attnviz class led": "1" });
  one.sendPlace({ at: "step=softmax" });
  await settled();
  opened.sendPlace({ at: "step=scores&view=sheet" });
  await settled();
  assert.deepEqual(room.moves, ["one step=scores", "one step=softmax"]);
  assert.equal(opened.led.at, "step=softmax");
});

test("what one device presses in a talk, another is told once, and of nothing from before it came", async t => {
  mockTimeouts(t, ["setInterval"]);
  const room = makeRoom(),
    [remote, gives] = ["remote", "gives"].map(name => device(room, name));
  await settled();
  for (const what of ["next", "reveal", "back"]) remote.press(what);
  await settled();
  assert.deepEqual([gives.presses(), gives.presses()], [["next", "reveal", "back"], []]);
  remote.press("answers");
  await settled();
  assert.deepEqual(gives.presses(), ["answers"]);
  const late = device(room, "late");
  await settled();
  assert.deepEqual(late.presses(), []);
});

test("a device that the room no longer knows says why, and leads nothing", t => {
  mockTimeouts(t, ["setInterval"]);
  let heard = /** @type {any} */ (null);
  const listen = (_seat, _isAround, handlers) => {
    heard = handlers;
    return () => {};
  };
  const one = device({ line: () => ({ ...makeRoom().line("one"), listen }) }, "one");
  heard.gone("The speaker has forgotten this device.");
  assert.deepEqual([one.room, one.message], [null, "The speaker has forgotten this device."]);
});

test("where a move is lost it is made again, where it is refused it is not, and the reason is said until the next", async t => {
  const tick = mockTimeouts(t, ["setInterval", "setTimeout"]);
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
  const messages = { scores: "", wrong: "No such cell.", softmax: "" };
  for (const [step, message] of Object.entries(messages)) {
    speaker.sendPlace({ at: `step=${step}` });
    for (let n = 0; n < 4; n += 1) {
      await turns();
      tick(1000);
    }
    assert.equal(speaker.message, message);
  }
  assert.equal(moves.join(" "), "step=scores step=scores step=wrong step=softmax");
});

test("a speaker's machine gives a sign of life twice in the 25 seconds after which it counts as asleep, until the class has ended", async t => {
  mockTimeouts(t, ["setInterval"]);
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
  mockTimeouts(t, ["setInterval"]);
  const room = makeRoom(),
    store = storeOf(),
    given = { code: "KTQWRM", key: "other key", seat: "other seat" };
  makeSpeaker(room.line("first page"), () => store).take(given);
  assert.deepEqual(makeSpeaker(room.line("next page"), () => store).room, given);
});

// A seat in a class: a browser has one in all its tabs, or a tab where nothing is kept for the others; and asks until it has it.

// A server that has given out seats, and answers those without one by these statuses first. `asked` is what it was asked.
function server(statuses = []) {
  const taken = new Set(),
    asked = [];
  const post = (code, { do: _, ...how }) => {
    asked.push(how);
    const status = how.seat ? (taken.has(how.seat) ? 200 : 403) : (statuses.shift() ?? 200),
      seat = how.seat ?? `seat ${asked.length}`;
    if (status === 200) taken.add(seat);
    return Promise.resolve({ isDone: status === 200, status, message: `status ${status}`, data: { code, seat } });
  };
  return { asked, post };
}
const take = (line, stores, { code = "KTQWRM", hash = "", wait = () => {} } = {}) =>
  takeSeat(line, code, hash, stores, wait);

test("all tabs of a browser have one seat, and another browser has another", async () => {
  const line = server(),
    browser = storeOf();
  const tabs = [storeOf(), storeOf()].map(tab => [() => browser, () => tab]);
  const [first, second] = [await take(line, tabs[0]), await take(line, tabs[1])];
  assert.equal(first.seat, second.seat);
  assert.notEqual((await take(line, [() => storeOf()])).seat, first.seat);
});

const full = storeOf({}, 0);
for (const [what, shared] of [
  ["forbids it", forbidden],
  ["is full", () => full],
])
  test(`a tab keeps its own seat where the browser ${what}`, async () => {
    const line = server(),
      tabs = [storeOf(), storeOf()].map(tab => [shared, () => tab]);
    const [first, again, other] = [await take(line, tabs[0]), await take(line, tabs[0]), await take(line, tabs[1])];
    assert.equal(first.seat, again.seat);
    assert.notEqual(other.seat, first.seat);
  });

test("one comes in where nothing can be kept", async () => {
  assert.equal((await take(server(), [forbidden, forbidden])).seat, "seat 1");
});

test("a seat that is gone is given up for the link's, and that for the code's", async () => {
  const line = server([404]),
    stores = [() => stored],
    stored = storeOf();
  const { seat } = await take(server(), stores);
  const other = await take(line, stores, { hash: "link" });
  assert.deepEqual(line.asked, [{ seat }, { link: "link" }, {}]);
  assert.equal((await take(line, stores)).seat, other.seat, "the new one is kept");
});

test("the seats of the latest five rooms are kept", async () => {
  const line = server(),
    stored = storeOf(),
    codes = ["BBBBBB", "CCCCCC", "DDDDDD", "FFFFFF", "GGGGGG"];
  for (const code of [...codes, "BBBBBB", "HHHHHH"]) await take(line, [() => stored], { code });
  const latest = ["DDDDDD", "FFFFFF", "GGGGGG", "BBBBBB", "HHHHHH"];
  assert.deepEqual(Object.keys(JSON.parse(stored.getItem("attnviz seat"))), latest);
});

for (const hash of ["", "link"])
  test(`one who is to wait is let in by and by, ${hash ? "by the link" : "by the code"}`, async t => {
    const tick = mockTimeouts(t),
      line = server([429, 503, 0]),
      told = [],
      seat = take(line, [forbidden], { hash, wait: said => told.push(said) });
    for (let n = 0; n < 3; n += 1) {
      await turns();
      tick(1000);
    }
    assert.equal((await seat).seat, "seat 4");
    assert.deepEqual(told, ["status 429", "status 503", "status 0"]);
  });

// Askable: a class is asked for what somebody can work out, and for nothing else.

const ROWS = { attention: [0.25, 0.75, 0], masked: [1, 2, -Infinity], q: [1, 2, 3], w_q: [1, 2, 3] };

// A pass of one row for each stage, of whose keys the last is hidden.
function passOf({ set = [], hidden = [2] } = {}) {
  return {
    stages: new Map(Object.keys(ROWS).map(name => [name, { rule: name === "w_q" ? null : {} }])),
    isOverridden: name => set.includes(name),
    number: (name, [place]) => ROWS[name][place],
    row: name => ROWS[name],
    isUnseen: (name, [place]) => name !== "q" && hidden.includes(place),
  };
}
const kindsOf = (name, place, pass = passOf()) => askableOf(pass, { name, index: [place] }).kinds;

test("a computed number, a share and the largest of a row are asked for", () => {
  assert.deepEqual(kindsOf("q", 0), ["number"]);
  assert.deepEqual(kindsOf("masked", 0), ["number", "word"]);
  assert.deepEqual(kindsOf("attention", 0), ["share", "word"]);
});

test("what is given, set by hand or hidden is not, nor a share of all, and it is said why", () => {
  for (const [name, place, pass] of [
    ["w_q", 0],
    ["q", 0, passOf({ set: ["q"] })],
    ["masked", 2],
    ["attention", 2],
    ["attention", 0, passOf({ hidden: [1, 2] })],
  ]) {
    const { kinds, why } = askableOf(pass ?? passOf(), { name, index: [place] });
    assert.deepEqual(kinds.join().replace("word", ""), "");
    assert.match(why, /Select /);
  }
});

test("where a proxy holds the stream back, the state is asked for every two seconds until an event comes", async t => {
  const { sources, heard, polls, end } = browser(t, []);
  await after(t, 4000);
  assert.equal(polls.length, 0, "a stream that is only slow");
  await after(t, 5000);
  assert.equal(polls.length, 3);
  assert.match(polls[0], /\/room\/now\?room=KTQWRM&seat=mine&around=0$/);
  assert.deepEqual(heard, ["own", "now", "own", "now", "own", "now"]);
  sources[0].onmessage({ data: JSON.stringify(NOW) });
  await after(t, 60_000);
  assert.equal(polls.length, 3);
  end();
});

test("where a proxy refuses streams, a phone follows by asking and is not told that the line is lost", async t => {
  const { sources, heard, polls, end } = browser(t, []);
  for (let n = 0; n < 20; n += 1) {
    if (sources.at(-1).readyState === 1) sources.at(-1).fails(2);
    await after(t, 1000);
  }
  assert.ok(polls.length >= 7, `${polls.length} in 20 s`);
  assert.equal(heard.lastIndexOf("lost") < heard.indexOf("now"), true);
  end();
  const count = polls.length;
  await after(t, 10_000);
  assert.equal(polls.length, count, "and no more once it has left");
});
