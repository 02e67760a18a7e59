// A seat in a class: a browser has one in all its tabs, or a tab where nothing is kept for the others; and asks until it has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { takeSeat } from "../../attnviz/viewer/browser/classroom/classPage.js";

// A storage that keeps what it is given; one that is full fails as it is written, and one that is forbidden always.
function storage({ isFull = false } = {}) {
  const kept = new Map();
  return {
    getItem: name => kept.get(name) ?? null,
    setItem: (name, text) => {
      if (isFull) throw new DOMException("full", "QuotaExceededError");
      kept.set(name, text);
    },
  };
}
const forbidden = () => {
  throw new DOMException("forbidden", "SecurityError");
};

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
    browser = storage();
  const tabs = [storage(), storage()].map(tab => [() => browser, () => tab]);
  const [first, second] = [await take(line, tabs[0]), await take(line, tabs[1])];
  assert.equal(first.seat, second.seat);
  assert.notEqual((await take(line, [() => storage()])).seat, first.seat);
});

const full = storage({ isFull: true });
for (const [what, shared] of [
  ["forbids it", forbidden],
  ["is full", () => full],
])
  test(`a tab keeps its own seat where the browser ${what}`, async () => {
    const line = server(),
      tabs = [storage(), storage()].map(tab => [shared, () => tab]);
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
    stored = storage();
  const { seat } = await take(server(), stores);
  const other = await take(line, stores, { hash: "link" });
  assert.deepEqual(line.asked, [{ seat }, { link: "link" }, {}]);
  assert.equal((await take(line, stores)).seat, other.seat, "the new one is kept");
});

test("the seats of the latest five rooms are kept", async () => {
  const line = server(),
    stored = storage(),
    codes = ["BBBBBB", "CCCCCC", "DDDDDD", "FFFFFF", "GGGGGG"];
  for (const code of [...codes, "BBBBBB", "HHHHHH"]) await take(line, [() => stored], { code });
  assert.deepEqual(Object.keys(JSON.parse(stored.getItem("attnviz seat"))), [
    "DDDDDD",
    "FFFFFF",
    "GGGGGG",
    "BBBBBB",
    "HHHHHH",
  ]);
});

for (const hash of ["", "link"])
  test(`one who is to wait is let in by and by, ${hash ? "by the link" : "by the code"}`, async t => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const line = server([429, 503, 0]),
      told = [],
      seat = take(line, [forbidden], { hash, wait: said => told.push(said) });
    for (let n = 0; n < 3; n += 1) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      t.mock.timers.tick(1000);
    }
    assert.equal((await seat).seat, "seat 4");
    assert.deepEqual(told, ["status 429", "status 503", "status 0"]);
  });
