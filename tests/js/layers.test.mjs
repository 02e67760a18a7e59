import assert from "node:assert/strict";
import test from "node:test";
import { folded, inRows, nameOf } from "../../attnviz/viewer/browser/views/diagram.js";
import { documentOf } from "./passes.mjs";
import { layeredDocumentOf } from "./layered.mjs";

const { map } = layeredDocumentOf({}, 3);
const ATTENTION = layer => `attention_${layer}`;
const titles = columns => columns.map(({ title }) => title);

test("all steps are open in the present layer alone; each other layer is one step, which leads to its first", () => {
  for (const open of [0, 1, 2, 3]) {
    const { columns } = folded(map, open, ATTENTION);
    for (const layer of [1, 2, 3]) {
      const there = columns.filter(each => each.layer === layer),
        all = map.columns.filter(each => each.layer === layer);
      assert.equal(there[0].step, all[0].step);
      assert.deepEqual(titles(there), layer === open ? titles(all) : [`Layer ${layer}`]);
      assert.deepEqual(there.map(({ opens }) => opens).filter(Boolean), layer === open ? [`Layer ${layer}`] : []);
    }
    const outside = each => titles(each.filter(({ layer }) => layer === 0));
    assert.deepEqual(outside(columns), outside(map.columns));
  }
});

test("arrows lead between the stages that are there, each once, and none from a layer to itself", () => {
  for (const open of [0, 1, 2, 3]) {
    const { columns, arrows } = folded(map, open, ATTENTION),
      there = new Set(columns.flatMap(({ stages }) => stages));
    for (const [from, to] of arrows) assert.ok(there.has(from) && there.has(to) && from !== to, `${from} ${to}`);
    assert.equal(new Set(arrows.map(String)).size, arrows.length);
    const reached = new Set(["embeddings"]);
    for (const _ of there) for (const [from, to] of arrows) if (reached.has(from)) reached.add(to);
    assert.ok(reached.has("attention_3") && reached.has("attention_1"), "the way through all layers is there");
  }
});

test("a pass of one layer is as it was: one row, nothing folded, no layer named", () => {
  const { map: whole } = documentOf();
  const { columns, arrows } = folded(whole, 0, ATTENTION);
  assert.deepEqual(
    columns,
    whole.columns.map(column => ({ ...column, opens: "" })),
  );
  assert.deepEqual(arrows, whole.arrows);
  assert.deepEqual(inRows(whole.columns), [whole.columns]);
  assert.equal(nameOf(0), "");
});

test("each layer has a row, the first with what comes before, the last with what comes after", () => {
  const rows = inRows(map.columns);
  assert.deepEqual(rows.flat(), map.columns);
  assert.deepEqual(
    rows.map(row => [row[0].step, row.at(-1).step]),
    [
      ["question", "output-1"],
      ["qkv-2", "output-2"],
      ["qkv-3", "whole-pass"],
    ],
  );
});
