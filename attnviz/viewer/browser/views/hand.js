// The One word view on a phone: one column of tables, each with its working.
import { LABELS } from "../../generated/where.js";
import { hasWords, isOfHeads } from "../model/axes.js";
import { digits } from "../model/numeral.js";
import { QUESTIONS } from "../model/state.js";
import { button, element, h, redraw } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { drawBothValues } from "./readout.js";
import { cellAt, drawWays, numberAt } from "./bandFace.js";
import { drawPlaces, drawWordRows, inA, sentenceOf } from "./wordRows.js";

const FRAME_PX = 1000;

// Whether the page is a narrow frame, in which columns have no space for digits. embed=true means a frame, wherever it is opened.
export function isNarrowFrame({ self, top, innerWidth, location: { search } }) {
  return (self !== top || new URLSearchParams(search).get("embed") === "true") && innerWidth < FRAME_PX;
}

const MOST = 12,
  ALONE = 10; // of more lines the largest stand alone, the others together

// `part` is the number's band, `collected` the band of the values that it weights.
function drawWorkings({ band: { array } }, { cell: { name, index } }, { pass, where, look }, acts, collected = null) {
  const box = element("div", "workings"),
    terms = pass.terms(name, index),
    isShare = Boolean(collected) && !array && pass.stages.get(name).scale === "share";
  const story = array ? [] : drawStory(pass.story(name, index, where.cell)),
    areProducts = terms && !array && isProduct(terms);
  if (!array) box.append(...drawBothValues(pass, where, look, { name, index }));
  if (!areProducts) box.append(...story);
  if (!terms) box.append(element("p", "", `${pass.nameOf(name, index)} is on its way.`));
  else if (array) box.append(drawSum(terms.lines[index.at(-1)]));
  else if (areProducts) box.append(drawProducts(pass, terms, pass.number(name, index)), ...story);
  else if (terms.lines.length === 1) box.append(drawSum(terms.lines[0]));
  else
    box.append(
      element(
        "p",
        "sum",
        terms.lines.length ? `${digits(pass.number(name, index))} = ${terms.conclusion}` : terms.recipe,
      ),
    );
  if (isShare) box.append(drawValue(pass, collected, pass.number(name, index), where.cell));
  if (acts.ask) box.append(drawQuestions(acts));
  return box;
}

// Its numbers are no buttons: those would be too small for a finger.
function drawStory(pieces) {
  if (!pieces.length) return [];
  const line = element("p", "story");
  line.append(...pieces.map(({ text, style }) => element("span", style ?? "", text)));
  return [line];
}

function drawSum({ text, value }) {
  return element("p", "sum", `${text} = ${digits(value)}`);
}

function isProduct({ lines, between }) {
  return lines.length > 1 && between === " × " && lines.every(({ cells }) => cells.length === 2);
}

// The products, one a line, and their sum.
/** @param {Pass} pass */
function drawProducts(pass, { lines }, total) {
  const names = lines[0].cells.map(({ name }) => pass.stages.get(name)),
    size = ({ value }) => -Math.abs(value);
  const largest =
    lines.length > MOST ? [...lines].sort((one, other) => size(one) - size(other)).slice(0, ALONE) : lines;
  const alone = lines.filter(line => largest.includes(line)),
    others = lines.filter(line => !largest.includes(line));
  const rows = alone.map(({ cells, value, place }) => [
    labelOf(place),
    ...cells.map(({ name, index }) => digits(pass.number(name, index))),
    digits(value),
  ]);
  const together = others.length
    ? [[`other ${others.length}`, "", "", digits(others.reduce((sum, { value }) => sum + value, 0))]]
    : [];
  return tableOf([runsOver(lines), ...names, "product"], [...rows, ...together], ["sum", "", "", digits(total)]);
}

// The noun for the lines of a sum: dimensions, neurons or words.
function runsOver([{ place }]) {
  return place?.style === "word" ? "" : (place?.text.split(" ")[0] ?? "");
}

function labelOf(position) {
  return position ? position.text.replace("dimension ", "") : "";
}

// The value that an attention weight multiplies, dimension by dimension.
/** @param {Pass} pass */
function drawValue(pass, { cells }, share, { key }) {
  const rows = cells.rows.labels.map((label, row) => {
    const value = pass.number(cells.name, cells.index(row, key));
    return [label, digits(share), digits(value), digits(share * value)];
  });
  return tableOf(["dimension", { one: "share" }, cells.stage, "product"], rows, null);
}

function tableOf(names, rows, total) {
  const line = h(
    "tr",
    {},
    ...names.map(name => {
      const made = element("th", name.role ?? "", name.one ?? name);
      made.scope = "col";
      return made;
    }),
  );
  const head = h("thead", {}, line);
  const body = h("tbody", {}, ...rows.map(lineOf));
  const table = h("table", { class: "factors" }, head, body);
  if (total) {
    const foot = element("tfoot");
    foot.append(lineOf(total));
    table.append(foot);
  }
  return table;
}

function lineOf([label, ...numbers]) {
  const name = element("th", "", label);
  const line = h("tr", {}, name, ...numbers.map(text => element("td", "", text)));
  name.scope = "row";
  return line;
}

// Questions about the number that the panel answers.
function drawQuestions({ ask }) {
  return h(
    "p",
    { class: "questions" },
    ...QUESTIONS.slice(1).map(question =>
      button(`${LABELS[question][0].toUpperCase()}${LABELS[question].slice(1)}?`, () => ask(question)),
    ),
  );
}

const HAND = "(max-width: 599px)",
  MOST_PLACES = 16,
  MOST_NUMBERS = 6; // of a word, beside each other

export function isInHand() {
  return globalThis.matchMedia(HAND).matches || isNarrowFrame(globalThis);
}

// `acts` are those of the sheet. Returns {element, update(parts, paint)}.
export function makeHand(acts) {
  const box = element("div", "hand");
  let shown = null,
    opened = "",
    at = "",
    question = QUESTIONS[0],
    picked = false;

  // A tap on a cell opens or closes its working.
  const tap = (id, { name, index }) => {
    opened = opened === id ? "" : id;
    picked = true;
    acts.pick(name, index);
  };
  const draw = () => {
    const { parts, paint } = shown;
    const state = {
      isOpen: id => id === opened,
      tap,
      inA: face => inA(paint, face),
      workings: (part, face, collected) => drawWorkings(part, face, paint, acts, collected),
    };
    redraw(box, drawGroups(parts, paint, state, acts));
    const rows = rowsIn(box),
      cells = rows.flat();
    setTabStop(cells, cells.find(each => each.getAttribute("aria-expanded") === "true") ?? cells[0]);
  };
  rovingFocus(box, () => rowsIn(box));
  return {
    element: box,
    update(parts, paint) {
      const { step, reveal, picked: name } = paint.where,
        isFirst = !shown,
        now = `${step} ${reveal}`,
        isOther = now !== at;
      shown = { parts, paint };
      if (isOther && !picked) opened = isFirst && name ? ownOf(parts, paint, name) : "";
      draw();
      if (paint.where.ask !== question)
        bring(box.querySelector('[aria-expanded="true"]')?.closest("tr")); // above the panel
      else if (picked) bring(box.querySelector(".workings"));
      else if (isOther && !isFirst) bring(box.querySelector(".lit"));
      question = paint.where.ask;
      at = now;
      picked = false;
    },
    clear() {
      shown = null;
      box.replaceChildren();
    },
  };
}

function bring(position) {
  position?.scrollIntoView({ block: "nearest" });
}

function rowsIn(box) {
  return [...box.querySelectorAll("tr")]
    .map(line => [...line.querySelectorAll("button.stop")])
    .filter(({ length }) => length);
}

// The state's key of the cell that the address selects; "" if it isn't shown here.
function ownOf(parts, { pass, where }, name) {
  const part = parts.find(({ cells, band, left }) => cells.name === name && !band.array && !left);
  const position = part?.cells.placeOf(pass.indexAt(name, where.cell));
  return position ? `${part.key}@${position}` : "";
}

// Parts that follow each other with the same columns stand in one table, where their columns are words; those of a step that
// has no room beside the others in one of its own.
function drawGroups(parts, paint, state, acts) {
  const groups = [];
  for (const part of parts) {
    const isList = hasWords(part.cells.columns) && !isOfHeads(part.cells.rows),
      last = groups.at(-1);
    if (isList && last?.isList && hasRoomFor(part, last.parts, parts)) last.parts.push(part);
    else groups.push({ isList, parts: [part] });
  }
  const first = parts.find(({ left }) => left);
  return [
    ...groups
      .filter(group => group.parts.some(({ isThere }) => isThere))
      .flatMap(group =>
        group.isList
          ? drawList(group.parts, paint, state, { ...acts, isAsked: group === groups[0] })
          : drawVectors(group.parts[0], parts, paint, state),
      ),
    ...(first?.isThere && !paint.withoutText ? drawWays(first, acts) : []),
  ];
}

function hasRoomFor(part, together, parts) {
  if (together[0].cells.columns.name !== part.cells.columns.name) return false;
  const numbersIn = some => some.filter(({ left, right }) => !left && !right).length,
    ofStep = parts.filter(({ step }) => step === part.step);
  return together.at(-1).step === part.step || numbersIn([...together, ...ofStep]) <= MOST_NUMBERS;
}

// Words, or answers, with what their values add up to below them.
function drawList(parts, paint, state, acts) {
  const collected = parts.find(({ right }) => right),
    lines = parts.filter(part => part !== collected);
  return [
    drawWordRows(lines, collected, paint, state, acts),
    ...(collected?.isThere ? [drawFound(collected, paint, state)] : []),
  ];
}

// The rows of a matrix that are shown as positions of a vector: all, or the largest of many.
function placesOf({
  rows,
  others,
  cells: {
    size: [length],
  },
}) {
  return length > MOST_PLACES ? rows : [...rows, ...others].sort((one, other) => one - other);
}

function drawFound(part, paint, state) {
  const face = row => numberAt(part.right, paint, row, 0),
    { stage } = part.right;
  return vectorOf(
    part,
    stage.title,
    {
      labels: part.right.rows.labels,
      places: placesOf(part),
      faceOf: part.isWhole ? face : null,
      idOf: row => `${part.key} sum@${row}`,
    },
    paint,
    state,
  );
}

// A vector, what a matrix multiplies, or one vector for each head.
function drawVectors(part, parts, paint, state) {
  const { cells, left, right, band, columns, rightColumns } = part;
  if (!part.isThere) return [];
  if (left) {
    const isSeen = parts.some(({ cells: { name } }) => name === left.name);
    const places = placesOf(part);
    const idOf = row => `${part.key} left@${row}`,
      faceOf = row => numberAt(left, paint, row, 0);
    return isSeen
      ? [sectionOf(part, paint)]
      : [vectorOf(part, left.stage.title, { labels: left.rows.labels, places, faceOf, idOf }, paint, state)];
  }
  const slot = isOfHeads(cells.rows) && right ? right : cells,
    places = slot === right ? rightColumns : columns;
  return part.rows.map((row, nth) => {
    const name = isOfHeads(cells.rows)
      ? `${cells.rows.labels[row]}${right ? looksAt(part, paint, row) : ""}`
      : band.label;
    const faceOf = column => (slot === right ? numberAt(right, paint, row, column) : cellAt(part, paint, row, column));
    return vectorOf(
      nth ? { ...part, band: { ...band, sentence: [] } } : part,
      name,
      { labels: slot.columns.labels, places, faceOf, idOf: column => `${part.key}@${[row, column]}` },
      paint,
      state,
    );
  });
}

// Where a head looks most.
function looksAt({ cells }, { pass }, row) {
  const shares = cells.columns.labels.map((_, column) => pass.number(cells.name, cells.index(row, column)) ?? 0),
    most = shares.indexOf(Math.max(...shares));
  return `, most from “${cells.columns.labels[most]}”`;
}

function sectionOf(part, paint, ...children) {
  return h("section", { class: part.isLit ? "lit" : "" }, ...sentenceOf(part, paint), ...children);
}

function vectorOf(part, name, vector, paint, state) {
  return sectionOf(part, paint, drawPlaces({ ...vector, name, part }, state));
}
