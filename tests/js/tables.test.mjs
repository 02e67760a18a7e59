// Tables of an article: a number below 0 has the first of the colours, one above 0 the second, more strongly the larger it is.
import assert from "node:assert/strict";
import test from "node:test";
import { drawMatrix } from "../../attnviz/viewer/browser/views/pieces.js";

// As much of a document as a table is made of.
function browser(t) {
  const made = [];
  globalThis.ResizeObserver = class {
    observe() {}
  };
  globalThis.document = {
    createElement: tag => {
      const each = { tag, style: {}, append: () => {}, prepend: () => {}, classList: { add: () => {} } };
      made.push(each);
      return each;
    },
  };
  t.after(() => {
    delete globalThis.document;
    delete globalThis.ResizeObserver;
  });
  return made;
}

test("cells are coloured by their sign, and a zero is not", t => {
  const made = browser(t),
    side = { title: "", labels: ["1", "2"], blocks: [] };
  drawMatrix({
    caption: "Numbers",
    rows: side,
    columns: side,
    values: [
      [-1, 2],
      [0, -4],
    ],
    texts: [
      ["−1", "2"],
      ["", "−4"],
    ],
    limit: 8,
    colours: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    marked: null,
  });
  const cells = made.filter(({ tag, title }) => tag === "td" && title);
  assert.deepEqual(
    cells.map(({ style }) => style.backgroundColor),
    ["rgb(1 2 3 / 0.125)", "rgb(4 5 6 / 0.25)", undefined, "rgb(1 2 3 / 0.5)"],
  );
});
