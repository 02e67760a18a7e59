import assert from "node:assert/strict";
import test from "node:test";
import { makeClassLog } from "../../attnviz/viewer/browser/classroom/classSpeaker.js";
import { makeAnswers } from "../../attnviz/viewer/browser/classroom/phoneAnswers.js";
import { forgetSeat, retakeSeat, savedSeat, takeSeat } from "../../attnviz/viewer/browser/classroom/classSeat.js";
import { makeSpeaker } from "../../attnviz/viewer/browser/classroom/classSpeaker.js";
import { makeClassApi } from "../../attnviz/viewer/browser/shell/server.js";
import { forbidden, mockTimeouts, storeOf, turns } from "./helpers.mjs";

const nextTask = () => new Promise(done => setImmediate(done));

// The log of a class: what the server sends, after any reload, and nothing once the class is over.

const part = (start, count, name = "name") => ({
  start,
  commands: Array.from({ length: count }, (_, nth) => `command ${start + nth} of ${name}`),
  name,
});

test("the log is what the server has sent, after each reload, in pieces of any size", () => {
  const texts = {};
  let expected = [];
  for (const [start, count] of [
    [0, 1],
    [1, 199],
    [200, 1],
    [201, 600],
    [801, 0],
    [400, 1],
    [0, 0],
    [0, 7],
  ]) {
    const log = makeClassLog(() => storeOf(texts)),
      sent = part(start, count, `after ${start}`);
    assert.deepEqual(log.commands, expected);
    log.add(sent);
    expected = [...expected.slice(0, start), ...sent.commands];
    assert.deepEqual(log.commands, expected);
    assert.equal(makeClassLog(() => storeOf(texts)).known(), `${expected.length}-after ${start}`);
  }
});

test("nothing of the log is left in the browser once it is erased, at any length", () => {
  for (const count of [0, 1, 200, 201, 900]) {
    const texts = { other: "stays" },
      log = makeClassLog(() => storeOf(texts));
    log.add(part(0, 1000));
    log.add(part(0, count));
    log.erase();
    assert.deepEqual(texts, { other: "stays" });
    assert.equal(log.known(), "0-");
    log.add(part(0, 3));
    assert.equal(makeClassLog(() => storeOf(texts)).commands.length, 3);
  }
});

test("where the browser stores nothing, or is full, the log lasts as long as the page, and no half of it longer", () => {
  const log = makeClassLog(forbidden);
  log.add(part(0, 3));
  assert.equal(log.commands.length, 3);
  const texts = {},
    full = makeClassLog(() => storeOf(texts, 900));
  full.add(part(0, 3));
  full.add(part(3, 300));
  full.add(part(303, 1));
  assert.equal(full.commands.length, 304);
  assert.deepEqual(texts, {});
  assert.equal(makeClassLog(() => storeOf(texts)).known(), "0-");
});

test("a log of which a piece is missing is asked for anew", () => {
  const texts = {};
  makeClassLog(() => storeOf(texts)).add(part(0, 500));
  texts["attnviz class log 1"] = "[";
  assert.equal(makeClassLog(() => storeOf(texts)).known(), "0-");
});

// The speaker's browser while the server is away.

const ROOM = { code: "KTQWRM", key: "key", link: "link", seat: "seat", host: "host" };
const DONE = { isDone: true, status: 200, message: "" };
const state = (number, at = "") => ({
  ...{ number, at, kind: "pass", question: null, isShown: false, hasEnded: false },
  audience: { pressed: 0 },
});

// A speaker whose line gives `replies` to reopen(), in order; heard(...) are the events of its stream.
function away(t, replies, room = ROOM) {
  const tick = mockTimeouts(t, ["setTimeout", "setInterval"]),
    texts = { "attnviz class": JSON.stringify(room), other: "stays" },
    posted = [],
    line = {
      isGone: false,
      post(code, message, key) {
        posted.push([code, message.do, key, message.at].filter(Boolean).join(" "));
        if (line.isGone) return Promise.resolve({ isDone: false, status: 403, message: "None." });
        return Promise.resolve({ ...DONE, data: { number: 1, isOwn: false } });
      },
      reopen(mine, commands) {
        posted.push(`reopen ${mine.code} ${mine.key} ${commands.length}`);
        return Promise.resolve(replies.shift());
      },
      listen(seat, _isAround, handlers) {
        Object.assign(line, { seat, handlers });
        return () => {};
      },
    },
    speaker = makeSpeaker(line, () => storeOf(texts));
  return { speaker, line, posted, texts, tick };
}

test("a server that is away is worth a word after two seconds, and none once it is back", t => {
  const { speaker, line, tick } = away(t, []);
  line.handlers.now(state(0));
  for (let n = 0; n < 5; n += 1) {
    line.handlers.lost(); // each half a second
    assert.equal(speaker.message, "");
    tick(399);
  }
  tick(10);
  assert.match(speaker.message, /once the server is back/);
  line.handlers.now(state(0));
  assert.equal(speaker.message, "");
  line.handlers.lost();
  tick(100);
  line.handlers.now(state(0));
  tick(10_000);
  assert.equal(speaker.message, "", "a hiccup");
});

test("a lost room is opened again with its log, and what was done meanwhile is sent", async t => {
  const busy = { isDone: false, status: 503, message: "Busy." };
  const { speaker, line, posted, tick } = away(t, [
    busy,
    { ...DONE, data: { code: "KTQWRM", seat: "seat", host: "host" } },
  ]);
  line.handlers.now(state(0));
  speaker.sendPlace({ at: "step=scores" });
  await turns();
  line.handlers.log(part(0, 2));
  line.handlers.now(state(1, "step=scores"));
  line.handlers.lost();
  line.isGone = true;
  speaker.sendPlace({ at: "step=softmax" });
  await turns();
  assert.equal(speaker.isUpToDate, false);
  posted.length = 0;
  line.handlers.gone("None.", 404);
  await turns();
  assert.deepEqual(posted, ["reopen KTQWRM key 2"]);
  tick(1000);
  await turns();
  assert.deepEqual(posted, ["reopen KTQWRM key 2", "reopen KTQWRM key 2"]);
  line.isGone = false;
  line.handlers.now(state(1, "step=scores"));
  await turns();
  assert.equal(posted.at(-1), "KTQWRM move key step=softmax");
  assert.deepEqual(speaker.room, ROOM);
});

test("a move that the log lacks is made again", async t => {
  const { speaker, line, posted } = away(t, [{ ...DONE, data: {} }]);
  line.handlers.now(state(0));
  speaker.sendPlace({ at: "step=scores" });
  await turns();
  line.handlers.now(state(1, "step=scores"));
  line.handlers.gone("None.", 403);
  await turns();
  posted.length = 0;
  line.handlers.now(state(0));
  await turns();
  assert.deepEqual(posted, ["KTQWRM move key step=scores"]);
});

test("where somebody else has the code, the class has a new one and says so, also after a reload", async t => {
  const { speaker, line, texts } = away(t, [{ ...DONE, data: { code: "BCDFGH" } }]);
  line.handlers.now(state(0));
  line.handlers.gone("None.", 404);
  await turns();
  assert.equal(speaker.room.code, "BCDFGH");
  assert.equal(line.seat.code, "BCDFGH");
  assert.match(speaker.message, /BCDFGH/);
  line.handlers.now(state(0));
  assert.match(speaker.message, /BCDFGH/);
  assert.equal(JSON.parse(texts["attnviz class"]).code, "BCDFGH");
});

test("an ended class and one that can't be reopened are left", async t => {
  const refused = { isDone: false, status: 410, message: "The class has ended." };
  for (const [status, replies, room] of [
    [410, [], ROOM],
    [404, [refused], ROOM],
  ]) {
    await t.test(`${status} ${replies.length}`, async each => {
      const nReplies = replies.length,
        { speaker, line, posted, texts } = away(each, replies, room);
      line.handlers.now(state(0));
      line.handlers.log?.(part(0, 1));
      line.handlers.gone("The class has ended.", status);
      await turns();
      assert.deepEqual([speaker.room, speaker.message], [null, "The class has ended."]);
      assert.equal(posted.length, nReplies);
      assert.deepEqual(texts, { "attnviz class": "null", other: "stays" });
    });
  }
});

test("the key and the log leave the browser with the end of the class, even if the server is away", async t => {
  const { speaker, line, posted, texts, tick } = away(t, []);
  line.handlers.now(state(0));
  line.handlers.log(part(0, 300));
  let isAway = true;
  const { post } = line;
  line.post = (...message) => {
    const reply = post(...message);
    return isAway ? Promise.resolve({ isDone: false, status: 0, message: "No answer." }) : reply;
  };
  speaker.end();
  await turns();
  assert.deepEqual(texts, { "attnviz class": "null", other: "stays" });
  assert.deepEqual([speaker.room, speaker.message], [null, ""]);
  isAway = false;
  tick(1000);
  await turns();
  assert.deepEqual(posted, ["KTQWRM end key", "KTQWRM end key"]);
  tick(60_000);
  assert.equal(posted.length, 2, "no heartbeat");
});

test("a class that is ended while it is reopened is ended there too", async t => {
  let answer = () => {};
  const { speaker, line, posted } = away(t, [
    new Promise(done => {
      answer = done;
    }),
  ]);
  line.handlers.now(state(0));
  line.handlers.gone("None.", 404);
  speaker.end();
  await turns();
  answer({ ...DONE, data: { code: "KTQWRM" } });
  await turns();
  assert.deepEqual(posted, ["reopen KTQWRM key 0", "KTQWRM end key", "KTQWRM end key"]);
  assert.equal(speaker.room, null);
});

test("another device of the speaker's comes back once the room is there, and only to that room", async t => {
  const device = { ...ROOM, link: undefined },
    { speaker, line, posted, tick } = away(t, [], device);
  line.handlers.now(state(3));
  assert.equal(line.handlers.log, undefined, "it lacks the first key");
  const replies = [
    { isDone: false, status: 404, message: "None." },
    { ...DONE, data: { ...device, host: "another" } },
    { isDone: false, status: 0, message: "No answer." },
    { ...DONE, data: device },
  ];
  line.post = (_code, message) => Promise.resolve(message.do === "join" ? replies.shift() : DONE);
  line.handlers.gone("None.", 404);
  line.handlers = null;
  for (let n = 0; n < 4; n += 1) {
    await turns();
    assert.equal(line.handlers, null);
    assert.equal(replies.length, 3 - n);
    tick(n < 3 ? 3000 : 0);
    if (n === 2) break;
  }
  await turns();
  assert.notEqual(line.handlers, null);
  assert.equal(speaker.room.code, "KTQWRM");
  assert.deepEqual(
    posted.filter(each => each.startsWith("reopen")),
    [],
  );
});

// A phone whose room the server has lost.

const MINE = { seat: "mine", host: "host" },
  GONE = { isDone: false, status: 404, message: "None." },
  ENDED = { isDone: false, status: 410, message: "The class has ended." },
  room = host => ({ ...DONE, data: { code: "KTQWRM", seat: "new", host } });

// The line of a phone whose messages get these replies; `asked` are the ways that were tried.
function phone(replies, saved = MINE) {
  const texts = { "attnviz seat": JSON.stringify({ KTQWRM: saved, BCDFGH: MINE }) },
    stores = [() => storeOf(texts)],
    asked = [];
  const post = (_code, { do: _, ...way }) => {
    asked.push(Object.keys(way)[0] ?? "code");
    return Promise.resolve(replies.shift());
  };
  return { line: { post }, stores, asked, seat: () => savedSeat("KTQWRM", stores) };
}

test("a phone follows a room only with the host that it knows, and waits where there is none", async () => {
  const cases = [
    [[room("host")], MINE, "seat", { seat: "new" }, "new"],
    [[GONE, room("host")], MINE, "seat link", { seat: "new" }, "new"], // the room has forgotten the seat
    [[GONE, room("thief")], MINE, "seat link", {}, "mine"],
    [[GONE, GONE, room("thief")], MINE, "seat link code", {}, "mine"],
    [[GONE, GONE, GONE], MINE, "seat link code", { saved: MINE }, "mine"],
    [[ENDED], MINE, "seat", {}, "mine"],
    [[GONE, GONE, { ...GONE, status: 400 }], MINE, "seat link code", { saved: null }, "mine"],
    [[GONE, GONE, GONE], "mine", "seat link code", { saved: null }, "mine"], // stored by an earlier version
    [[GONE, room("host")], "mine", "seat link", { seat: "new" }, "new"],
  ];
  for (const [replies, saved, ways, expected, kept] of cases) {
    const { line, stores, asked, seat } = phone([...replies], saved),
      taken = await takeSeat(line, "KTQWRM", "link", stores, () => {});
    assert.equal(asked.join(" "), ways);
    assert.equal(taken.seat, expected.seat);
    assert.deepEqual(taken.saved ?? null, expected.saved ?? null);
    assert.equal(seat().seat, kept);
    if (!taken.seat) assert.ok(taken.message.endsWith("."));
  }
});

test("who presses Join wants the room that is there, and other rooms' seats stay", async () => {
  const { line, stores } = phone([room("thief")]);
  forgetSeat("KTQWRM", stores);
  assert.equal(savedSeat("KTQWRM", stores), null);
  assert.deepEqual(savedSeat("BCDFGH", stores), MINE);
  assert.equal((await takeSeat(line, "KTQWRM", "", stores, () => {})).seat, "new");
});

test("a seat is taken again once its room is there, and asked for by the seat alone", async t => {
  const tick = mockTimeouts(t),
    busy = { ...GONE, status: 503 },
    { line, asked } = phone([GONE, busy, room("thief"), room("host")]);
  let taken = null;
  const retaking = retakeSeat(line, "KTQWRM", MINE, () => true).then(seat => {
    taken = seat;
  });
  for (let n = 0; n < 3; n += 1) {
    await turns();
    assert.equal(taken, null);
    assert.equal(asked.length, n + 1);
    tick(3000);
  }
  await retaking;
  assert.deepEqual([taken.host, asked], ["host", ["seat", "seat", "seat", "seat"]]);
  assert.equal(await retakeSeat(phone([ENDED]).line, "KTQWRM", MINE, () => true), null);
  assert.equal(await retakeSeat(phone([]).line, "KTQWRM", MINE, () => false), null);
});

const ASKED = {
  number: 3,
  at: "lesson=a&moment=1",
  kind: "lesson",
  question: null,
  round: { question: 0, number: 1, isOpen: true },
};

function answering(t, replies) {
  const tick = mockTimeouts(t),
    sent = [];
  const post = ({ value, sure }) => {
    sent.push([value, sure].join(" "));
    return Promise.resolve(replies.shift() ?? DONE);
  };
  const answers = makeAnswers(post, () => {});
  const later = async (times = 1) => {
    for (let n = 0; n < times; n += 1) {
      await turns();
      tick(1100);
    }
    await turns();
  };
  return { answers, sent, later };
}

test("an answer that is given while the room is gone is sent until it is taken, and no longer than the page waits", async t => {
  const { answers, sent, later } = answering(t, [GONE, { ...GONE, status: 403 }]);
  answers.give(ASKED, 2, 1);
  await later(5);
  assert.deepEqual(sent, ["2 1", "2 1", "2 1"]);
  assert.equal(answers.failureAt(ASKED), "");
});

test("nothing is sent once the page no longer waits for the room", async t => {
  const { answers, sent, later } = answering(t, [GONE, GONE, GONE]);
  answers.give(ASKED, 2);
  await later();
  answers.end();
  await later(5);
  assert.ok(sent.length < 3);
});

test("an answer is sent again only where the reopened room lacks it", async t => {
  const { answers, sent, later } = answering(t, []);
  const before = { value: 2, sure: 3 },
    known = parts => [{ question: 0, round: 1, ...before, ...parts }];
  const cases = [
    [[], ASKED, before, 1],
    [known(), ASKED, before, 0],
    [known({ value: 1 }), ASKED, before, 1],
    [known({ sure: 0 }), ASKED, before, 1],
    [known({ question: 2 }), ASKED, before, 1],
    [[], ASKED, undefined, 0],
    [[], { ...ASKED, round: { question: 0, number: 1, isOpen: false } }, before, 0],
    [[], { ...ASKED, round: null }, before, 0],
  ];
  for (const [received, now, mine, count] of cases) {
    sent.length = 0;
    answers.recall(received);
    answers.resend(now, mine);
    await later(3);
    assert.deepEqual(sent, Array(count).fill("2 3"));
  }
});

test("a move that gets no answer is sent once a second", async t => {
  const { speaker, line, posted, tick } = away(t, []);
  line.handlers.now(state(0));
  const { post } = line;
  line.post = (...message) => post(...message).then(() => ({ isDone: false, status: 502, message: "Bad gateway." }));
  speaker.sendPlace({ at: "step=scores" });
  for (let n = 1; n < 4; n += 1) {
    await turns();
    assert.equal(posted.length, n);
    tick(1000);
  }
});

// The line to the server: how a log comes and goes.

test("the log comes by the stream, or where that is held back by asking; and goes with the key", async t => {
  const tick = mockTimeouts(t),
    { document, EventSource, fetch } = globalThis;
  t.after(() => Object.assign(globalThis, { document, EventSource, fetch }));
  const listeners = {},
    requests = [],
    parts = [];
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  globalThis.EventSource = class {
    constructor(url) {
      requests.push(new URL(url));
    }
    addEventListener(name, listener) {
      listeners[name] = listener;
    }
    close() {}
  };
  const now = { now: state(0), own: { answer: null }, log: part(1, 1) };
  let reply = new Response(JSON.stringify(now), { headers: { "Content-Type": "application/json" } });
  globalThis.fetch = (url, request) => {
    requests.push(new URL(url), request);
    return Promise.resolve(reply);
  };
  const left = [],
    line = makeClassApi(new URL("http://localhost/course/"), /** @type {any} */ ({}));
  line.listen(ROOM, () => false, {
    ...{ now() {}, own() {}, lost() {}, gone: (_message, status) => left.push(status) },
    ...{ known: () => `${parts.length}-name`, log: each => parts.push(each) },
  });
  assert.equal(requests[0].searchParams.get("log"), "0-name");
  listeners.log({ data: JSON.stringify(part(0, 1)) });
  tick(5000);
  await nextTask();
  assert.deepEqual(parts, [part(0, 1), part(1, 1)]);
  assert.equal(requests[1].searchParams.get("log"), "1-name");
  reply = new Response("The class has ended.", { status: 410 });
  tick(2000);
  await nextTask();
  tick(60_000);
  await nextTask();
  assert.deepEqual(left, [410]);
  reply = new Response("{}");
  await line.reopen(ROOM, ["a"]);
  assert.equal(requests.at(-2).pathname, "/course/room/reopen");
  assert.deepEqual(JSON.parse(requests.at(-1).body), { link: "link", seat: "seat", commands: ["a"] });
  assert.equal(requests.at(-1).headers["X-Room-Key"], "key");
});
