import assert from "node:assert/strict";
import test from "node:test";
import { makeBusyMarker } from "../../attnviz/viewer/browser/page/page.js";
import { makeServer, postTo } from "../../attnviz/viewer/browser/shell/server.js";
import { onReconnect } from "../../attnviz/viewer/browser/shell/streamlit.js";
import { makeRequestsOnce, makeTemplates } from "../../attnviz/viewer/browser/shell/templates.js";
import { sendFile } from "../../attnviz/viewer/browser/shell/upload.js";
import { makeRerun } from "../../attnviz/viewer/browser/views/articles.js";
import { mockTimeouts } from "./helpers.mjs";

// A server that answers when it is told to, and what is shown of it. An answer is {view, address: {seed}} of a scene.
function told({ view = "pass" } = {}) {
  const asked = [],
    shown = [],
    answers = [];
  const post = message => new Promise((answer, fail) => asked.push({ ...message, answer, fail }));
  const server = makeServer({ post, look: () => "?step=mask" });
  const numbers = [...Array(20).keys()].values();
  const answerOf = (seed, drawn = view, { tab = "t", number = numbers.next().value } = {}) => {
    return { tab, number, address: { seed }, view: drawn };
  };
  const draw = (answer, isDone) => {
    const { address, notices } = answer;
    answers.push(answer);
    shown.push(notices ? notices[0] : `${isDone ? "done" : "run"} ${address.seed}`);
  };
  const say = async what => {
    asked.at(-1).answer(what);
    await new Promise(setImmediate);
  };
  const run = (seed, ...more) => server.receive(answerOf(seed, ...more), draw);
  return { server, asked, shown, answers, answerOf, say, run };
}

const actionsOf = asked =>
  asked.map(({ actions }) => actions.map(([name, message]) => `${name} ${message}`).join(", "));

test("what is done is told one after the other and in its order, with the scene that was seen", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  for (const name of ["mute", "swap"]) server.act(name, "b");
  assert.deepEqual(actionsOf(asked), ["swap a"], "one request at a time");
  const actual = [asked[0].tab, asked[0].look, asked[0].view, asked[0].address];
  assert.deepEqual(actual, ["t", "?step=mask", "pass", { seed: 1 }]);
  assert.ok(server.isWaiting);
  await say(answerOf(2));
  assert.deepEqual(actionsOf(asked), ["swap a", "mute b, swap b"]);
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
  assert.deepEqual(actionsOf(asked), ["sentence a", "sentence abc, context y, word on, word on, sentence abcd"]);
});

test("of each setting that holds one value the last is told", async () => {
  const { server, asked, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  const settings = ["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"];
  for (const name of settings) for (const value of [1, 2]) server.act(name, value);
  while (server.isWaiting) await say(answerOf(2));
  const actual = asked.slice(1).flatMap(({ actions }) => actions);
  assert.deepEqual(
    actual,
    settings.map(name => [name, 2]),
  );
});

test("more than a request may tell is told by several", async () => {
  const { server, asked, answerOf, say, run } = told();
  run(1);
  for (let n = 0; n < 46; n += 1) server.act("swap", n);
  while (server.isWaiting) await say(answerOf(2));
  const numbers = asked.flatMap(({ actions }) => actions.map(([, n]) => n));
  assert.equal(asked.map(({ actions }) => actions.length).join(), "1,5,5,5,5,5,5,5,5,5");
  assert.deepEqual(numbers, [...Array(46).keys()]);
});

test("where there is no answer it is asked again, before what was done since, and at once by a process that takes over", async t => {
  mockTimeouts(t);
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
  assert.deepEqual(actionsOf(asked), ["swap a", "swap a, mute b"]);
  await say(null);
  run(1);
  assert.deepEqual(actionsOf(asked).slice(2), ["swap a, mute b"]);
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
  assert.deepEqual(actionsOf(asked), ["swap a", "mute b"], "and it is not asked again");
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
  assert.deepEqual([actionsOf(asked), shown], [["swap a"], ["run 1"]], "nobody knows yet where Back leads");
  server.act("seed", "c");
  assert.equal(asked.length, 1);
  run(0);
  assert.deepEqual(actionsOf(asked), ["swap a", "nothing true, seed c"]);
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
  assert.deepEqual([actionsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 0 }]);
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
  assert.deepEqual([actionsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 0 }]);
  await say(answerOf(0));
  assert.deepEqual(shown, ["run 1", "run 0", "done 0"]);
});

test("Back where nothing was on its way asks for nothing, and where no run follows it what is done is done in the end", async t => {
  mockTimeouts(t);
  const { server, asked, answerOf, say, run } = told();
  run(1);
  server.forget();
  server.act("swap", "a");
  t.mock.timers.tick(2999);
  assert.equal(asked.length, 0);
  t.mock.timers.tick(1);
  assert.deepEqual(actionsOf(asked), ["swap a"]);
  await say(answerOf(2));
  assert.ok(!server.isWaiting);
});

test("a run's answer while one is on its way is shown, and what is on its way after it", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  server.act("mute", "b");
  run(1);
  assert.deepEqual(actionsOf(asked), ["swap a"], "one request at a time");
  await say(answerOf(2));
  assert.deepEqual(asked[1].address, { seed: 2 });
  await say(answerOf(3));
  assert.deepEqual(shown, ["run 1", "run 1", "done 2", "done 3"]);
});

test("what is on its way as one goes to a page with another view is shown there", async () => {
  for (const [view, other] of Object.entries({ pass: "audit", audit: "script", script: "pass" })) {
    const { server, asked, shown, answerOf, say, run } = told({ view });
    run(1);
    server.act("swap", "a");
    run(1, other);
    await say(answerOf(2));
    const actual = [actionsOf(asked), asked[1].address, asked[1].view];
    assert.deepEqual(actual, [["swap a", "nothing true"], { seed: 2 }, other]);
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
    assert.deepEqual(actionsOf(asked), ["swap a", "nothing true", "nothing true, mute b"]);
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
  assert.deepEqual([actionsOf(asked), shown], [["swap a"], ["run 1", "run 2", "done 3", "run 4"]]);
});

test("a slow run is no sign of where Back has led: nothing is asked until that is shown", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  await say(answerOf(3, "pass", { number: 3 }));
  server.forget();
  run(2, "pass", { number: 2 });
  assert.deepEqual([actionsOf(asked), shown], [["swap a"], ["run 1", "done 3"]]);
  run(1, "pass", { number: 4 });
  assert.deepEqual([actionsOf(asked), asked[1].address], [["swap a", "nothing true"], { seed: 1 }]);
});

test("an answer for a page that has gone counts for a slow run of the page that has come", async () => {
  const { server, asked, shown, answerOf, say, run } = told();
  run(1);
  server.act("swap", "a");
  run(1, "audit", { number: 2 });
  await say(answerOf(4, "pass", { number: 4 }));
  run(3, "audit", { number: 3 });
  await say(answerOf(4, "audit", { number: 5 }));
  const actual = asked.slice(1).map(({ address }) => address);
  assert.deepEqual(actual, [{ seed: 4 }, { seed: 4 }]);
  assert.deepEqual(shown, ["run 1", "run 1", "done 4"]);
});

// What becomes of a message where the server, if it is there, answers with that.
function answered(t, status, text = "{}", templates = makeTemplates(), type = "application/json") {
  const asked = [];
  t.mock.method(globalThis, "fetch", (...request) => {
    asked.push(request);
    return status
      ? Promise.resolve(new Response(text, { status, headers: { "Content-Type": type } }))
      : Promise.reject(new TypeError("Failed to fetch"));
  });
  return { asked, answer: postTo("http://a.test/actions", templates)({ actions: [["mask", "causal"]] }) };
}

test("what was done is posted as JSON, and the answer is read", async t => {
  const { asked, answer } = answered(t, 200, '{"notices": ["a"]}');
  assert.deepEqual(await answer, { notices: ["a"] });
  const [[url, { method, body }]] = asked;
  const actual = [url, method, JSON.parse(body)];
  assert.deepEqual(actual, ["http://a.test/actions", "POST", { actions: [["mask", "causal"]], templates: [] }]);
});

test("the server is told which templates are here, and asked again by who lacks the parts of one", async t => {
  const templates = makeTemplates(),
    sent = template => JSON.stringify({ pass: { template, words: { typed: 2 } } });
  await answered(t, 200, sent({ name: "a", parts: { words: { query: ["cat"] } } }), templates).answer;
  const { asked, answer } = answered(t, 200, sent({ name: "a", parts: null }), templates);
  assert.deepEqual(await answer, { pass: { words: { query: ["cat"], typed: 2 } } });
  assert.deepEqual(JSON.parse(asked[0][1].body).templates, ["a"]);
  assert.equal(await answered(t, 200, sent({ name: "b", parts: null }), templates).answer, null);
});

test("a server that is away, busy or knows no such tab yet has no answer now, nor has half an answer", async t => {
  for (const status of [0, 404, 429, 502, 503, 504]) assert.equal(await answered(t, status).answer, null, status);
  assert.equal(await answered(t, 200, '{"notices"').answer, null);
});

test("what is refused is never asked again, and the person is told by which number and what to do", async t => {
  for (const status of [400, 403, 405, 413, 421, 500]) {
    await assert.rejects(answered(t, status).answer, {
      message: `The server could not do that (${status}). Try something else, or reload the page.`,
    });
  }
});

test("at a bug of ours the person reads what the server says of it", async t => {
  const report = "attnviz could not answer this. That is a bug of ours.";
  const { answer } = answered(t, 500, report, makeTemplates(), "text/plain; charset=utf-8");
  await assert.rejects(answer, { message: report });
});

const sent = (name, parts = null) => ({
  tab: "t",
  pass: { template: { name, parts }, stages: { q: { limit: 2 } }, arrival: 1 },
});

test("a pass is whole with the parts of its template, which come once", () => {
  const templates = makeTemplates(),
    parts = { stages: { q: { title: "Queries", axes: [1] }, k: { title: "Keys" } }, steps: ["a"] };
  const whole = {
    tab: "t",
    pass: { stages: { q: { title: "Queries", axes: [1], limit: 2 }, k: { title: "Keys" } }, steps: ["a"], arrival: 1 },
  };
  assert.deepEqual(templates.complete(sent("one", parts)), whole);
  assert.deepEqual(templates.complete(sent("one")), whole);
  assert.deepEqual(parts.stages.q, { title: "Queries", axes: [1] }, "the parts stay as they came");
});

test("parameters come once for all words", () => {
  const templates = makeTemplates(),
    words = { name: "words", parts: { stages: { w_q: { title: "W" }, q: { title: "Q" } } } },
    numbers = { stages: { w_q: { limit: 1 }, q: { limit: 2, values: ["q"] } } },
    parameters = { name: "numbers", parts: { stages: { w_q: { values: ["w"] } } } };
  const whole = {
    stages: { w_q: { title: "W", limit: 1, values: ["w"] }, q: { title: "Q", limit: 2, values: ["q"] } },
  };
  assert.deepEqual(templates.complete({ pass: { template: words, parameters, ...numbers } }).pass, whole);
  assert.deepEqual(templates.names, ["words", "numbers"]);
  const other = { ...words, name: "other words" };
  const again = { template: other, parameters: { name: "numbers", parts: null }, ...numbers };
  assert.deepEqual(templates.complete({ pass: again }).pass, whole);
});

test("the server is told of the last templates that came; one that it was told of is here when its answer comes", () => {
  const templates = makeTemplates(),
    names = Array.from({ length: 40 }, (_, place) => `template ${place}`);
  for (const name of names) {
    const told = templates.names;
    templates.complete(sent(name, {}));
    for (const each of told.toReversed()) templates.complete(sent(each));
  }
  assert.equal(templates.names.length, 16);
  for (const name of names) templates.complete(sent(name, {}));
  assert.deepEqual(templates.names, names.slice(-16));
  assert.throws(() => templates.complete(sent(names[0])), /template 0/);
});

test("a template that is asked for again and again is told of, however many others come", () => {
  const templates = makeTemplates();
  templates.complete(sent("often", {}));
  for (let place = 0; place < 40; place += 1) {
    templates.complete(sent(`template ${place}`, {}));
    templates.complete(sent("often"));
    assert.equal(templates.names.at(-1), "often");
  }
});

function asking() {
  const sent = [],
    errands = makeRequestsOnce((...message) => sent.push(message.join(" ")));
  return { sent, errands, want: (event, message) => errands.begin(event, message, pass => pass === message) };
}

test("an errand is asked for once, however often it is wanted, and again after its answer", () => {
  const { sent, errands, want } = asking();
  for (let n = 0; n < 3; n += 1) want("slopes", "a");
  want("need", "a");
  assert.deepEqual(sent, ["slopes a", "need a"]);
  errands.answered("b");
  want("slopes", "a");
  assert.equal(sent.length, 2, "that was no answer to it");
  errands.answered("a");
  want("slopes", "a");
  assert.deepEqual(sent.slice(2), ["slopes a"]);
});

test("a newer errand of its kind replaces one, which may be wanted again", () => {
  const { sent, errands, want } = asking();
  for (const message of ["a", "b", "a"]) want("slopes", message);
  assert.deepEqual(sent, ["slopes a", "slopes b", "slopes a"]);
  errands.answered("b");
  want("slopes", "a");
  assert.equal(sent.length, 3);
});

test("what was asked for before Back is asked for again if it is wanted there", () => {
  const { sent, errands, want } = asking();
  want("slopes", "a");
  errands.forget();
  want("slopes", "a");
  assert.deepEqual(sent, ["slopes a", "slopes a"]);
});

// A server that answers one thing after the other: a status and what it says, or null where it isn't there.
function answering(...answers) {
  const sent = [];
  const send = async (_, body, tell) => {
    sent.push(await body.text());
    tell(1);
    const answer = answers.shift();
    return answer ? { status: answer[0], text: answer[1] } : null;
  };
  return { sent, tools: { send, wait: async () => {} } };
}

const file = () => {
  const bytes = new TextEncoder().encode("numbers");
  return { name: "a\n.npz", bytes, answers: { stage: "" }, tab: null, pieces: null };
};
const yes = () => true,
  nobody = () => {};

test("a file is sent after a line of JSON, again until there is an answer", async () => {
  const { sent, tools } = answering(null, [404, "no such tab"], [429, "busy"], [200, "{half"], [200, '{"pieces":[1]}']),
    kept = file();
  assert.equal(await sendFile("/arrays", "t", kept, yes, nobody, tools), kept);
  assert.deepEqual([kept.tab, kept.pieces], ["t", [1]]);
  assert.equal(sent.length, 5);
  const [line, ...rest] = sent[4].split("\n");
  assert.deepEqual(JSON.parse(line), { tab: "t", filename: "a\n.npz", stage: "" });
  assert.deepEqual(rest, ["numbers"]);
});

test("why it waits is told until it is sent again", async () => {
  const { tools } = answering([429, "busy"], null, [200, '{"pieces":[1]}']),
    told = [];
  await sendFile("/arrays", "t", file(), yes, how => told.push(how), tools);
  const [, others, , gone] = told;
  assert.deepEqual(told, [1, others, 1, gone, 1]);
  assert.match(others, /^The server is busy with other files/);
  assert.match(gone, /^The server does not answer/);
});

for (const status of [408, 413]) {
  test(`why it is refused is what came of it, and it is not sent again: ${status}`, async () => {
    const { sent, tools } = answering([status, "the rule"]);
    const { pieces } = await sendFile("/arrays", "t", file(), yes, nobody, tools);
    assert.deepEqual([pieces, sent.length], [[{ kind: "text", runs: [["", "the rule"]] }], 1]);
  });
}

test("the file of an example is kept", async () => {
  const { tools } = answering([200, `{"pieces":[],"file":"${btoa("PK\u00ff")}"}`]);
  assert.deepEqual([...(await sendFile("/arrays", "t", file(), yes, nobody, tools)).bytes], [80, 75, 255]);
});

test("for what nobody wants any more nothing is kept, and nothing asked again", async () => {
  let isWanted = true;
  const { sent, tools } = answering([404, ""], [200, '{"pieces":[1]}']),
    kept = file();
  tools.wait = () => {
    isWanted = false;
  };
  assert.equal(await sendFile("/arrays", "t", kept, () => isWanted, nobody, tools), null);
  assert.deepEqual([sent.length, kept.tab], [1, null]);
});

// A browser's request, whose upload a test drives.
class Request {
  upload = {};
  status = 0;
  constructor() {
    Request.last = this;
  }
  open() {}
  send() {}
  abort() {
    this.aborted = true;
    this.onloadend();
  }
}

test("a slow file's part is told, and after as long as it may take the rule with how much came", async ({ mock }) => {
  mockTimeouts({ mock });
  globalThis.XMLHttpRequest = Request;
  const told = [],
    ends = sendFile("/arrays", "t", file(), yes, how => told.push(how));
  Request.last.upload.onprogress({ loaded: 1, total: 4 });
  mock.timers.tick(59_999);
  assert.equal(Request.last.aborted, undefined);
  Request.last.upload.onprogress({ loaded: 3, total: 4 });
  mock.timers.tick(1);
  const { pieces } = await ends;
  assert.equal(Request.last.aborted, true);
  assert.deepEqual(told, [0.25, 0.75]);
  assert.match(pieces[0].runs[0][1], /^A file has 60 s to come; of this one 75 % came\./);
});

test("a file that has come may be compared for longer", async ({ mock }) => {
  mockTimeouts({ mock });
  globalThis.XMLHttpRequest = Request;
  const ends = sendFile("/arrays", "t", file(), yes, nobody);
  Request.last.upload.onload();
  mock.timers.tick(100_000);
  Object.assign(Request.last, { status: 200, responseText: '{"pieces":[1]}' });
  Request.last.onloadend();
  assert.deepEqual((await ends).pieces, [1]);
});

test("a file that nobody wants is sent no further", async () => {
  globalThis.XMLHttpRequest = Request;
  let isWanted = true;
  const ends = sendFile("/arrays", "t", file(), () => isWanted, nobody, { wait: async () => {} });
  isWanted = false;
  Request.last.upload.onprogress({ loaded: 1, total: 4 });
  assert.equal(await ends, null);
});

test("a run is asked for each time that the server is back, and never while it stays", () => {
  let state = "CONNECTED",
    changed,
    asked = 0;
  class Observer {
    constructor(hears) {
      changed = hears;
    }
    observe() {}
    disconnect() {
      changed = () => {};
    }
  }
  const becomes = next => {
    state = next;
    changed();
  };
  const app = { querySelector: () => ({ getAttribute: () => state }) },
    end = onReconnect(app, () => (asked += 1), Observer);
  becomes("CONNECTED");
  assert.equal(asked, 0);
  for (const next of ["PINGING_SERVER", "CONNECTING", "CONNECTED", "CONNECTED"]) becomes(next);
  assert.equal(asked, 1);
  for (const next of ["DISCONNECTED_FOREVER", "CONNECTED"]) becomes(next);
  assert.equal(asked, 2);
  end();
  for (const next of ["CONNECTING", "CONNECTED"]) becomes(next);
  assert.equal(asked, 2);
});

const A = { part: "What enters" },
  B = { part: "The answer" };

function rerunning(t) {
  const root = { ariaBusy: true },
    rerun = makeRerun(root, () => (rerun.asked += 1));
  return Object.assign(rerun, { asked: 0, root, tick: mockTimeouts(t) });
}

test("a run is asked for until one has what was chosen", t => {
  const rerun = rerunning(t);
  rerun.ran(A);
  assert.equal(rerun.asked, 0, "nothing was chosen");
  rerun.ask(B);
  assert.equal(rerun.asked, 1);
  rerun.ran(A);
  rerun.tick(1000);
  rerun.tick(1000);
  assert.equal(rerun.asked, 3, "that run was of before");
  assert.equal(rerun.root.ariaBusy, true);
  rerun.ran(B);
  rerun.tick(9000);
  assert.equal(rerun.asked, 3);
  assert.equal(rerun.root.ariaBusy, false);
});

test("what has come and waits for nothing is not busy", t => {
  const rerun = rerunning(t);
  rerun.ran(A);
  assert.deepEqual([rerun.root.ariaBusy, rerun.asked], [false, 0]);
});

test("of two quick choices a run has to have the last", t => {
  const rerun = rerunning(t);
  rerun.ask(A);
  rerun.ask(B);
  assert.equal(rerun.asked, 2);
  rerun.ran(A);
  rerun.tick(1000);
  assert.equal(rerun.asked, 3);
  rerun.ran(B);
  rerun.tick(9000);
  assert.equal(rerun.asked, 3);
});

test("after Back, and on another page, nobody asks any more", t => {
  const rerun = rerunning(t);
  rerun.ask(B);
  rerun.end();
  rerun.tick(9000);
  assert.equal(rerun.asked, 1);
  rerun.ask(A);
  assert.equal(rerun.asked, 2, "until something else is chosen");
});

function waiting(t) {
  const [root, view] = [1, 2].map(() => {
    const classes = new Set();
    return {
      ariaBusy: null,
      classList: { add: name => classes.add(name), remove: name => classes.delete(name) },
      classes,
    };
  });
  const state = () => [root.ariaBusy, view.ariaBusy, [...view.classes].join()].join(" ");
  return { wait: makeBusyMarker(root, view), state, tick: mockTimeouts(t) };
}

test("who waits is busy at once, and late after a second of it", t => {
  const { wait, state, tick } = waiting(t);
  wait(true);
  tick(600);
  wait(true); // something else is done meanwhile
  assert.equal(state(), "true true ");
  tick(400);
  assert.equal(state(), "true true late");
  wait(false);
  assert.equal(state(), "false false ");
});

for (const [ms, end] of [
  [900, ""],
  [1000, "late"],
])
  test(`who waits again, each time for ${ms} ms, is ${end || "never late"}`, t => {
    const { wait, state, tick } = waiting(t);
    for (const is of [true, false, true]) {
      wait(is);
      tick(ms);
    }
    assert.equal(state(), `true true ${end}`);
  });
