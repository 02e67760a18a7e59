import assert from "node:assert/strict";
import test from "node:test";
import { PALETTES } from "../../attnviz/viewer/browser/dom/colour.js";
import { neighbour } from "../../attnviz/viewer/browser/dom/element.js";
import { fit, indexIn, largestThatFits, spotOf, tiling } from "../../attnviz/viewer/browser/fit/fit.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { marksOf } from "../../attnviz/viewer/browser/views/matrixGrid.js";
import { depthsOf, folded, inRows } from "../../attnviz/viewer/browser/views/diagram.js";
import { rectangles } from "../../attnviz/viewer/browser/views/matrix.js";
import { roomForColumns, setSizes } from "../../attnviz/viewer/browser/views/oneWordSizes.js";
import { visibleRows } from "../../attnviz/viewer/browser/model/state.js";
import { short } from "../../attnviz/viewer/browser/model/numeral.js";
import { readWhere } from "../../attnviz/viewer/browser/model/address.js";
import { cellsAt, endsAt, leftAt, restAt } from "../../attnviz/viewer/browser/views/oneWordCells.js";
import { noteOn } from "../../attnviz/viewer/browser/views/oneWordPair.js";
import { partsOf, slotted } from "../../attnviz/viewer/browser/views/oneWordParts.js";
import { bandOf, makeSlice, shapeOf } from "../../attnviz/viewer/browser/views/slice.js";
import { documentOf, layeredDocumentOf } from "./documents.mjs";

const OPTIONS = { smallest: 9, largest: 17, base: 15, labels: 0.92, around: 0.6, line: 1.42 };
const SIGNS = { rowLabel: 2, columnLabel: 1.5, before: 0, after: 0, sums: 0, bands: false };
const block = (rows, columns, more = {}) => ({
  ...{ rows, columns, rowNames: `${rows} rows`, columnNames: `${columns} columns` },
  ...{ ...SIGNS, caption: 6, symbol: 2, digits: 2.5, ...more },
});
const product = (n, inner) => {
  const rows = [
    [null, block(inner, n)],
    [block(n, inner), block(n, n, { before: 2 })],
  ];
  return { turns: false, grid: rows };
};
const row = (n, m, count) => ({ turns: true, grid: [Array.from({ length: count }, () => block(n, m))] });
const BOXES = [
  [980, 380],
  [700, 300],
  [360, 400],
  [1500, 800],
  [300, 120],
].map(([width, height]) => ({ width, height }));
const PICTURES = {
  "a product": [product(6, 4)],
  "a wide product": [product(16, 16)],
  "a row": [row(6, 6, 3)],
  heads: [row(3, 1, 9)],
  "one cell": [row(1, 1, 1)],
  "two pictures": [product(6, 8), { turns: false, grid: [[block(2, 8)], [block(1, 8)]] }],
  "a large product": [product(64, 128)],
};
const blocksOf = pictures => pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);
const placesOf = found => found.pictures.flat(2).filter(Boolean);

for (const [name, pictures] of Object.entries(PICTURES)) {
  for (const box of BOXES) {
    const found = fit(pictures, box, OPTIONS),
      places = placesOf(found),
      blocks = blocksOf(pictures);
    const rects = places.map(({ x, y }, i) => ({
      left: x,
      top: y,
      right: x + blocks[i].columns * found.cell[0],
      bottom: y + blocks[i].rows * found.cell[1],
    }));
    const where = `${name} in ${box.width} x ${box.height}`;

    test(`${where}: everything is inside what it takes, and no matrix is on another`, () => {
      for (const each of rects) {
        assert.ok(each.left >= 0 && each.top >= 0 && each.right <= found.width + 1 && each.bottom <= found.height + 1);
      }
      rects.forEach((one, i) => {
        for (const other of rects.slice(i + 1)) {
          assert.ok(
            one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top,
          );
        }
      });
    });

    test(`${where}: digits that are written have room, and all of it is inside the box`, () => {
      if (!found.written) return;
      assert.ok(found.width <= box.width && found.height <= box.height);
      assert.ok(found.cell[0] >= 2.5 * found.font && found.cell[1] >= 1.4 * found.font);
      assert.ok(found.font >= OPTIONS.smallest && found.font <= OPTIONS.largest);
    });
  }

  test(`${name}: in a larger box digits are as large, or larger`, () => {
    const fonts = [1, 1.3, 1.7, 2.5]
      .map(more => fit(pictures, { width: 500 * more, height: 300 * more }, OPTIONS))
      .map(({ written, font }) => (written ? font : 0));
    const actual = fonts;
    assert.deepEqual(
      actual,
      [...fonts].sort((a, b) => a - b),
    );
  });
}

test("in a product, rows stand in line with rows and columns with columns", () => {
  for (const box of BOXES) {
    const [[, above], [left, result]] = fit([product(6, 4)], box, OPTIONS).pictures[0];
    assert.equal(result.x, above.x);
    assert.equal(result.y, left.y);
    assert.deepEqual([result.labels[0], result.labels[1]], [0, 0]); // they stand at the left and above
    assert.ok(left.labels[0] > 0 && above.labels[1] > 0);
  }
});

test("a row turns into a column where that makes it larger", () => {
  const [high, wide] = [
    { width: 330, height: 700 },
    { width: 1000, height: 240 },
  ].map(box => fit([row(6, 6, 3)], box, OPTIONS));
  assert.equal(high.pictures[0].length, 3);
  assert.equal(wide.pictures[0].length, 1);
});

test("where neither one row nor one column has room for digits, two rows have them", () => {
  const box = { width: 420, height: 280 },
    found = fit([row(6, 6, 3)], box, OPTIONS);
  assert.deepEqual(
    found.pictures[0].map(each => each.map(Boolean)),
    [
      [true, true],
      [true, false],
    ],
  );
  assert.ok(found.written && found.width <= box.width && found.height <= box.height);
});

test("titles give way to digits where there is no room for both", () => {
  const heads = [row(3, 1, 9)];
  assert.deepEqual(
    [500, 1300]
      .map(width => fit(heads, { width, height: 150 }, OPTIONS))
      .map(({ titled, written }) => [titled, written]),
    [
      [false, true],
      [true, true],
    ],
  );
});

test("labels that don't fit over their columns stand upright, and are all there", () => {
  const [place] = placesOf(
    fit([{ turns: false, grid: [[block(8, 8, { columnLabel: 6 })]] }], { width: 420, height: 380 }, OPTIONS),
  );
  assert.ok(place.upright && place.all.every(Boolean) && place.labels[1] > 40);
});

test("where cells are too small for words, only the lit ones are there", () => {
  const found = fit([product(64, 128)], { width: 980, height: 380 }, OPTIONS);
  assert.ok(!found.written && found.width <= 980 && found.height <= 380);
  for (const place of placesOf(found)) assert.equal(place.all[0], false);
});

// The sizes of the sheet's lines, of boxes of many sizes.

const PARTS = 6;
const lines = [{ isHeader: true }, ...Array(8).fill({}), ...Array(4).fill({ isSingle: true }), ...Array(4).fill({})];

function sized(clientWidth, clientHeight, columns, present = false) {
  const set = {},
    setProperty = (name, size) => Object.assign(set, { [name]: Number.parseFloat(size) }),
    box = { clientWidth, clientHeight, scrollHeight: 0, style: { setProperty } };
  setSizes(box, {
    extent: box,
    lines,
    parts: PARTS,
    columns,
    letters: { numbers: 6, names: 5, own: 15.2, wide: 0.53 },
    least: present ? 18 : 0,
  });
  return set;
}

const SHEETS = [640, 900, 1240, 1900].flatMap(width =>
  [300, 420, 560, 700, 900].flatMap(height =>
    [3, 6, 12].flatMap(columns => [
      [width, height, columns, false],
      [width, height, columns, true],
    ]),
  ),
);

test("what is said has the letters of its lines as long as nothing is cut off", () => {
  const set = sized(1240, 700, 6);
  assert.equal(set["--said-size"], Math.min(0.6 * set["--line"], 0.95 * 15.2).toFixed(2) * 1);
});

test("lines fill no more than the box, where it is as high as their smallest letters", () => {
  const weight = lines.reduce((sum, { isSingle, isHeader }) => sum + (isSingle ? 1.4 : isHeader ? 1.2 : 1), 0);
  for (const [width, height, columns, present] of SHEETS) {
    const line = sized(width, height, columns, present)["--line"],
      taken = weight * line + 5 * PARTS + lines.length + 1;
    assert.ok(taken <= height + 0.2 || line === 14, `${[width, height, columns, present]}`);
  }
});

test("of many words those have a column that have 44 px for it, and sixteen letters all have one", () => {
  const roomIn = (clientWidth, words) =>
    roomForColumns({ clientWidth }, { words, others: 1, letters: { numbers: 4, names: 3, wide: 0.53 }, least: 0 });
  for (const width of [640, 955, 1340]) {
    const columns = width - Math.max(160, 0.2 * width) - Math.max(56, 0.07 * width),
      room = roomIn(width, 40);
    assert.ok(columns / (room + 1) >= 44 && columns / (room + 2) < 44, `${room} in ${width}`);
  }
  assert.deepEqual([roomIn(955, 16), roomIn(955, 17)], [16, 14]);
});

test("the last column has room for the name of a place, and many narrow ones take it from what is said", () => {
  for (const [width, height] of SHEETS) {
    for (const columns of [3, 12, 16, 27]) {
      const set = sized(width, height, columns);
      assert.ok(set["--end"] >= 48);
      const column = (width - set["--said"] - set["--label"] - set["--end"]) / columns;
      assert.ok(column <= set["--end"] + 0.05);
      assert.ok(set["--said"] <= 160 || column >= (0.53 * 6 + 0.4) * 9.5 - 0.05, `${[width, columns]}`);
    }
  }
});

test("a window of 4K is filled, and one of a usual screen has the lines that it had", () => {
  const [usual, large] = [
    [1240, 700, 900],
    [3400, 1700, 2160],
  ].map(([width, height, inner]) => {
    globalThis.innerHeight = inner;
    return sized(width, height, 6);
  });
  delete globalThis.innerHeight;
  assert.ok(usual["--line"] <= 2 * 15.2);
  assert.ok(large["--line"] >= 4 * 15.2, `${large["--line"]}`);
  assert.ok(large["--digits"] >= 2 * 15.2, `${large["--digits"]}`);
});

const stage = (shape, first) => ({ shape, axes: shape.map((_, i) => ({ name: i ? "d" : first })) });
const STAGES = [
  stage([2, 6, 6], "head"),
  stage([8, 3, 1], "head"),
  stage([6, 8], "token"),
  stage([128, 6, 6], "head"),
  stage([8], "d"),
  stage([2, 4], "head"),
  stage([2, 5, 3], "group"),
];
const TILED_BOXES = [
  { width: 58, height: 44, largest: 7 },
  { width: 60, height: 300, largest: 24 },
  { width: 400, height: 40, largest: 24 },
];

for (const each of STAGES) {
  for (const box of TILED_BOXES) {
    const tiled = tiling(each, box),
      name = `${each.shape.join(" × ")} in ${box.width} × ${box.height}`;

    test(`${name}: all of it is inside`, () => {
      assert.ok(tiled.width <= box.width + 1e-9 && tiled.height <= box.height + 1e-9);
      assert.ok(tiled.cell > 0 && tiled.cell <= box.largest);
    });

    test(`${name}: each number is found where it stands`, () => {
      const index = each.shape.map(length => Math.floor(length / 2)),
        { x, y } = spotOf(tiled, index);
      assert.deepEqual(indexIn(tiled, each, { x: x + tiled.cell / 2, y: y + tiled.cell / 2 }), index);
      assert.equal(indexIn(tiled, each, { x: -1, y: -1 }), null);
      assert.equal(indexIn(tiled, each, { x: tiled.width + 3, y: 0 }), null);
    });
  }
}

test("heads stand beside each other in a low box, one above the other in a high one", () => {
  assert.equal(tiling(STAGES[0], TILED_BOXES[2]).across, 2);
  assert.equal(tiling(STAGES[0], TILED_BOXES[1]).across, 1);
});

const pass = readPass(documentOf());
const CELL = { head: 1, query: 2, key: 4, feature: 3, dimension: 5 };
const given = (stage, rows, columns, fixed = {}) => ({ stage, rows, columns, fixed, sign: "", after: "" });
const SLOTS = [
  given("scores", 1, 2),
  given("k", 2, 1),
  given("x", 0, 1),
  given("concat", 0, 1),
  given("b_q", null, 1),
  given("heads", 1, 2, { 0: 0 }),
];

for (const each of SLOTS) {
  test(`${each.stage}: every cell of a slot is at a place of its own, and is found there again`, () => {
    const slot = makeSlice(pass, each, CELL),
      [rows, columns] = slot.size,
      seen = new Set();
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1) {
        const index = slot.index(row, column);
        assert.notEqual(pass.number(each.stage, index), undefined);
        assert.deepEqual(slot.positionOf(index), [row, column]);
        seen.add(String(index));
      }
    assert.equal(seen.size, rows * columns);
  });
}

test("a slot is that of the selected head, or of the one that is fixed", () => {
  assert.deepEqual(makeSlice(pass, given("scores", 1, 2), CELL).index(0, 3), [1, 0, 3]);
  assert.deepEqual(makeSlice(pass, given("heads", 1, 2, { 0: 0 }), CELL).index(0, 3), [0, 0, 3]);
  assert.equal(makeSlice(pass, given("scores", 1, 2), CELL).positionOf([0, 1, 1]), null);
});

test("a slot's shape is its rows × its columns, named in that order", () => {
  const shape = (...drawn) => shapeOf(makeSlice(pass, given(...drawn), CELL));
  assert.deepEqual(shape("q", 1, 2), { lengths: "6 × 4", counted: "queries × d_k", some: "" });
  assert.deepEqual(shape("k", 2, 1), { lengths: "4 × 6", counted: "d_k × keys", some: "" });
});

test("a single row is named by the selected word, the row of a head by the head", () => {
  assert.deepEqual(makeSlice(pass, given("output", null, 1), CELL).rows.labels, ["sat"]);
  assert.deepEqual(makeSlice(pass, given("contributions", 0, 2), CELL).rows.labels, ["head 1", "head 2"]);
});

test("symbols carry their head, and say that a matrix lies on its side", () => {
  assert.match(makeSlice(pass, given("scores", 1, 2), CELL).symbol, /_2$/);
  assert.match(makeSlice(pass, given("k", 2, 1), CELL).symbol, /_2\^⊤$/);
  assert.ok(!makeSlice(pass, given("x", 0, 1), CELL).symbol.includes("_i"));
});

test("bands are as wide as one head's part of an axis", () => {
  const widthOf = lengths => bandOf({ coordinates: Object.entries(lengths) });
  assert.deepEqual([{ head: 2, feature: 4 }, { key: 6 }].map(widthOf), [4, 0]);
});

test("what a score was computed from is framed: a row of Q, a column of K, the score, lightly its row and its column", () => {
  const kinds = (each, cell) =>
    marksOf(makeSlice(pass, each, CELL), cell, pass.cellsOf(cell.name, cell.index), []).map(
      ({ kind, row, column, rows, columns }) => `${kind} ${[row, column, rows, columns]}`,
    );
  const cell = { name: "scores", index: [1, 2, 4] };
  assert.deepEqual(kinds(given("q", 1, 2), cell), ["source 2,0,1,4"]);
  assert.deepEqual(kinds(given("k", 2, 1), cell), ["source 0,4,4,1"]);
  assert.deepEqual(kinds(given("scores", 1, 2), cell), ["cross 2,0,1,6", "cross 0,4,6,1", "focus 2,4,1,1"]);
  assert.deepEqual(kinds(given("q", 1, 2), { name: "scores", index: [0, 2, 4] }), [], "another head");
});

test("cells that fill a rectangle have one frame, others one each", () => {
  const cellsAt = rows => rows.flatMap(row => [2, 3].map(column => [row, column]));
  assert.deepEqual(rectangles([]), []);
  assert.deepEqual(rectangles(cellsAt([1, 2])), [{ row: 1, column: 2, rows: 2, columns: 2 }]);
  assert.equal(rectangles([0, 1].map(at => [at, at])).length, 2);
});

test("arrows lead to a neighbour and not out of the grid, Home and End to the ends, other keys nowhere", () => {
  const to = (key, ctrl = false, from = [1, 2]) => neighbour(key, ctrl, from, [4, 6]),
    arrowsFrom = (...from) => ["Up", "Down", "Left", "Right"].map(key => to(`Arrow${key}`, false, from)).join(" ");
  assert.equal(arrowsFrom(1, 2), "0,2 2,2 1,1 1,3");
  assert.equal(arrowsFrom(0, 0), "0,0 1,0 0,0 0,1");
  assert.equal(arrowsFrom(3, 5), "2,5 3,5 3,4 3,5");
  assert.equal([to("Home"), to("End"), to("Home", true), to("End", true)].join(" "), "1,0 1,5 0,0 3,5");
  for (const key of ["a", "Tab", "Enter", "constructor", "__proto__"]) assert.equal(to(key), null);
});

test("in a column of the map a stage stands after those that it was computed from", () => {
  const arrows = ["wq", "qs", "ks"].map(names => [...names]),
    depths = [["w", "q", "k"], [], ["s"]].map(stages => depthsOf(stages, arrows));
  assert.deepEqual(depths, [[["w", "k"], ["q"]], [], [["s"]]]);
});

const { map } = layeredDocumentOf({}, 3);
const ATTENTION = layer => `attention_${layer}`;
const NAMED = layer => `Layer ${layer}`;
const titles = columns => columns.map(({ title }) => title);

test("all steps are open in the present layer alone; each other layer is one step, which leads to its first", () => {
  for (const open of [0, 1, 2, 3]) {
    const { columns } = folded(map, open, ATTENTION, NAMED);
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
    const { columns, arrows } = folded(map, open, ATTENTION, NAMED),
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
  const { columns, arrows } = folded(whole, 0, ATTENTION, NAMED);
  const actual = columns;
  assert.deepEqual(
    actual,
    whole.columns.map(column => ({ ...column, opens: "" })),
  );
  assert.deepEqual(arrows, whole.arrows);
  assert.deepEqual(inRows(whole.columns), [whole.columns]);
});

test("each layer has a row, the first with what comes before, the last with what comes after", () => {
  const rows = inRows(map.columns),
    ends = rows.map(row => `${row[0].step} ${row.at(-1).step}`);
  assert.deepEqual(rows.flat(), map.columns);
  assert.deepEqual(ends, ["question output-1", "qkv-2 output-2", "qkv-3 whole-pass"]);
});

test("a row of the One word view adds up, also where words share a column and rows a line", () => {
  const wide = readPass(documentOf({ nWords: 12, dModel: 20, nHeads: 2 })),
    where = readWhere(wide, "?step=weighted-sum&view=sheet"),
    { head, query, key } = where.cell,
    look = { pass: wide, shown: () => true, nameOf: wide.nameOf, titleOf: () => "" },
    colours = { ...PALETTES.light, page: [255, 255, 255] },
    paint = { pass: wide, where, look, colours, before: () => undefined },
    space = { words: 5, answers: 9, places: 16, rows: 8 };
  const slots = slotted(wide, { selection: where.cell, attention: "attention" }, visibleRows(wide, where)),
    parts = partsOf(wide, { opened: new Set(), space, chosenWords: [] }, slots),
    [compared, collected] = ["left", "right"].map(side => parts.find(part => part[side]));
  const weight = at => wide.number("attention", [head, query, at]),
    product = row => Math.abs(wide.number("q", [head, query, row]) * wide.number("k", [head, key, row]));
  assert.deepEqual([compared.columns.length, compared.rest.length, compared.rows.length >= 6], [4, 8, true]);
  assert.ok(compared.rows.filter(row => product(row) < Math.max(...compared.others.map(product))).length <= 1);
  for (const row of compared.rows) {
    assert.equal(leftAt(compared, paint, row).text, short(wide.number("q", [head, query, row])));
    const keys = compared.columns.map(column => short(wide.number("k", [head, column, row])));
    assert.equal(
      cellsAt(compared, paint, row)
        .map(({ text }) => text)
        .join(),
      keys.join(),
    );
  }
  for (const row of collected.rows) {
    const alone = collected.columns.map(column => weight(column) * wide.number("v", [head, column, row])),
      mean = Number(restAt(collected, paint, row).label.split(" ").at(-1).replace("−", "-")),
      parts = [...alone, collected.rest.reduce((sum, column) => sum + weight(column), 0) * mean];
    assert.ok(Math.abs(parts.reduce((sum, part) => sum + part, 0) - wide.number("heads", [head, query, row])) < 1e-3);
    assert.equal(endsAt(collected, paint, row)[0].text, short(wide.number("heads", [head, query, row])));
  }
});

test("a note counts what differs, what is hidden in one pass only, and the largest difference of the others", () => {
  const pairs = [1, 1, 2.5, Number.NEGATIVE_INFINITY].map((now, nth) => [[3, 1, 2, 0][nth], now]);
  assert.equal(noteOn(pairs, 1e-9, "word"), "3 of 4 differ, 1 hidden in one, by up to 2.0000");
});

test("the largest size that fits is found to within the precision, and the smallest stands where none fits", () => {
  for (const limit of [3, 10.3, 11.9, 39.99]) {
    const found = largestThatFits(2, 40, size => size <= limit, 0.25);
    assert.ok(found <= limit && found > limit - 0.25, `${found} of ${limit}`);
  }
  assert.equal(
    largestThatFits(2, 40, () => true, 0.25),
    40,
  );
  assert.equal(
    largestThatFits(2, 40, () => false, 0.25),
    2,
  );
  assert.equal(
    largestThatFits(16 - 8, 16, size => size <= 11.7, 0.5),
    11.5,
  );
});

test("positions stand in the order that is given, and those that it leaves out are not shown", () => {
  const slice = makeSlice(pass, given("scores", 1, 2), CELL, { query: [3, 1] });
  assert.deepEqual([slice.index(0, 4)[1], slice.index(1, 4)[1]], [3, 1]);
  assert.deepEqual(slice.positionOf(slice.index(0, 4)), [0, 4]);
  assert.equal(slice.positionOf([1, 2, 4]), null);
});

test("a number set by hand has no terms, and the pass is changed", () => {
  const document = documentOf();
  Object.assign(document.stages.scores, { overridden: [[1, 1]], overriddenBy: "set by hand" });
  const changed = readPass(document);
  assert.deepEqual([pass.isChanged, changed.isChanged], [false, true]);
  assert.equal(changed.terms("scores", [0, 0, 1]).recipe, "set by hand");
  assert.deepEqual(changed.terms("scores", [0, 0, 1]).lines, []);
  assert.ok(changed.terms("scores", [0, 0, 0]).lines.length > 0);
});
