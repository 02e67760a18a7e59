import "./document.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { describe } from "../../attnviz/ui/viewer/browser/description.js";
import { placeOf } from "../../attnviz/ui/viewer/browser/equation.js";
import { drawMatrix, isRead } from "../../attnviz/ui/viewer/browser/table.js";

const COLOURS = { negative: [0, 0, 200], positive: [200, 0, 0], share: [0, 200, 0], page: [255, 255, 255] };
const MATRIX = {
  cells: [["q[0,0]", "q[0,1]", "q[0,2]", "q[0,3]"], ["q[1,0]", "q[1,1]", "q[1,2]", "q[1,3]"]],
  symbol: "Q_1", title: "Queries", counts: "queries × d_k", rows: ["the", "constructor"], columns: ["1", "2", "3", "4"],
  values: [[-2, 2, null, 0], [0.126, -1, 1, 1]], scale: "signed", limit: 2, gap: "-inf", marked: null, role: "q",
  selected: [1, 2], sign: "", after: "", reads: "row", shift: 0, band: 2, selectedBand: 1, whyHidden: "it comes later",
};
const AXES = { q: [{ labels: MATRIX.rows, coordinates: [] }, { labels: MATRIX.columns, coordinates: [] }] };
const draw = (changes = {}, small = false) => drawMatrix({ ...MATRIX, ...changes }, COLOURS, small);
const texts = (elements) => elements.map((each) => each.textContent);
const having = (table, name) => table.cells.flatMap((line, row) => line.flatMap((cell, column) =>
  cell.classes.has(name) ? [`${row},${column}`] : []));

test("every cell has its number, every row and column its label", () => {
  const { cells, figure } = draw();
  assert.deepEqual(cells.map(texts), [["−2.00", "2.00", "-inf", "0.00"], ["0.13", "−1.00", "1.00", "1.00"]]);
  assert.deepEqual(texts(figure.querySelectorAll("th")), ["head 1", "head 2", "1", "2", "3", "4", "the", "constructor"]);
  assert.equal(figure.querySelector("figcaption").textContent, "Q1 Queries2 × 4: queries × d_k");
});

test("negative numbers are blue here, positive ones red, hidden ones hatched and without a colour", () => {
  const table = draw();
  assert.deepEqual(table.cells[0].map((cell) => cell.style.backgroundColor), ["rgb(25,25,206)", "rgb(206,25,25)", undefined, "rgb(255,255,255)"]);
  assert.deepEqual(table.cells[0].map((cell) => cell.style.color), ["rgb(255,255,255)", "rgb(255,255,255)", undefined, "rgb(0,0,0)"]);
  assert.deepEqual(having(table, "hidden"), ["0,2"]);
  const flags = draw({ scale: "flag", values: [[true, false, true, true], [true, true, true, true]] });
  assert.deepEqual(having(flags, "hidden"), ["0,1"]);
  assert.ok(flags.cells.flat().every((cell) => cell.style.backgroundColor === undefined));
});

test("a matrix wears the colour of its role", () => {
  for (const role of ["q", "k", "v", "output"]) assert.ok(draw({ role }).figure.classes.has(role));
});

test("bands have borders, and those of other heads are dimmed", () => {
  assert.deepEqual(having(draw(), "new-band"), ["0,2", "1,2"]);
  assert.deepEqual(having(draw(), "other-band"), ["0,0", "0,1", "1,0", "1,1"]);
  assert.deepEqual(having(draw({ selectedBand: null }), "other-band"), []);
  assert.deepEqual(having(draw({ band: 0, selectedBand: null }), "new-band"), []);
});

test("marks are where they are set", () => {
  assert.deepEqual(having(draw(), "marked"), []);
  assert.deepEqual(having(draw({ marked: [[false, true, false, false], [false, false, false, false]] }), "marked"), ["0,1"]);
});

test("the selected cell alone is reached with Tab", () => {
  const reached = draw().cells.flat().filter((cell) => cell.tabIndex === 0);
  assert.deepEqual(reached.map((cell) => [cell.dataset.row, cell.dataset.column]), [[1, 2]]);
});

test("small tables have neither labels nor digits, but say their numbers", () => {
  const { cells, figure } = draw({}, true);
  assert.deepEqual(texts(figure.querySelectorAll("th")), []);
  assert.deepEqual(texts(cells.flat()).join(""), "");
  assert.equal(cells[0][0].attributes.get("aria-label"), "−2.00");
});

test("a row, a column or a cell is outlined", () => {
  const table = draw();
  const outlined = (...read) => { table.mark(...read); return having(table, "read"); };
  assert.deepEqual(outlined("row", 1, 2), ["1,0", "1,1", "1,2", "1,3"]);
  assert.deepEqual(outlined("column", 1, 2), ["0,2", "1,2"]);
  assert.deepEqual(outlined("cell", 1, 2), ["1,2"]);
  assert.equal(isRead("", 1, 2, 1, 2), false);
});

test("a cell is described with all digits, a hidden one with why", () => {
  assert.equal(describe(AXES, MATRIX, 1, 0), "q[constructor, 1] = 0.126");
  assert.equal(describe(AXES, MATRIX, 0, 2), "q[the, 3] = -inf: it comes later");
  const flags = { ...MATRIX, scale: "flag", values: [[true, false], []] };
  assert.equal(describe(AXES, flags, 0, 0), "q[the, 1] = visible");
  assert.equal(describe(AXES, flags, 0, 1), "q[the, 2] = hidden: it comes later");
});

test("a cell is found in a matrix by its address", () => {
  assert.deepEqual(placeOf(MATRIX, ["k[0,0]", "q[1,3]"]), [1, 3]);
  assert.equal(placeOf(MATRIX, ["k[0,0]"]), null);
});
