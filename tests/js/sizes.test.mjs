// The sizes of the sheet's lines, and the strip above them, of boxes of many sizes.
import assert from "node:assert/strict";
import test from "node:test";
import { roomForColumns, setSizes } from "../../attnviz/viewer/browser/views/sizes.js";

const LETTERS = ["--digits", "--large", "--chosen", "--names"];
const PARTS = 6;
const lines = [{ isHeader: true }, ...Array(8).fill({}), ...Array(4).fill({ isSingle: true }), ...Array(4).fill({})];

function sized(clientWidth, clientHeight, columns, wanted, present = false) {
  const set = {},
    box = {
      clientWidth,
      clientHeight,
      scrollHeight: 0,
      style: {
        setProperty: (name, size) => {
          set[name] = Number.parseFloat(size);
        },
      },
    };
  const strip = setSizes(box, {
    extent: box,
    lines,
    parts: PARTS,
    columns,
    letters: { numbers: 6, names: 5, own: 15.2, wide: 0.53 },
    least: present ? 18 : 0,
    wanted,
  });
  return { set, strip };
}

const BOXES = [640, 900, 1240, 1900].flatMap(width =>
  [300, 420, 560, 700, 900].flatMap(height =>
    [3, 6, 12].flatMap(columns => [
      [width, height, columns, false],
      [width, height, columns, true],
    ]),
  ),
);

test("a strip stands where there is room for it, and no letter is smaller for it", () => {
  const strips = BOXES.map(([width, height, columns, present]) => {
    const [plain, withArcs] = [false, true].map(wanted => sized(width, height, columns, wanted, present));
    assert.equal(plain.strip, 0, "nobody asked for it");
    for (const name of LETTERS)
      assert.equal(withArcs.set[name], plain.set[name], `${name} of ${[width, height, columns, present]}`);
    assert.ok(withArcs.strip === 0 || withArcs.strip >= 56);
    assert.ok(withArcs.strip > 0 || withArcs.set["--line"] === plain.set["--line"]);
    return withArcs.strip;
  });
  assert.ok(strips.some(strip => strip > 0) && strips.includes(0));
});

test("what is said has the letters of its lines as long as nothing is cut off", () => {
  const { set } = sized(1240, 700, 6, false);
  assert.equal(set["--said-size"], Math.min(0.6 * set["--line"], 0.95 * 15.2).toFixed(2) * 1);
});

test("lines and strip fill no more than the box, where the lines alone do not", () => {
  const weight = lines.reduce((sum, { isSingle, isHeader }) => sum + (isSingle ? 1.4 : isHeader ? 1.2 : 1), 0);
  const heightOf = ({ set, strip }) => strip + weight * set["--line"] + 5 * PARTS + lines.length + 1;
  for (const [width, height, columns, present] of BOXES) {
    const [plain, withArcs] = [false, true].map(wanted => sized(width, height, columns, wanted, present));
    assert.ok(heightOf(withArcs) <= Math.max(height, heightOf(plain)) + 0.2, `${[width, height, columns, present]}`);
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
  for (const [width, height] of BOXES) {
    for (const columns of [3, 12, 16, 27]) {
      const { set } = sized(width, height, columns, false);
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
    return sized(width, height, 6, false).set;
  });
  delete globalThis.innerHeight;
  assert.ok(usual["--line"] <= 2 * 15.2);
  assert.ok(large["--line"] >= 4 * 15.2, `${large["--line"]}`);
  assert.ok(large["--digits"] >= 2 * 15.2, `${large["--digits"]}`);
});
