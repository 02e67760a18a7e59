// The address of what the viewer shows: reading it, writing it, and which parts of a step are revealed.
import {
  VIEWS,
  chosen,
  focusOf,
  isFirst,
  isOfSheet,
  isSheet,
  revealsOfBands,
  slotsOf,
  startAt,
  stepAt,
  stepsOf,
  toCome,
} from "./state.js";
import {
  ALL,
  CHOICES,
  COORDINATES,
  FORMER,
  PARAMETERS,
  PLACE,
  REVEAL,
  USUAL,
  USUAL_IN_TALK,
} from "../../generated/where.js";

// The progress of each reveal: how many cells of the selected row, and how many rows, are there by then.
const REVEALS = {
  nothing: { cells: 0, rows: 0 },
  lit: { cells: 0, rows: 0 },
  products: { cells: 0, rows: 0 },
  sum: { cells: 1, rows: 1 },
  next: { cells: 2, rows: 1 },
  row: { cells: Number.POSITIVE_INFINITY, rows: 1 },
};

// The names of a step's reveals before all of it is there; where.reveal counts them, and is null when all is there.
/** @param {Pass} pass @param {Where} where */
export function revealsOf(pass, where) {
  if (isAsking(pass, where)) return ["asked"];
  if (isSheet(pass, where)) return Array(revealsOfBands(stepAt(pass, where)).count - 1).fill("band");
  const results = resultStages(pass, where);
  if (!results.length) return [];
  const widths = results.map(name => pass.stages.get(name).shape.at(-1));
  const width = Math.max(...widths);
  const sizes = results.map(name => pass.stages.get(name).length);
  const isComputed = results.some(name => pass.stages.get(name).rule);
  return Object.keys(REVEALS).filter(reveal => {
    if (reveal === "lit" || reveal === "products") return isComputed;
    if (reveal === "next") return width > 2;
    if (reveal === "row") return width > 1 && Math.max(...sizes) > width;
    return true;
  });
}

// Whether a talk begins with the question that a model is asked, and its answer comes last.
/** @param {Pass} pass @param {Where} where */
function isAsking(pass, where) {
  const { model } = pass.document;
  return where.present && isOfSheet(pass, where) && isFirst(pass, where) && Boolean(model) && !model.isOpen;
}

/** @param {Pass} pass @param {Where} where */
export function resultStages(pass, where) {
  return [
    ...new Set(
      slotsOf(stepAt(pass, where))
        .filter(slot => slot.result)
        .map(slot => slot.stage),
    ),
  ];
}

// The numbers that are there at a reveal: the same everywhere else, and `part` further while Play is between this reveal and the next.
// {name, isShown(stage, index), lines}: lines is how many terms are listed, null for all of them.
/** @param {Pass} pass @param {Where} where */
export function revealAt(pass, where, part = null) {
  if (isSheet(pass, where)) {
    const absent = toCome(pass, where);
    return { name: "all", lines: null, isShown: (stage, _index, array = "") => array !== "" || !absent.has(stage) };
  }
  if (isAsking(pass, where))
    return {
      name: where.reveal === null ? "all" : "asked",
      lines: null,
      isShown: stage => where.reveal === null || stage !== pass.document.model.answers,
    };
  const name = where.reveal === null ? "all" : (revealsOf(pass, where)[where.reveal] ?? "all");
  const lines = name === "nothing" || name === "lit" ? 0 : name === "products" ? part : null;
  if (name === "all" && part === null) return { name, lines, isShown: () => true };
  const { cells, rows } = REVEALS[name] ?? { cells: Number.POSITIVE_INFINITY, rows: part };
  const done = { cells: name === "row" && part !== null ? part : cells, rows };
  const results = new Set(resultStages(pass, where));
  return { name, lines, isShown: (stage, index) => !results.has(stage) || isDone(pass, where, stage, index, done) };
}

// Cells come in the order of their row, beginning with the selected one; rows likewise.
/** @param {Pass} pass @param {Where} where */
function isDone(pass, where, stage, index, { cells, rows }) {
  const { shape } = pass.stages.get(stage);
  const focus = focusOf(pass, where);
  const selected = focus.name === stage ? focus.index : pass.indexAt(stage, where.cell);
  const after = axis => (index[axis] - selected[axis] + shape[axis]) % shape[axis];
  const row = shape.length - 2,
    column = shape.length - 1;
  const isSameHead = index.slice(0, row).every((place, axis) => place === selected[axis]);
  const nth = row < 0 ? 0 : after(row);
  return isSameHead && (nth < rows - 1 || (nth < rows && after(column) < cells));
}

const AT_LEAST = 5; // coordinates of a cell that are written; the last two are left out where they are the first

// The parameters that a link which is too long leaves out, one after the other.
const DISPENSABLE = new Map([
  ["the selection", ["cell", "picked", "stage", "trail", "ask", "order"]],
  ["how far the step has come", ["reveal"]],
  ["the numbers set by hand", ["changes"]],
]);

// The address with another place in it: its search, from "?" on or empty.
export function searchAt(pass, where, search) {
  const query = new URLSearchParams(search);
  const texts = parametersOf(pass, where);
  for (const name of PARAMETERS) {
    query.delete(name);
    if (texts[name]) query.set(name, texts[name]);
  }
  return textOf(query);
}

// The view of an address that names none.
function usualView(isPresented) {
  return (isPresented ? USUAL_IN_TALK : USUAL).view;
}

// The reveal of an address that names none.
/** @param {Pass} pass @param {Where} where */
function usualReveal(pass, where) {
  const beginsTalk = where.present && where.step === stepsOf(pass)[0] && revealsOf(pass, where).length;
  return (beginsTalk ? USUAL_IN_TALK : USUAL).reveal;
}

/** @param {Pass} pass @param {Where} where */
function parametersOf(pass, where) {
  const { step, cell, picked, trail, view, present, reveal } = where;
  const place = textOfCell(cell),
    start = textOfCell(startAt(pass.document, step));
  return {
    step: step === stepsOf(pass)[0] ? "" : step,
    cell: place === start && !pass.other ? "" : place, // beside another pass one begins where they differ
    picked,
    trail: trail.join("<"),
    ...unusual(where),
    view: view === usualView(present) ? "" : view,
    present: present ? "1" : "",
    reveal: reveal === usualReveal(pass, where) ? "" : String(reveal ?? ALL),
  };
}

// The choices that aren't the first of their values.
/** @param {Where} where */
function unusual(where) {
  return Object.fromEntries(
    Object.entries(CHOICES).map(([name, [usual]]) => [name, where[name] === usual ? "" : where[name]]),
  );
}

// The place that an address says; what it doesn't say, or not in a way that can be read, is as on a first visit.
/** @param {Pass} pass */
export function readPlace(pass, search) {
  const query = new URLSearchParams(search);
  const param = name => (query.getAll(name).at(-1) ?? "").trim();
  const present = param("present") === "1";
  const step = stepNamed(pass, param("step"));
  const place = {
    step,
    cell: pass.within(cellIn(param("cell")) ?? startAt(pass.document, step)),
    picked: param("picked"),
    trail: param("trail") ? param("trail").split("<") : [],
    ...chosen((name, all) => all.find(each => each === idOf(param(name).toLowerCase()))),
    view: VIEWS.find(view => view === param("view").toLowerCase()) ?? usualView(present),
    present,
    reveal: REVEAL.test(param("reveal")) ? Number(param("reveal")) : null,
    from: "", // what is unfolded on the sheet is in no address
  };
  return param("reveal") ? place : { ...place, reveal: usualReveal(pass, place) };
}

// An id as it was written, or what stands now for what an address of before had in its place.
function idOf(text) {
  return FORMER[text] ?? text;
}

// Whether an address says how one looks at its pass.
export function hasView(search) {
  const query = new URLSearchParams(search);
  return query.has("view") || query.has("present");
}

// A step is found by its id or its title.
/** @param {Pass} pass */
function stepNamed(pass, text) {
  const named = pass.document.steps.find(({ id, title }) =>
    [id, title].some(each => each.toLowerCase() === text.toLowerCase()),
  );
  return named?.id ?? pass.nearestStep(text);
}

function cellIn(text) {
  const written = text.split("."),
    isWhole = written.length >= AT_LEAST && written.length <= COORDINATES.length;
  if (!isWhole || !written.every(each => PLACE.test(each))) return null;
  const places = written.map(place => Number(place) - 1);
  return Object.fromEntries(COORDINATES.map((name, i) => [name, places[i] ?? 0]));
}

function textOfCell(cell) {
  const last = COORDINATES.findLastIndex(name => cell[name]);
  return COORDINATES.slice(0, Math.max(AT_LEAST, last + 1))
    .map(name => cell[name] + 1)
    .join(".");
}

// An address with other parameters in it, and without those that are null; it is as it was if nothing else is said.
export function mended(search, parameters) {
  const query = new URLSearchParams(search),
    before = query.toString();
  for (const [name, text] of Object.entries(parameters)) {
    if (text === null) query.delete(name);
    else query.set(name, text);
  }
  return query.toString() === before ? search : textOf(query);
}

// An address without what it can do without, and what of that was in it.
export function shortened(search) {
  const query = new URLSearchParams(search);
  const missing = [...DISPENSABLE].filter(([, names]) => names.some(name => query.has(name)));
  return {
    search: mended(search, Object.fromEntries(missing.flatMap(([, names]) => names.map(name => [name, null])))),
    missing: missing.map(([what]) => what),
  };
}

// Whether two addresses say the same; Streamlit sends the server none of the parameters that are its own.
export function isSame(search, other) {
  const [one, two] = [search, other].map(
    text => new URLSearchParams([...new URLSearchParams(text)].filter(([name]) => !name.startsWith("embed"))),
  );
  one.sort();
  two.sort();
  return one.toString() === two.toString();
}

// Whether two addresses are of the same pass, wherever in it they look.
export function isOfSamePass(search, other) {
  const nowhere = Object.fromEntries(PARAMETERS.map(name => [name, null]));
  return isSame(mended(search, nowhere), mended(other, nowhere));
}

// Signs that need no escape stay readable: cells and trails are full of them.
function textOf(query) {
  const text = query
    .toString()
    .replaceAll("%5B", "[")
    .replaceAll("%5D", "]")
    .replaceAll("%2C", ",")
    .replaceAll("%3C", "<");
  return text && `?${text}`;
}
