// The One word view on a phone: one column of tables, each with the working of the number that was tapped.
import { LABELS } from "../../generated/where.js";
import { hasWords, isOfHeads } from "../model/axes.js";
import { areApart } from "../model/looks.js";
import { digits, short } from "../model/numeral.js";
import { QUESTIONS } from "../model/state.js";
import { button, h, redraw, rovingFocus, setTabStop, table } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { cacheNoteAt, cellsAt, drawWays, endsAt, leftAt, numberAt, restAt, runsOf, sumOf } from "./oneWordCells.js";
import { added, isShownBy } from "./oneWordParts.js";
import { drawBothValues } from "./numberLists.js";

const FRAME_PX = 1000;

// Whether the page is a narrow frame, in which columns have no space for digits. embed=true means a frame, wherever it is opened.
export function isNarrowFrame({ self, top, innerWidth, location }) {
  const isFrame = self !== top || new URLSearchParams(location.search).get("embed") === "true";
  return isFrame && innerWidth < FRAME_PX;
}

const PHONE = "(max-width: 599px)";

export const isOnPhone = () => globalThis.matchMedia(PHONE).matches || isNarrowFrame(globalThis);

// `actions` are those of the view. Returns {element, update(parts, paint), clear()}.
export function makePhoneView(actions) {
  const box = h("div", { class: "hand" });
  let shown = null,
    opened = "", // the id of the cell whose working is there
    lastStep = "",
    lastQuestion = QUESTIONS[0],
    isTapped = false;
  const tap = (id, { name, index }) => {
    opened = opened === id ? "" : id;
    isTapped = true;
    actions.pick(name, index);
  };
  const draw = () => {
    const { parts, paint } = shown;
    redraw(box, drawGroups(parts, { paint, actions, tap, isOpen: id => id === opened }));
    const cells = rowsIn(box).flat();
    setTabStop(cells, cells.find(each => each.getAttribute("aria-expanded") === "true") ?? cells[0]);
  };
  rovingFocus(box, () => rowsIn(box));
  return {
    element: box,
    update(parts, paint) {
      const { step, reveal, picked, ask } = paint.where,
        isFirst = !shown,
        isOtherStep = `${step} ${reveal}` !== lastStep;
      shown = { parts, paint };
      if (isOtherStep && !isTapped) opened = isFirst && picked ? idOfPicked(parts, paint) : "";
      draw();
      if (ask !== lastQuestion)
        scrollTo(box.querySelector('[aria-expanded="true"]')?.closest("tr")); // above the panel
      else if (isTapped) scrollTo(box.querySelector(".workings"));
      else if (isOtherStep && !isFirst) scrollTo(box.querySelector(".lit"));
      lastQuestion = ask;
      lastStep = `${step} ${reveal}`;
      isTapped = false;
    },
    clear() {
      shown = null;
      box.replaceChildren();
    },
  };
}

function scrollTo(element) {
  element?.scrollIntoView({ block: "nearest" });
}

function rowsIn(box) {
  const rows = [...box.querySelectorAll("tr")].map(line => [...line.querySelectorAll("button.stop")]);
  return rows.filter(({ length }) => length);
}

// The id of the cell that the address selects; "" if it isn't shown here.
function idOfPicked(parts, { pass, where }) {
  const part = parts.find(({ cells, band, left }) => cells.name === where.picked && !band.array && !left),
    place = part?.cells.positionOf(pass.indexAt(where.picked, where.cell));
  return place ? `${part.key}@${place}` : "";
}

const MAX_NUMBERS = 6, // of a word, next to each other
  MAX_POSITIONS = 16, // of a vector
  POSITIONS_IN_LINE = 4;
const MAX_PRODUCTS = 12,
  MAX_IN_STRIP = 8,
  PRODUCTS_ALONE = 10; // of more products the largest have a line each, the others share one

// Parts that follow each other with the same columns stand in one table, where their columns are words; those of a step that
// has no room beside the others in one of its own. `view` is {paint, actions, tap(id, cell), isOpen(id)}.
function drawGroups(parts, view) {
  const groups = [];
  for (const part of parts) {
    const isList = hasWords(part.cells.columns) && !isOfHeads(part.cells.rows),
      last = groups.at(-1);
    if (isList && last?.isList && hasRoomFor(part, last.parts, parts)) last.parts.push(part);
    else groups.push({ isList, parts: [part] });
  }
  const drawn = groups.filter(group => group.parts.some(({ isThere }) => isThere)),
    compared = parts.find(({ left }) => left);
  return [
    ...drawn.flatMap(group =>
      group.isList ? drawList(group.parts, group === groups[0], view) : drawVectors(group.parts[0], parts, view),
    ),
    ...(compared?.isThere && !view.paint.withoutText ? drawWays(compared, view.paint, view.actions) : []),
  ];
}

function hasRoomFor(part, together, parts) {
  if (together[0].cells.columns.name !== part.cells.columns.name) return false;
  const numbersIn = some => some.filter(({ left, right }) => !left && !right).length,
    ofStep = parts.filter(({ step }) => step === part.step);
  return together.at(-1).step === part.step || numbersIn([...together, ...ofStep]) <= MAX_NUMBERS;
}

// Words, or answers, with what their values add up to below them.
function drawList(parts, isFirst, view) {
  const collected = parts.find(({ right }) => right),
    lines = parts.filter(part => part !== collected);
  const words = drawWords(lines, isFirst, view);
  return collected?.isThere ? [words, drawResult(collected, view)] : [words];
}

function drawResult(part, view) {
  const { paint } = view,
    rows = rowsAsPositions(part),
    faces = rows.map(row => (part.isWhole ? endsAt(part, paint, row)[0] : null));
  const cells = rows.map((row, nth) => ({ position: row, face: faces[nth], id: `${part.key} sum@${row}` }));
  return sectionOf(part, paint, drawVector(part, part.right.stage.title, part.right.rows.labels, cells, view));
}

// The rows of a matrix that are shown as positions of a vector: all, or the largest of many.
const rowsAsPositions = ({ rows, others, cells }) =>
  cells.size[0] > MAX_POSITIONS ? rows : [...rows, ...others].sort((one, other) => one - other);

// A vector, what a matrix multiplies, or one vector for each head.
function drawVectors(part, parts, view) {
  const { cells, left, right, band, columns, rightColumns } = part,
    { paint } = view;
  if (!part.isThere) return [];
  if (left) {
    if (parts.some(each => each.cells.name === left.name)) return [sectionOf(part, paint)]; // it is seen already
    const positions = rowsAsPositions(part).map(row => ({
      position: row,
      face: leftAt(part, paint, row),
      id: `${part.key} left@${row}`,
    }));
    return [sectionOf(part, paint, drawVector(part, left.stage.title, left.rows.labels, positions, view))];
  }
  const hasHeads = isOfHeads(cells.rows),
    isOfResults = hasHeads && right;
  return part.rows.map((row, nth) => {
    const name = hasHeads ? cells.rows.labels[row] + (right ? mostWeightedText(part, paint, row) : "") : band.label,
      faces = isOfResults ? endsAt(part, paint, row) : cellsAt(part, paint, row);
    const positions = (isOfResults ? rightColumns : columns).map((column, i) => ({
      position: column,
      face: faces[i],
      id: `${part.key}@${[row, column]}`,
    }));
    const shown = nth ? { ...part, band: { ...band, sentence: [] } } : part;
    const { labels } = (isOfResults ? right : cells).columns;
    return sectionOf(shown, paint, drawVector(shown, name, labels, positions, view));
  });
}

function mostWeightedText({ cells }, { pass }, row) {
  const { labels } = cells.columns,
    weights = labels.map((_, column) => pass.number(cells.name, cells.index(row, column)) ?? 0);
  return `, most from “${labels[weights.indexOf(Math.max(...weights))]}”`;
}

const sectionOf = (part, paint, ...children) =>
  h("section", { class: part.isLit ? "lit" : "" }, ...sentenceOf(part, paint), ...children);

// `positions` are {position, face, id} of those that are shown, of all that `labels` name; a face is null before it is there.
function drawVector(part, name, labels, positions, view) {
  const missing = labels.length - positions.length,
    rows = [];
  for (let from = 0; from < positions.length; from += POSITIONS_IN_LINE) {
    const here = positions.slice(from, from + POSITIONS_IN_LINE),
      open = here.find(({ id }) => view.isOpen(id)),
      head = h("th", { scope: "row" }, rangeOf(here.map(({ position }) => labels[position])));
    rows.push([head, ...here.map(({ face, id }) => drawCell(face, id, view))]);
    if (open?.face?.cell) rows.push(drawOpened(POSITIONS_IN_LINE + 1, drawWorkings(part, open.face, view)));
  }
  const caption = missing ? `${name}: the largest; ${missing} more` : name;
  return table({ class: "places", role: "grid" }, { caption, rows });
}

function rangeOf(labels) {
  const isRow = labels.every((label, nth) => !nth || Number(label) === Number(labels[nth - 1]) + 1);
  return isRow && labels.length > 1 ? `${labels[0]}–${labels.at(-1)}` : labels.join(", ");
}

// `parts` are the bands of a list: the words in its rows, the parts in its columns.
function drawWords(parts, isFirst, view) {
  const { paint, actions } = view,
    { pass, where } = paint,
    { columns: axis } = parts[0].cells;
  const compared = parts.find(({ left }) => left),
    shown = parts.filter(({ left }) => !left),
    isCompared = shown[0]?.isThere && isShownBy(paint.look, shown[0]),
    strip = compared?.isThere && !isCompared ? compared : null; // keys before they are compared, or while a question covers the scores
  const last = parts.findLast(({ isThere, band }) => isThere && band.sentence.length) ?? parts[0],
    current = parts.filter(part => part === last || (part.step === last.step && part.isThere && last.isLit));
  const faces = shown.map(part => (part.isThere ? cellsAt(part, paint, 0) : null)),
    strips = strip ? strip.columns.map(column => drawStrip(strip.cells, column, shown.length, paint)) : [];
  const rows = parts[0].columns.flatMap((position, nth) => {
    const ids = shown.map(({ key }) => `${key}@${[0, position]}`),
      open = ids.findIndex(view.isOpen),
      face = faces[open]?.[nth];
    const cells = strip ? [strips[nth]] : ids.map((id, column) => drawCell(faces[column]?.[nth], id, view));
    const line = [drawWord(axis, position, paint, actions), ...cells];
    if (!face?.cell) return [line];
    return [line, drawOpened(shown.length + 1, drawWorkings(shown[open], face, view))];
  });
  if (strip) rows.unshift(drawQuery(strip, shown.length, paint));
  else if (parts[0].rest.length) rows.push(drawRest(shown, paint));
  const words = pass.wordsAt(where.step),
    label = `${words.query[where.cell.query]}: its ${axis.title}`,
    lines = { head: [drawHead(shown, strip, axis, words)], rows, foot: drawFoot(shown, view) };
  const note = strip ? cacheNoteAt(pass, where) : null;
  return h(
    "section",
    { class: parts.some(({ isLit }) => isLit) ? "lit" : "" },
    ...(axis.name === "key" && isFirst ? [drawAsker(paint)] : []),
    ...(axis.name === "key" && isFirst && note ? [h("p", { class: "hint" }, note.text)] : []),
    ...current.flatMap(part => sentenceOf(part, paint)),
    table({ class: "rows", role: "grid", "aria-label": label }, lines),
  );
}

// Whose row it is, and how another word asks.
function drawAsker({ pass, where, look, withoutText }) {
  const { query, shared, unit } = pass.wordsAt(where.step),
    hint = shared && !withoutText ? `Tap a ${unit} to let it ask.` : "",
    paired = look.pair?.isThere ? "Where they differ: A above, B below." : "";
  const word = h("strong", { class: "q" }, `“${query[where.cell.query]}”`),
    hints = h("span", { class: "hint" }, [hint, paired].join(" ").trim());
  return h("p", { class: "who" }, word, " asks. ", hints);
}

function drawHead(parts, strip, axis, { unit }) {
  const nameOf = ({ band: { array, label }, cells: { stage } }) =>
    array ? array.slice(1) : label === stage.title ? stage.one : label;
  const heading = (text, name = "") => {
    const hasDigits = /\d/.test(text); // these are read as numbers are
    const hyphenated = text.replace("attention", "atten\u00adtion"); // a narrow column breaks the word there
    return h("th", { class: hasDigits ? `${name} with-digits` : name, scope: "col" }, hyphenated);
  };
  const names = strip
    ? [Object.assign(heading(strip.cells.stage.one), { colSpan: parts.length })]
    : parts.map(part => heading(nameOf(part), part.isLit ? "now" : part.isThere ? "" : "later"));
  const corner = h("th", { scope: "col" }, axis.name === "answer" ? "answer" : unit);
  return [corner, ...names];
}

// A word of the sentence asks when it is tapped; another is selected.
function drawWord(axis, position, { pass, where: { cell, step } }, actions) {
  const isOneSentence = axis.name === "key" && pass.wordsAt(step).shared,
    asks = isOneSentence && cell.query === position,
    isChosen = cell[axis.name] === position;
  const act = button(axis.labels[position], () => actions.select(axis.name, position, false), "stop");
  act.dataset.act = `${axis.name} ${position}`;
  act.setAttribute("aria-pressed", isOneSentence ? asks : isChosen);
  return h(
    "th",
    {
      class: `${asks ? "asks" : ""} ${isChosen ? "chosen" : ""} ${axis.name === "answer" ? "of-answers" : ""}`,
      scope: "row",
    },
    act,
  );
}

function drawRest(parts, paint) {
  const texts = parts.map(part => restAt(part, paint, 0).text);
  return rowOf(`other ${parts[0].rest.length}`, texts.map(cellOf), "others");
}

const rowOf = (name, cells, className = "", ofName = "") =>
  h("tr", { class: className }, h("th", { class: ofName, scope: "row" }, name), ...cells);

const cellOf = text => h("td", {}, text);
// The query that the keys below it are to be compared with.
const drawQuery = ({ left }, width, paint) => rowOf(left.stage.one, [drawStrip(left, 0, width, paint)], "asking", "q");

// The numbers of a short vector, in two lines; of a longer one their colours.
function drawStrip(slot, column, width, paint) {
  const faces = Array.from({ length: slot.size[0] }, (_, row) => numberAt(slot, paint, row, column)),
    hasDigits = faces.length <= MAX_IN_STRIP;
  const marks = faces.map(({ text, colour, ink }) =>
    h("i", { style: { backgroundColor: colour ?? "", color: ink ?? "" } }, hasDigits ? text : ""),
  );
  return h("td", { class: "strip", colSpan: width }, h("span", { class: hasDigits ? "digits" : "" }, ...marks));
}

// The sums of rows, and below them what those of attention weights leave over.
function drawFoot(parts, view) {
  const { paint } = view,
    isSummed = ({ band, isThere }) => band.cells.sums && isThere,
    rows = [];
  if (parts.some(isSummed)) {
    const hasSum = part => isSummed(part) && isShownBy(paint.look, part);
    rows.push(
      rowOf(
        "sum",
        parts.map(part => (hasSum(part) ? drawSum(part, paint) : h("td"))),
      ),
    );
  }
  const ofLeftover = parts.find(({ leftover, isThere }) => leftover && isThere);
  if (ofLeftover) {
    const face = numberAt(ofLeftover.leftover, paint, 0, 0),
      id = `${ofLeftover.key} leftover`;
    const cells = parts.map(part => (part === ofLeftover ? drawCell(face, id, view) : h("td")));
    rows.push(rowOf(ofLeftover.leftover.stage.one, cells));
    if (view.isOpen(id)) rows.push(drawOpened(parts.length + 1, drawWorkings(ofLeftover, face, view)));
  }
  return rows;
}

function drawSum(part, paint) {
  const sum = sumOf(part, paint),
    inA = sumInA(part, paint);
  return h("td", {}, ...(inA && inA !== sum ? [h("small", {}, inA), " "] : []), sum);
}

// The sum of a row of A; "" where it isn't there.
function sumInA({ cells, band }, paint) {
  const index = indexInA(paint, cells.name, cells.index(0, 0), band.array),
    { pair } = paint.look;
  if (!index) return "";
  return short(added(band.array ? pair.pass.named(cells.name, band.array, index) : pair.pass.row(cells.name, index)));
}

// The number of A, where it differs from a face's; "" where it doesn't, or isn't there.
function numberInA({ pass, look }, { cell: { name, index }, array = "" }) {
  const there = indexInA({ look }, name, index, array);
  if (!there) return "";
  const numberIn = (whose, at) => (array ? whose.named(name, array, at)[at.at(-1)] : whose.number(name, at)),
    [one, now] = [numberIn(look.pair.pass, there), numberIn(pass, index)];
  return one !== undefined && areApart(one, now, pass.document.other.stages[name].tolerance) ? short(one) : "";
}

// Where a number stands in A, if it is shown there.
function indexInA({ look: { pair } }, name, index, array) {
  const there = pair?.isThere ? pair.toA(name, index) : null;
  return there && pair.look.shown(name, there, array) ? there : null;
}

// The sentence of a band that is there; where slopes or what moved stand in place of its numbers, their title.
function sentenceOf(part, paint) {
  const { band, cells, isThere } = part,
    title = paint.look.titleOf(cells.name);
  if (!isThere || !band.sentence.length || paint.withoutText) return [];
  return [h("p", { class: "said" }, ...(title ? [title] : drawRuns(runsOf(part, paint))))];
}

// `id` identifies the cell on the page.
function drawCell(face, id, { paint, tap, isOpen }) {
  if (!face?.cell) return h("td", { class: face?.kind });
  const act = button(face.text, () => tap(id, face.cell), `stop ${face.kind}${face.marked ? " marked" : ""}`),
    inA = numberInA(paint, face);
  act.dataset.act = id;
  act.dataset.cell = `${face.cell.name}[${face.cell.index}]`;
  act.setAttribute("aria-expanded", isOpen(id));
  if (inA) {
    act.prepend(h("small", {}, inA), " ");
    act.setAttribute("aria-label", `A ${inA}, B ${face.text}`);
  }
  if (face.was) act.append(" ", h("s", {}, face.was));
  Object.assign(act.style, { backgroundColor: face.colour ?? "", color: face.ink ?? "" });
  return h("td", {}, act);
}

const drawOpened = (width, workings) => h("tr", { class: "opened" }, h("td", { colSpan: width }, workings));

// How a number was computed.
function drawWorkings({ band: { array } }, { cell: { name, index } }, { paint, actions }) {
  const { pass, where, look } = paint,
    terms = pass.terms(name, index),
    number = pass.number(name, index);
  const story = array ? [] : drawStory(pass.story(name, index, where.cell)),
    areProducts = terms && !array && isProduct(terms),
    sum = text => h("p", { class: "sum" }, text);
  const drawTerms = () => {
    if (!terms) return h("p", {}, `${pass.nameOf(name, index)} is on its way.`);
    if (areProducts) return drawProducts(pass, terms, number);
    const line = array ? terms.lines[index.at(-1)] : terms.lines.length === 1 ? terms.lines[0] : null;
    if (line) return sum(`${line.text} = ${digits(line.value)}`);
    return sum(terms.lines.length ? `${digits(number)} = ${terms.conclusion}` : terms.recipe);
  };
  return h(
    "div",
    { class: "workings" },
    ...(array ? [] : drawBothValues(pass, where, look, { name, index })),
    ...(areProducts ? [drawTerms(), ...story] : [...story, drawTerms()]),
    ...(actions.ask ? [drawQuestions(actions)] : []),
  );
}

// Its numbers are no buttons: those would be too small for a finger.
function drawStory(pieces) {
  const spans = pieces.map(({ text, style }) => h("span", { class: style }, text));
  return spans.length ? [h("p", { class: "story" }, ...spans)] : [];
}

const isProduct = ({ lines, between }) =>
  lines.length > 1 && between === " × " && lines.every(({ cells }) => cells.length === 2);

/** @param {Pass} pass */
function drawProducts(pass, { lines }, total) {
  const factors = lines[0].cells.map(({ name }) => pass.stages.get(name)),
    bySize = [...lines].sort((one, other) => Math.abs(other.value) - Math.abs(one.value)),
    largest = lines.length > MAX_PRODUCTS ? bySize.slice(0, PRODUCTS_ALONE) : lines,
    others = lines.filter(line => !largest.includes(line)),
    runsOver = lines[0].place?.style === "word" ? "" : (lines[0].place?.text.split(" ")[0] ?? "");
  const rows = lines
    .filter(line => largest.includes(line))
    .map(({ cells, value, place }) => [
      place ? place.text.replace("dimension ", "") : "",
      ...cells.map(({ name, index }) => digits(Number(pass.number(name, index)))),
      digits(value),
    ]);
  if (others.length) rows.push([`other ${others.length}`, "", "", digits(added(others.map(({ value }) => value)))]);
  return tableOf([runsOver, ...factors, "product"], rows, ["sum", "", "", digits(total)]);
}

// `names` are texts, or stages with the name of one of their vectors.
function tableOf(names, rows, total) {
  const headings = names.map(name => h("th", { class: name.role, scope: "col" }, name.one ?? name)),
    lineOf = row => rowOf(row[0], row.slice(1).map(cellOf));
  return table({ class: "factors" }, { head: [headings], rows: rows.map(lineOf), foot: total ? [lineOf(total)] : [] });
}

function drawQuestions({ ask }) {
  const text = question => `${LABELS[question][0].toUpperCase()}${LABELS[question].slice(1)}?`,
    questions = QUESTIONS.slice(1).map(question => button(text(question), () => ask(question)));
  return h("p", { class: "questions" }, ...questions);
}
