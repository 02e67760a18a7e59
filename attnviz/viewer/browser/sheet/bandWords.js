// The words beside a band: its sentence and the ways from it, or the products under the selected column.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { drawRuns, runsAt } from "../elements/runs.js";
import { noteOn, setInSlot } from "../pass/byHand.js";
import { short } from "../pass/numeral.js";
import { isMarked } from "./bandFace.js";
import { factorsAt, isShownBy, productAt, selectedColumn, sumOfProducts } from "./bandParts.js";

const GAP = "\u00a0_______\u00a0"; // in place of a number that is left to be written

// The sentence of a part; where it multiplies, its products under the selected column, row by row. Where slopes or what moved
// stand in place of its numbers, their title.
export function drawWords(part, paint, acts) {
  if (!part.isThere || paint.isBare) return [];
  if (paint.where.present) return showsProducts(part) ? [drawProducts(part, paint)] : [];
  return drawAll(part, paint, acts);
}

// The sentence above the sheet in a talk: that of the band that is lit.
export function drawSentences(parts, paint, acts) {
  const lit = parts.filter(({ isLit }) => isLit),
    isOne = lit.every(({ side }) => side === undefined);
  return lit.flatMap(part => (isOne ? [drawSentence(part, paint), ...foldOf(part, acts)] : drawApart(part)));
}

// Whether its products stand beside its rows.
export function showsProducts({ multiplies, isTraced, isThere, side }) {
  return isThere && multiplies && !isTraced && side === undefined;
}

function drawAll(part, paint, acts) {
  const fold = foldOf(part, acts);
  if (part.side !== undefined) return [...drawApart(part), ...fold];
  if (showsProducts(part) && !titleOf(part, paint)) return [drawProducts(part, paint), ...fold];
  return [drawSentence(part, paint), ...drawWays(part, acts), ...fold];
}

function foldOf({ isLong, others, key }, acts) {
  return isLong && !others.length ? [button("the largest alone", () => acts.open(key), "link")] : [];
}

// The title of other numbers than those that a sentence names.
function titleOf({ cells }, { look }) {
  return look.titleOf(cells.name);
}

function drawSentence(part, paint) {
  const title = titleOf(part, paint),
    line = element("p", "", title || null);
  if (!title) line.append(...drawRuns(runsOf(part, paint, gapsIn(part, paint.look))));
  return line;
}

// The sentence of a band, or on the marks that are in it.
export function runsOf(part, paint, gapAt) {
  const { marks } = part.cells.stage;
  if (marks && isMarked(part, paint)) return [["", marks]];
  return runsAt(paint.pass, part.band.sentence, part.selection, gapAt, setIn(part, paint));
}

// The numbers of a part that are set by hand: those in it, at its left and at its right.
export function setIn({ cells, left, right, leftover, band: { array } }, { pass }) {
  return [...(array ? [] : [cells]), left, right, leftover].flatMap(slot => (slot ? setInSlot(pass, slot) : []));
}

// Where a row is left to be written, all that its numbers tell is; on a worksheet also what it tells of other such numbers.
function gapsIn(part, look) {
  if (!isShownBy(look, part)) return () => GAP;
  return look.isWorksheet ? ({ name, index }) => (look.shown(name, index) ? null : GAP) : undefined;
}

// The words of a part of two passes: its name, over how far they are apart.
function drawApart({ cells: { stage }, band: { array, label }, side, note, isFirst, isAlone }) {
  const line = element("p");
  if (side !== "B" || isAlone)
    line.append(
      element("strong", "", array ? label : stage.title),
      ...(isFirst ? [": here they part"] : []),
      ...(note ? [element("br")] : []),
    );
  line.append(note);
  return [line];
}

// The ways from the first band of a step to where its numbers are from, and back.
export function drawWays({ isTraced, step: { sources, layer, bands }, band }, acts) {
  if (!sources.length || !(isTraced ? band.left : band === bands[0])) return [];
  const line = element("p", "ways");
  if (isTraced) line.append(button("back to the sheet", () => acts.trace(""), "link"));
  else line.append("from: ", ...sources.map(({ name }) => button(name, () => acts.trace(name), "link")));
  if (layer > 1 && band.left) line.append(button(`layer ${layer - 1}`, () => acts.follow(layer - 1), "link"));
  return [line];
}

function drawProducts(part, paint) {
  const { pass } = paint,
    column = selectedColumn(pass, part),
    box = element("div", "products");
  box.append(
    ...part.rows.map(row => {
      const [one, other] = factorsAt(pass, part, row, column);
      return element("span", "", `${short(one)} × ${short(other)} = ${short(productAt(pass, part, row, column))}`);
    }),
  );
  const together = () =>
    `other ${part.others.length} together: ${short(sumOfProducts(pass, part, part.others, column))}`;
  if (part.others.length) box.append(element("span", "", part.left ? together() : "")); // each stands beside its row
  const note = noteOn(pass, setIn(part, paint));
  if (note.length) box.append(element("span", "", note.map(({ text }) => text).join("")));
  return box;
}

// The sum of its row.
export function sumOf({ cells, band }, { pass, look }) {
  const index = cells.index(0, 0),
    numbers = band.array ? pass.named(cells.name, band.array, index) : look.pass.row(cells.name, index);
  return numbers.reduce((sum, each) => sum + each, 0);
}
