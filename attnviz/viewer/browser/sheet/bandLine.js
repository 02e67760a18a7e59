// Lines: one row of a part of the sheet: what is said beside it, what stands at its left, under its columns, and at its right.
import { button } from "../elements/button.js";
import { background, css, mixed, textOn } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { drawRuns, runsAt } from "../elements/runs.js";
import { hasWords, isOfHeads } from "../pass/axes.js";
import { bracketed, digits, short } from "../pass/numeral.js";
import { faceAt } from "../picture/face.js";
import { blanks } from "./blanks.js";
import { factorsAt, productAt, selectedColumn, sumOfProducts } from "./bandParts.js";

const BLANK = { kind: "to-come", text: "" }, NOTHING = { kind: "blank", text: "" };
const FAINTEST = 0.12; // of a value's colour, where its share is nothing

// The line of a part that is the `nth` of `height`, in a table of `width` columns.
export function makeLine(part, { place, nth, height, width }, acts) {
  const { cells, left, band } = part, line = element("tr"), isTogether = nth === part.rows.length;
  const many = part.columns.map(() => makeCell(acts)), ones = part.beside.map(() => makeCell(acts));
  const isFirst = nth === 0, hasHeads = isOfHeads(cells.rows), isLabelled = isFirst || hasHeads || isTogether;
  const said = element("td", "said"), before = left ? makeCell(acts) : null, label = element("th", "label"), sum = element("td", "sum");
  said.rowSpan = height;
  label.rowSpan = hasHeads || isTogether ? 1 : part.rows.length;
  label.scope = height > 1 ? "rowgroup" : "row";
  const end = ones.length ? ones.map((each) => each.element) : band.cells.sums ? [sum] : blanks(1);
  line.append(...(isFirst ? [said] : []), ...(before ? [before.element] : isLabelled ? [label] : []), ...many.map((each) => each.element),
    ...blanks(width + 1 - many.length - end.length), ...end);
  if (isFirst) line.className = "first";
  if (hasWords(cells.columns)) line.classList.add("of-words");
  if (height === 1) line.classList.add("single");
  const all = [...(before ? [before] : []), ...many, ...ones];
  return {
    element: line,
    place,
    isSingle: height === 1,
    cells: () => all.filter(({ isThere }) => isThere()).map((each) => each.element),
    mark: (own, sources) => { for (const each of all) each.mark(own, sources); },
    update(part, paint) {
      const row = isTogether ? null : part.rows[nth], column = selectedColumn(paint.pass, part);
      line.classList.toggle("lit", part.isLit);
      if (hasHeads || isFirst) label.textContent = hasHeads ? cells.rows.labels[row] : part.band.label;
      if (isFirst) said.replaceChildren(...drawSaid(part, paint, acts));
      for (const [each, at] of many.map((cell, i) => [cell, part.columns[i]])) {
        each.update(isTogether ? togetherAt(part, paint, at) : cellAt(part, paint, row, at), at === column);
      }
      if (before) before.update(isTogether ? NOTHING : part.isThere ? numberAt(part.left, paint, row, 0) : BLANK, false);
      if (isTogether) (before?.element ?? label).replaceChildren(othersOf(part, acts));
      ones.forEach((each, i) => { each.update(isTogether ? NOTHING : part.isWhole ? numberAt(part.right, paint, row, part.beside[i]) : BLANK, false); });
      if (part.band.cells.sums) sum.textContent = part.isWhole ? `sum ${short(sumOf(part, paint))}` : "";
    },
  };
}

function cellAt(part, paint, row, column) {
  if (!part.isThere) return BLANK;
  if (part.band.array) return arrayAt(part, paint, column);
  const face = numberAt(part.cells, paint, row, column);
  return part.right?.columns.name === "" && face.kind === "number" ? { ...face, ...faded(part, paint, row, column) } : face;
}

// A number of the pass, and what it was before others were set by hand.
function numberAt(slot, paint, row, column) {
  const { name } = slot, index = slot.index(row, column), old = paint.before(name, index);
  const value = paint.pass.number(name, index), face = faceAt(slot, paint, row, column);
  return { ...face, cell: { name, index }, label: `${paint.pass.nameOf(name, index)} = ${digits(value ?? 0)}`, was: old !== undefined && old !== value ? short(old) : "" };
}

// A number that the stage's rule holds and no stage: it opens as the share that it becomes.
function arrayAt({ cells, band: { array, label } }, { pass, colours }, column) {
  const index = cells.index(0, column), value = pass.named(cells.name, array, index)[column];
  const colour = background(value, { scale: "share" }, colours);
  return { kind: "number", text: short(value), colour: css(colour), ink: css(textOn(colour)), array, cell: { name: cells.name, index }, label: `${label} = ${digits(value)}` };
}

// A value is as strong as its share.
function faded(part, { pass, look, colours }, row, column) {
  const [share] = factorsAt(pass, part, row, column), { stage } = part.cells;
  const most = Math.max(...Array.from({ length: part.cells.size[1] }, (_, at) => factorsAt(pass, part, row, at)[0])) || 1;
  const own = background(look.pass.number(part.cells.name, part.cells.index(row, column)), stage, colours);
  const colour = mixed(own, colours.page, FAINTEST + (1 - FAINTEST) * Math.max(0, share / most));
  return { colour: css(colour), ink: css(textOn(colour)) };
}

// The products of all rows that stand together.
function togetherAt(part, { pass }, column) {
  if (!part.isThere || !part.left) return NOTHING;
  const sum = sumOfProducts(pass, part, part.others, column);
  return { kind: "together", text: short(sum), label: `${part.others.length} other products together = ${digits(sum)}` };
}

function othersOf({ key, others }, acts) {
  return button(`other ${others.length}`, () => acts.open(key), "link");
}

// What is said of a part; where it multiplies, its products under the selected column, row by row.
function drawSaid(part, paint, acts) {
  const { pass, where } = paint, { band, others, isLong, key } = part;
  if (!part.isThere) return [];
  const fold = isLong && !others.length ? [button("the largest alone", () => acts.open(key), "link")] : [];
  if (part.multiplies && !part.isTraced) return [drawProducts(part, paint), ...fold];
  const line = element("p");
  line.append(...drawRuns(runsAt(pass, band.said, where.cell)));
  return [line, ...drawWays(part, acts), ...fold];
}

// The ways from the first band to where its numbers are from, and back.
function drawWays({ isTraced, step: { sources, layer }, band }, acts) {
  if (!sources.length || !band.left) return [];
  const line = element("p", "ways");
  if (isTraced) line.append(button("back to the sheet", () => acts.trace(""), "link"));
  else line.append("from: ", ...sources.map(({ name }) => button(name, () => acts.trace(name), "link")));
  if (layer > 1) line.append(button(`layer ${layer - 1}`, () => acts.follow(layer - 1), "link"));
  return [line];
}

function drawProducts(part, { pass }) {
  const column = selectedColumn(pass, part), box = element("div", "products");
  box.append(...part.rows.map((row) => {
    const [one, other] = factorsAt(pass, part, row, column);
    return element("span", "", `${digits(one)} × ${bracketed(other, digits)} = ${digits(productAt(pass, part, row, column))}`);
  }));
  if (part.others.length && part.left) box.append(element("span", "", `other ${part.others.length} together: ${digits(sumOfProducts(pass, part, part.others, column))}`));
  return box;
}

function sumOf({ cells, band }, { pass }) {
  const index = cells.index(0, 0), numbers = band.array ? pass.named(cells.name, band.array, index) : pass.row(cells.name, index);
  return numbers.reduce((sum, each) => sum + each, 0);
}

// A cell of the table: {element, update(face, isChosen), mark(own, sources), isThere()}.
function makeCell({ pick, point, edit }) {
  const made = element("td"), was = element("s");
  made.setAttribute("role", "gridcell");
  made.append("", was);
  let face = BLANK, written = "", address = "";
  const change = () => { if (face.cell && !face.array) edit(face.cell, made); };
  made.onclick = () => { if (face.cell) pick(face.cell.name, face.cell.index); };
  made.ondblclick = change;
  made.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (made.classList.contains("focus")) change();
    else made.click();
  };
  made.onpointerenter = () => { if (face.cell) point(face.cell.name, face.cell.index); };
  made.onpointerleave = () => { if (face.cell) point(face.cell.name, null); };
  made.onfocus = () => made.setAttribute("aria-label", face.label ?? "");
  made.onblur = () => made.removeAttribute("aria-label");
  return {
    element: made,
    isThere: () => Boolean(face.cell),
    update(next, isChosen) {
      face = next;
      address = face.cell && !face.array ? `${face.cell.name}[${face.cell.index}]` : "";
      const now = JSON.stringify([face.kind, face.text, face.colour, face.marked, face.was, isChosen, address]);
      if (now === written) return;
      written = now;
      made.className = `${face.kind}${isChosen ? " chosen" : ""}${face.marked ? " marked" : ""}`;
      made.dataset.cell = address;
      made.firstChild.data = face.text;
      if (was.textContent !== (face.was ?? "")) was.textContent = face.was ?? "";
      Object.assign(made.style, { backgroundColor: face.colour ?? "", color: face.ink ?? "" });
    },
    mark(own, sources) {
      made.classList.toggle("focus", address !== "" && address === own);
      made.classList.toggle("source", sources.has(address));
    },
  };
}
