import assert from "node:assert/strict";
import test from "node:test";
import { invitation, soFar } from "../../attnviz/ui/viewer/browser/player.js";
import { makeSchedule } from "../../attnviz/ui/viewer/browser/schedule.js";

const SIZES = [[4, 6, 36], [1, 1, 1], [1, 5, 5], [3, 1, 7], [16, 16, 256]]; // products, width, cells

for (const [products, width, cells] of SIZES) {
  const { whole, at } = makeSchedule(products, width, cells);
  const moments = Array.from({ length: Math.ceil(whole) }, (_, elapsed) => at(elapsed));

  test(`${products} products and ${cells} cells: all products of the first cell are shown, in order, before any cell is done`, () => {
    const shown = moments.filter(({ product }) => product !== null);
    assert.deepEqual([...new Set(shown.map(({ product }) => product))], Array.from({ length: products }, (_, p) => p));
    assert.ok(shown.every(({ done }) => done === 0));
    assert.ok(moments.slice(shown.length).every(({ product, done }) => product === null && done > 0));
  });

  test(`${products} products and ${cells} cells: cells are only ever added, and in the end all are there`, () => {
    const done = moments.map((moment) => moment.done);
    assert.ok(done.every((n, i) => n >= (done[i - 1] ?? 0) && n <= cells));
    assert.deepEqual(at(whole), { product: null, done: cells });
    assert.ok(whole > 0 && whole <= 4000);
  });
}

test("a row is done cell by cell", () => {
  const { at } = makeSchedule(4, 6, 36);
  const early = new Set(Array.from({ length: 1200 + 750 }, (_, elapsed) => at(elapsed).done));
  assert.deepEqual([...early], [0, 1, 2, 3, 4, 5]);
});

test("the button offers what a click does", () => {
  const offers = [[false, 0], [true, 5], [false, 5], [false, 10], [true, 0]];
  assert.deepEqual(offers.map(([runs, elapsed]) => invitation(runs, elapsed, 10)[0]), ["▶", "❚", "▶", "↻", "❚"]);
  assert.notEqual(invitation(false, 0, 10), invitation(false, 5, 10));
});

test("the sum so far has the products up to the one that is shown", () => {
  const left = { values: [[1, 2, 3]] }, right = { values: [[0, 10], [0, 100], [0, 1000]], shift: 1 };
  assert.equal(soFar(left, right, 0), "1.00 × 10.00, 1 of 3: the sum is 10.00 so far");
  assert.equal(soFar(left, right, 1), "2.00 × 100.0, 2 of 3: the sum is 210.0 so far");
});
