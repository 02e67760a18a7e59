// Rows of words: on the sheet in a hand each word, or answer, is a row, and each band that holds one number for it a column.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { short } from "../pass/numeral.js";
import { cellAt, numberAt, restAt } from "./bandFace.js";
import { isShownBy } from "./bandParts.js";
import { sumOf } from "./bandWords.js";
import { drawHandCell, drawOpened } from "./handCell.js";
import { sumInA } from "./handPair.js";
import { headingOf, sentenceOf, whatIsKept, whoAsks } from "./handWords.js";

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
  for (const place of parts[0].columns) {
    const faces = lines.map(part => (part.isThere ? cellAt(part, paint, 0, place) : null)),
      owns = lines.map(({ key }) => `${key}@${[0, place]}`);
    const open = owns.findIndex(state.isOpen),
      line = element("tr");
    line.append(
      drawWord(axis, place, paint, acts),
      ...(strip
        ? [drawStrip(strip, place, lines.length, paint)]
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
  const line = element("tr", "others"),
    name = element("th", "", `other ${lines[0].rest.length}`);
  name.scope = "row";
  line.append(name, ...lines.map(part => element("td", "", restAt(part, paint, 0).text)));
  return line;
}

// A word of the sentence asks when it is tapped; another is selected.
function drawWord(axis, place, { pass, where: { cell } }, acts) {
  const name = element("th"),
    isOneSentence = axis.name === "key" && pass.document.words.shared,
    asks = isOneSentence && cell.query === place;
  const act = button(axis.labels[place], () => acts.select(axis.name, place, false), "stop");
  name.scope = "row";
  act.dataset.act = `${axis.name} ${place}`;
  act.setAttribute("aria-pressed", isOneSentence ? asks : cell[axis.name] === place);
  name.className = `${asks ? "asks" : ""} ${cell[axis.name] === place ? "chosen" : ""}`.trim();
  name.append(act);
  return name;
}

// A key before it is compared: its numbers as colours.
function drawStrip(part, place, width, paint) {
  return stripOf(part.cells.size[0], width, row => cellAt(part, paint, row, place));
}

// The query that the keys below it are to be compared with.
function drawQuery(part, width, paint) {
  const line = element("tr", "asking"),
    name = element("th", "q", part.left.stage.one);
  name.scope = "row";
  line.append(
    name,
    stripOf(part.left.size[0], width, row => numberAt(part.left, paint, row, 0)),
  );
  return line;
}

function stripOf(length, width, faceOf) {
  const cell = wide(element("td", "strip"), width),
    box = element("span");
  box.append(
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
  const cell = element("td"),
    sum = short(sumOf(part, paint)),
    there = sumInA(paint, part, sum);
  cell.append(...(there ? [element("small", "", there), " "] : []), sum);
  return cell;
}

function drawLeftover(lines, paint, state) {
  const part = lines.find(({ leftover, isThere }) => leftover && isThere);
  if (!part) return [];
  const face = numberAt(part.leftover, paint, 0, 0),
    own = `${part.key} leftover`;
  return [
    footLine(
      part.leftover.stage.one,
      lines.map(each => (each === part ? drawHandCell(face, own, state) : element("td"))),
    ),
    ...(state.isOpen(own) ? [drawOpened(lines.length + 1, state.workings(part, face, null))] : []),
  ];
}

function footLine(text, cells) {
  const line = element("tr"),
    name = element("th", "", text);
  name.scope = "row";
  line.append(name, ...cells);
  return line;
}
