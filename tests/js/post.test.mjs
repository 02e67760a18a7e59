import assert from "node:assert/strict";
import test from "node:test";
import { makeTemplates } from "../../attnviz/viewer/browser/shell/templates.js";
import { postTo } from "../../attnviz/viewer/browser/shell/server.js";

// What becomes of a message where the server, if it is there, answers with that.
function answered(t, status, text = "{}", templates = makeTemplates(), type = "text/html") {
  const asked = [];
  t.mock.method(globalThis, "fetch", (...request) => {
    asked.push(request);
    return status
      ? Promise.resolve(new Response(text, { status, headers: { "Content-Type": type } }))
      : Promise.reject(new TypeError("Failed to fetch"));
  });
  return { asked, answer: postTo("http://a.test/acts", templates)({ acts: [["mask", "causal"]] }) };
}

test("what was done is posted as JSON, and the answer is read", async t => {
  const { asked, answer } = answered(t, 200, '{"notices": ["a"]}');
  assert.deepEqual(await answer, { notices: ["a"] });
  const [[url, { method, body }]] = asked;
  assert.deepEqual(
    [url, method, JSON.parse(body)],
    ["http://a.test/acts", "POST", { acts: [["mask", "causal"]], templates: [] }],
  );
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
