// The line to a class: who lost it asks again within a second, however long nobody answers, and with the seat that they had.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClassLine } from "../../attnviz/viewer/browser/shell/server.js";

const SITE = "http://localhost/course/",
  SEAT = { code: "KTQWRM", seat: "mine" };
const turns = async () => {
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
};

// A browser in which `statuses` are the answers to what is posted, 0 for none. `sources` are the streams that were opened.
function browser(t, statuses, isAround = () => false) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
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
  globalThis.fetch = () => {
    const status = statuses.shift() ?? 200,
      headers = { "Content-Type": "application/json" };
    return status
      ? Promise.resolve(new Response("{}", { status, headers }))
      : Promise.reject(new TypeError("no network"));
  };
  const told = Object.fromEntries(["now", "own", "lost", "gone"].map(name => [name, () => heard.push(name)]));
  const end = makeClassLine(SITE, {}).listen(SEAT, isAround, told);
  return { sources, heard, end };
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
  for (const [is, text] of [
    [true, "around=0"],
    [false, "around=1"],
    [true, "around=0"],
  ]) {
    assert.ok(sources.at(-1).url.includes(text));
    isAround = is;
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
