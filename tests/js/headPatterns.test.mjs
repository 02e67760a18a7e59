import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import {
  isWithin,
  namesIn,
  rangeOf,
  readLayers,
  sortedHeads,
  topKeys,
} from "../../attnviz/viewer/browser/heads/headPatterns.js";
import { cellText, valueText, weightAt } from "../../attnviz/viewer/browser/heads/headPatterns.js";

// Layers with 2, 0 and 1 heads; the last has other words on its two sides.
const BYTES = Uint8Array.from([255, 0, 128, 127, 0, 255, 51, 204, 0, 100, 155, 1, 2, 252]);
const layer = (n, shape, statistics, more = {}) => ({
  path: "",
  note: "",
  n,
  shape,
  queries: 0,
  keys: 0,
  statistics,
  ...more,
});
const DATA = {
  layers: [
    layer(2, [2, 2], { entropy: [1.5, 0.25], distance: [3, 4] }, { scales: [1, 0.5] }),
    layer(0, [0, 0], {}, { note: "not called", scales: [] }),
    layer(1, [2, 3], { entropy: [0.5], distance: [null] }, { scales: [1], queries: 1, keys: 2 }),
  ],
  texts: [
    ["a", "b"],
    ["le", "chat"],
    ["the", "cat", "sat"],
  ],
  patterns: deflateSync(BYTES).toString("base64"),
};

test("patterns are unpacked head by head, each with its shape and words", async () => {
  const layers = await readLayers(DATA),
    [one, other, last] = layers.flatMap(({ heads }) => heads);
  assert.deepEqual(
    layers.map(({ heads }) => heads.length),
    [2, 0, 1],
  );
  assert.deepEqual([...one.weights], [255, 0, 128, 127]);
  assert.deepEqual([...other.weights], [0, 255, 51, 204]);
  assert.equal(weightAt(other, 1, 1), 0.4, "of its scale, 0.5");
  assert.equal(weightAt(last, 1, 2), 252 / 255, "of three keys");
  assert.deepEqual([layers[2].queries, layers[2].keys], [DATA.texts[1], DATA.texts[2]]);
  assert.deepEqual([last.layer, last.head, last.statistics.entropy], [2, 0, 0.5]);
});

test("heads are sorted by a statistic, those without it left out", async () => {
  const heads = (await readLayers(DATA)).flatMap(each => each.heads),
    order = (name, isHighFirst) => sortedHeads(heads, name, isHighFirst).map(({ layer, head }) => `${layer}.${head}`);
  assert.deepEqual(order("entropy", true), ["0.0", "2.0", "0.1"]);
  assert.deepEqual(order("entropy", false), ["0.1", "2.0", "0.0"]);
  assert.deepEqual(order("distance", true), ["0.1", "0.0"]);
  assert.deepEqual(namesIn(heads), ["entropy", "distance"]);
  assert.deepEqual(namesIn([heads[2]]), ["entropy"]);
  assert.deepEqual(rangeOf(heads, "entropy"), [0.25, 1.5]);
  assert.deepEqual(rangeOf(heads, "effect"), [0, 0]);
  const kept = isAtLeast => heads.filter(head => isWithin(head, "entropy", 0.5, isAtLeast)).length;
  assert.deepEqual([kept(true), kept(false)], [2, 2]);
  assert.equal(isWithin(heads[2], "distance", -9, true), false);
});

test("the keys with the largest weights come first", async () => {
  const last = (await readLayers(DATA))[2].heads[0];
  assert.deepEqual(
    topKeys(last, 0, 8).map(({ key }) => key),
    [2, 1],
  );
  assert.deepEqual(
    topKeys(last, 1, 2).map(({ key, weight }) => [key, weight]),
    [
      [2, 252 / 255],
      [1, 2 / 255],
    ],
  );
});

test("a weight is written with the digits that 8 bits tell", async () => {
  const [layer, , of2] = await readLayers(DATA),
    fine = { ...layer.heads[0], scale: 0.05 };
  assert.equal(cellText(layer, layer.heads[0], 1, 0), "“b” gives “a” 0.502 ± 0.002");
  assert.equal(cellText(layer, fine, 1, 0), "“b” gives “a” 0.02510 ± 0.00010");
  assert.equal(cellText(of2, of2.heads[0], 0, 2), "“le” gives “sat” 0.608 ± 0.002");
});

test("a statistic is written with its unit", () => {
  const written = [
    ["spread", 0.456],
    ["itself", 0.0123],
    ["entropy", 2],
    ["distance", 12.34],
    ["effect", -0.0312],
    ["effect", 0.00001],
  ];
  const texts = ["46 %", "1.2 %", "2.00 bits", "12.3 tokens", "−0.0312", "1.0e−5"];
  assert.deepEqual(
    written.map(each => valueText(...each)),
    texts,
  );
  assert.equal(valueText("entropy", null), "–");
});
