// The rows of the One word view on a phone, one for each word.
import { short } from "../model/numeral.js";
import { areApart } from "../model/looks.js";
import { button, element, h } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { cellAt, keptIn, numberAt, restAt, runsOf, sumOf } from "./bandFace.js";
import { isShownBy } from "./bandParts.js";

// `id` names it among all, `state` knows which is open, and what stands there in a pass beside it.
function drawHandCell(face, id, { isOpen, tap, inA }) {
  const cell = element("td", face && !face.cell ? face.kind : "");
  if (!face?.cell) return cell;
  const act = element("button", `stop ${face.kind}${face.marked ? " marked" : ""}`, face.text),
    now = isOpen(id);
  act.type = "button";
  act.dataset.act = id;
  act.dataset.cell = `${face.cell.name}[${face.cell.index}]`;
  act.setAttribute("aria-expanded", now);
  act.onclick = () => tap(id, face.cell);
  const there = inA(face);
  if (there) {
    act.prepend(element("small", "", there), " ");
    act.setAttribute("aria-label", `A ${there}, B ${face.text}`);
  }
  if (face.was) act.append(" ", element("s", "", face.was));
  Object.assign(act.style, { backgroundColor: face.colour ?? "", color: face.ink ?? "" });
  cell.append(act);
  return cell;
}

// The row below the one that was tapped.
function drawOpened(width, made) {
  const cell = h("td", { colSpan: width }, made);
  return h("tr", { class: "opened" }, cell);
}

// The number of A as text, beside that of a face, where they differ; "" where they don't, or where none is there.
export function inA(paint, { cell: { name, index }, array = "" }) {
  const { pass, look } = paint,
    there = placeInA(paint, name, index, array);
  if (!there) return "";
  const numberIn = (whose, at) => (array ? whose.named(name, array, at)[at.at(-1)] : whose.number(name, at)),
    [one, now] = [numberIn(look.pair.pass, there), numberIn(pass, index)];
  return one !== undefined && areApart(one, now, pass.document.other.stages[name].tolerance) ? short(one) : "";
}

// The sum of a row of A as text, where it is written otherwise than that of B.
function sumInA(paint, { cells: { name, index }, band: { array = "" } }, now) {
  const there = placeInA(paint, name, index(0, 0), array),
    { pair } = paint.look;
  if (!there) return "";
  const numbers = array ? pair.pass.named(name, array, there) : pair.pass.row(name, there),
    sum = short(numbers.reduce((all, each) => all + each, 0));
  return sum === now ? "" : sum;
}

// Where a number stands in A, if it is shown there.
function placeInA({ look: { pair } }, name, index, array) {
  const there = pair?.isThere ? pair.toA(name, index) : null;
  return there && pair.look.shown(name, there, array) ? there : null;
}

const PAIRED = "Where they differ: A above, B below.";

// The sentence of a band that is there; nothing of one that has none. Where slopes or what moved stand in place of its
// numbers, their title.
export function sentenceOf(part, paint) {
  const { band, cells, isThere } = part;
  if (!isThere || !band.sentence.length || paint.withoutText) return [];
  const title = paint.look.titleOf(cells.name);
  const line = h("p", { class: "said" }, ...(title ? [title] : drawRuns(runsOf(part, paint))));
  return [line];
}

// Whose row it is, and how another word asks.
function whoAsks({ pass, where, look, withoutText }) {
  const { query, shared, unit } = pass.document.words,
    line = element("p", "who"),
    word = element("strong", "q", `“${query[where.cell.query]}”`);
  const hint = shared && !withoutText ? `Tap a ${unit} to let it ask.` : "";
  line.append(word, " asks. ", element("span", "hint", [hint, look.pair?.isThere ? PAIRED : ""].join(" ").trim()));
  return line;
}

// The keys and values kept from the words before it, where a model writes on.
function whatIsKept({ pass, where }) {
  const kept = keptIn(pass, where);
  return kept ? [element("p", "hint", kept.text)] : [];
}

// The heading of a band.
function headingOf({ band: { array, label }, cells: { stage } }) {
  if (array) return array.slice(1);
  return label === stage.title ? stage.one : label;
}

const A_LINE = 4;

// `positions` are those that are shown, of all that `labels` name; faceOf(position) is null before they are there.
export function drawPlaces({ name, part, labels, places, faceOf, idOf }, state) {
  const body = element("tbody"),
    missing = labels.length - places.length;
  const table = h(
    "table",
    { class: "places", role: "grid" },
    element("caption", "", missing ? `${name}: the largest; ${missing} more` : name),
    body,
  );
  for (let from = 0; from < places.length; from += A_LINE) {
    const here = places.slice(from, from + A_LINE),
      line = element("tr"),
      head = element("th", "", rangeOf(here.map(position => labels[position])));
    head.scope = "row";
    const faces = here.map(position => faceOf?.(position)),
      open = here.findIndex(position => state.isOpen(idOf(position)));
    line.append(head, ...here.map((position, nth) => drawHandCell(faces[nth], idOf(position), state)));
    body.append(line, ...(faces[open]?.cell ? [drawOpened(A_LINE + 1, state.workings(part, faces[open]))] : []));
  }
  return table;
}

// Places in a row as the first and the last of them.
function rangeOf(labels) {
  const isRow = labels.every((label, nth) => !nth || Number(label) === Number(labels[nth - 1]) + 1);
  return isRow && labels.length > 1 ? `${labels[0]}–${labels.at(-1)}` : labels.join(", ");
}

// `parts` are the bands of a list: what is compared, and what comes of it. `collected` is the band of their values, if any.
export function drawWordRows(parts, collected, paint, state, acts) {
  const box = element("section"),
    table = element("table", "rows"),
    {
      cells: { columns: axis },
    } = parts[0];
  const compared = parts.find(({ left }) => left),
    lines = parts.filter(({ left }) => !left);
  const last = parts.findLast(({ isThere, band }) => isThere && band.sentence.length) ?? parts[0];
  const current = parts.filter(part => part === last || (part.step === last.step && part.isThere && last.isLit));
  const strip = compared?.isThere && !lines[0]?.isThere ? compared : null;
  if (parts.some(({ isLit }) => isLit)) box.classList.add("lit");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", `${paint.pass.document.words.query[paint.where.cell.query]}: its ${axis.title}`);
  table.append(drawHead(lines, strip, axis, paint.pass.document.words));
  const body = element("tbody");
  if (strip) body.append(drawQuery(strip, lines.length, paint));
  for (const position of parts[0].columns) {
    const faces = lines.map(part => (part.isThere ? cellAt(part, paint, 0, position) : null)),
      owns = lines.map(({ key }) => `${key}@${[0, position]}`);
    const open = owns.findIndex(state.isOpen);
    const line = h(
      "tr",
      {},
      drawWord(axis, position, paint, acts),
      ...(strip
        ? [drawStrip(strip, position, lines.length, paint)]
        : faces.map((face, nth) => drawHandCell(face, owns[nth], state))),
    );
    body.append(
      line,
      ...(faces[open]?.cell ? [drawOpened(lines.length + 1, state.workings(lines[open], faces[open], collected))] : []),
    );
  }
  if (parts[0].rest.length && !strip) body.append(drawRest(lines, paint));
  table.append(body, ...drawFoot(lines, paint, state));
  box.append(
    ...(axis.name === "key" && acts.isAsked ? [whoAsks(paint), ...(strip ? whatIsKept(paint) : [])] : []),
    ...current.flatMap(part => sentenceOf(part, paint)),
    table,
  );
  return box;
}

function drawHead(lines, strip, axis, { unit }) {
  const head = element("thead"),
    line = element("tr"),
    corner = element("th", "", axis.name === "answer" ? "answer" : unit);
  corner.scope = "col";
  const names = strip
    ? [wide(element("th", "", strip.cells.stage.one), lines.length)]
    : lines.map(part => element("th", part.isLit ? "now" : part.isThere ? "" : "later", headingOf(part)));
  for (const name of names) name.classList.toggle("with-digits", /\d/.test(name.textContent)); // these are read as numbers are
  for (const name of names) name.scope = "col";
  line.append(corner, ...names);
  head.append(line);
  return head;
}

function wide(cell, width) {
  cell.colSpan = width;
  return cell;
}

// The words that have no row.
function drawRest(lines, paint) {
  const name = element("th", "", `other ${lines[0].rest.length}`);
  const line = h("tr", { class: "others" }, name, ...lines.map(part => element("td", "", restAt(part, paint, 0).text)));
  name.scope = "row";
  return line;
}

// A word of the sentence asks when it is tapped; another is selected.
function drawWord(axis, position, { pass, where: { cell } }, acts) {
  const name = element("th"),
    isOneSentence = axis.name === "key" && pass.document.words.shared,
    asks = isOneSentence && cell.query === position;
  const act = button(axis.labels[position], () => acts.select(axis.name, position, false), "stop");
  name.scope = "row";
  act.dataset.act = `${axis.name} ${position}`;
  act.setAttribute("aria-pressed", isOneSentence ? asks : cell[axis.name] === position);
  name.className = `${asks ? "asks" : ""} ${cell[axis.name] === position ? "chosen" : ""}`.trim();
  name.append(act);
  return name;
}

// A key before it is compared: its numbers as colours.
function drawStrip(part, position, width, paint) {
  return stripOf(part.cells.size[0], width, row => cellAt(part, paint, row, position));
}

// The query that the keys below it are to be compared with.
function drawQuery(part, width, paint) {
  const name = element("th", "q", part.left.stage.one);
  const line = h(
    "tr",
    { class: "asking" },
    name,
    stripOf(part.left.size[0], width, row => numberAt(part.left, paint, row, 0)),
  );
  name.scope = "row";
  return line;
}

function stripOf(length, width, faceOf) {
  const cell = wide(element("td", "strip"), width);
  const box = h(
    "span",
    {},
    ...Array.from({ length }, (_, row) => {
      const made = element("i");
      made.style.backgroundColor = faceOf(row).colour ?? "";
      return made;
    }),
  );
  cell.append(box);
  return cell;
}

// The sums of rows, and below them what those of shares leave over.
function drawFoot(lines, paint, state) {
  const foot = element("tfoot");
  foot.append(...drawSums(lines, paint), ...drawLeftover(lines, paint, state));
  return foot.childElementCount ? [foot] : [];
}

function drawSums(lines, paint) {
  if (!lines.some(({ band, isThere }) => band.cells.sums && isThere)) return [];
  return [
    footLine(
      "sum",
      lines.map(part =>
        part.band.cells.sums && part.isThere && isShownBy(paint.look, part) ? sumCell(part, paint) : element("td"),
      ),
    ),
  ];
}

function sumCell(part, paint) {
  const sum = short(sumOf(part, paint)),
    there = sumInA(paint, part, sum);
  return h("td", {}, ...(there ? [element("small", "", there), " "] : []), sum);
}

function drawLeftover(lines, paint, state) {
  const part = lines.find(({ leftover, isThere }) => leftover && isThere);
  if (!part) return [];
  const face = numberAt(part.leftover, paint, 0, 0),
    key = `${part.key} leftover`;
  return [
    footLine(
      part.leftover.stage.one,
      lines.map(each => (each === part ? drawHandCell(face, key, state) : element("td"))),
    ),
    ...(state.isOpen(key) ? [drawOpened(lines.length + 1, state.workings(part, face, null))] : []),
  ];
}

function footLine(text, cells) {
  const name = element("th", "", text);
  const line = h("tr", {}, name, ...cells);
  name.scope = "row";
  return line;
}
