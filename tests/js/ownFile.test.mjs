import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { sendFile } from "../../attnviz/viewer/browser/talk/ownFile.js";

const { fetch } = globalThis;
afterEach(() => { globalThis.fetch = fetch; });

// A server that answers one thing after the other: a status and what it says, or null where it isn't there.
function answering(...answers) {
  const sent = [];
  globalThis.fetch = async (_, { body }) => {
    sent.push(await body.text());
    const answer = answers.shift();
    if (!answer) throw new TypeError("no server");
    return new Response(answer[1], { status: answer[0] });
  };
  return sent;
}

const file = () => ({ name: "a\n.npz", bytes: new TextEncoder().encode("numbers"), said: { stage: "" }, tab: null, pieces: null });
const yes = () => true, soon = async () => {};

test("a file is sent after a line of JSON, again until there is an answer", async () => {
  const sent = answering(null, [404, "no such tab"], [429, "busy"], [200, "{half"], [200, '{"pieces":[1]}']), kept = file();
  assert.equal(await sendFile("/arrays", "t", kept, yes, soon), kept);
  assert.deepEqual([kept.tab, kept.pieces], ["t", [1]]);
  assert.equal(sent.length, 5);
  const [line, ...rest] = sent[4].split("\n");
  assert.deepEqual(JSON.parse(line), { tab: "t", filename: "a\n.npz", stage: "" });
  assert.deepEqual(rest, ["numbers"]);
});

test("why it is refused is what came of it", async () => {
  answering([413, "too large"]);
  const { pieces } = await sendFile("/arrays", "t", file(), yes, soon);
  assert.deepEqual(pieces, [{ kind: "text", runs: [["", "too large"]] }]);
});

test("the file of an example is kept", async () => {
  answering([200, `{"pieces":[],"file":"${btoa("PK\u00ff")}"}`]);
  assert.deepEqual([...(await sendFile("/arrays", "t", file(), yes, soon)).bytes], [80, 75, 255]);
});

test("for what nobody wants any more nothing is kept, and nothing asked again", async () => {
  let isWanted = true;
  const sent = answering([404, ""], [200, '{"pieces":[1]}']), kept = file();
  assert.equal(await sendFile("/arrays", "t", kept, () => isWanted, () => { isWanted = false; }), null);
  assert.deepEqual([sent.length, kept.tab], [1, null]);
});
