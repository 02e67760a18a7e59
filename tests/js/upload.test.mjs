import assert from "node:assert/strict";
import { test } from "node:test";
import { sendFile } from "../../attnviz/viewer/browser/shell/upload.js";
import { mockTimeouts } from "./timeouts.mjs";

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

const file = () => ({
  name: "a\n.npz",
  bytes: new TextEncoder().encode("numbers"),
  answers: { stage: "" },
  tab: null,
  pieces: null,
});
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
  assert.match(others, /^Other files are compared first/);
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
  mockTimeouts(mock);
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
  mockTimeouts(mock);
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
