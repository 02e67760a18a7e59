// The whole viewer, given what the app sends: tests/test_javascript.py writes it to the file PAYLOADS.
import { page } from "./document.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import show from "../../attnviz/ui/viewer/browser/component.js";
import { written } from "../../attnviz/ui/viewer/browser/description.js";
import { foresee } from "../../attnviz/ui/viewer/browser/explanation.js";
import { named, parts, selectionAt } from "../../attnviz/ui/viewer/browser/cells.js";
import { strict } from "./schema.mjs";

const FILE = process.env.PAYLOADS;
const PAYLOADS = FILE ? JSON.parse(readFileSync(FILE, "utf-8")) : {};
const reason = FILE ? false : "no PAYLOADS: run by pytest tests/test_javascript.py";

function shown(data) {
  const { parent, root } = page(), sent = [];
  show({ data: strict(structuredClone(data)), parentElement: parent, setTriggerValue: (...message) => sent.push(message) });
  return { root, sent, grids: root.querySelectorAll('[role="grid"]'), texts: (what) => root.querySelectorAll(what).map((each) => each.textContent) };
}

test("there are payloads", { skip: reason }, () => {
  assert.ok(Object.values(PAYLOADS).filter((data) => data.complete).length > 5);
});

for (const [name, data] of Object.entries(PAYLOADS)) {
  const matrices = data.equations.flat();

  test(`${name}: reads nothing but what the schema has, and draws every number of it`, () => {
    const { grids, root } = shown(data);
    assert.equal(grids.length, matrices.length);
    grids.forEach((grid, m) => {
      const drawn = grid.querySelectorAll("[data-row]").map((cell) => (data.small ? cell.attributes.get("aria-label") : cell.textContent));
      assert.deepEqual(drawn, matrices[m].values.flat().map((value) => written(value, matrices[m])));
    });
    for (const cell of root.querySelectorAll("[data-row]").slice(0, 3)) { // as a pointer and the keyboard come to them
      const grid = cell.closest('[role="grid"]');
      grid.onpointerover({ target: cell });
      grid.listeners.get("focusin")({ target: cell });
      grid.onkeydown({ key: "ArrowRight", target: cell, preventDefault() {}, stopPropagation() {} });
    }
  });

  if (data.answer) {
    test(`${name}: says what the server says`, () => {
      const { texts } = shown(data);
      assert.deepEqual(texts(".caption"), data.answer.captions);
      assert.deepEqual(texts("h4"), data.answer.cells.map((cell) => `${named(data.axes, cell)} = ${data.breakdowns[cell].value}`));
    });
  }

  if (data.complete) {
    test(`${name}: a click is explained before the server answers, and nothing is prefetched again`, () => {
      const { grids, root, sent, texts } = shown(data);
      root.onpointerover();
      matrices.forEach((matrix, m) => {
        const row = matrix.cells.length - 1, cell = matrix.cells[row].at(-1);
        grids[m].onclick({ target: grids[m].querySelectorAll("[data-row]").at(-1) });
        assert.deepEqual(sent.pop(), ["pick", cell]);
        const stages = data.explained[parts(cell).stage], headings = texts("h4");
        assert.deepEqual(headings.map((heading) => heading.split("[")[0]), stages);
        const own = `${named(data.axes, cell)} = ${data.breakdowns[cell].value}`;
        assert.equal(headings.includes(own), stages.includes(parts(cell).stage), cell);
      });
      assert.deepEqual(sent, []);
    });

    test(`${name}: a caption that has not come is waited for, and no other is shown in its place`, () => {
      const picked = matrices.at(-1).cells.at(-1).at(-1);
      const state = { selection: selectionAt(data.axes, picked, data.selection), breakdowns: data.breakdowns };
      const stages = data.captioned.filter((stage) => data.axes[stage].length > 1);
      assert.ok(foresee(data, { ...state, captions: data.captions }, picked));
      for (const stage of stages) {
        const lacking = { ...data.captions, [stage]: data.captions[stage].slice(0, 0) };
        assert.equal(foresee(data, { ...state, captions: lacking }, picked), null);
      }
    });
  } else if (data.explained && matrices.length) {
    test(`${name}: whoever comes near asks for the explanations, once a second`, () => {
      const { root, sent } = shown(data);
      root.onpointerover();
      root.onfocusin();
      assert.deepEqual(sent, [["prefetch", true]]);
    });
  }
}
