// The address of what the viewer shows: reading it, writing it, and which parts of a step are revealed.
import {
  VIEWS,
  choicesFrom,
  focusOf,
  headsAt,
  isFirst,
  isHeads,
  isOfSheet,
  isSheet,
  revealsOfBands,
  slotsOf,
  startAt,
} from "./state.js";
import { stepAt, stepsOf, toCome } from "./state.js";
import { ALL, CHOICES, COORDINATES, FORMER, PARAMETERS, PLACE, REVEAL, USUAL } from "../../generated/where.js";
import { USUAL_IN_TALK } from "../../generated/where.js";

// The progress of each reveal: how many cells of the selected row, and how many rows, are shown by then.
/** @type {Record<string, Progress>} */
const REVEALS = {
  nothing: { cells: 0, rows: 0 },
  lit: { cells: 0, rows: 0 },
  products: { cells: 0, rows: 0 },
  sum: { cells: 1, rows: 1 },
  next: { cells: 2, rows: 1 },
  row: { cells: Infinity, rows: 1 },
};

// The names of a step's reveals before it is complete; where.reveal counts them, and is null when it is complete.
export function revealsOf(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  if (isAsking(pass, where)) return ["asked"];
  if (isSheet(pass, where)) return Array(revealsOfBands(stepAt(pass, where)).count - 1).fill("band");
  if (isHeads(pass, where)) return [];
  const results = resultStages(pass, where).map(name => pass.stages.get(name));
  if (!results.length) return [];
  const width = Math.max(...results.map(({ shape }) => shape.at(-1) ?? 1)),
    isComputed = results.some(({ rule }) => rule);
  return Object.keys(REVEALS).filter(reveal => {
    if (reveal === "lit" || reveal === "products") return isComputed;
    if (reveal === "next") return width > 2;
    if (reveal === "row") return width > 1 && results.some(({ length }) => length > width);
    return true;
  });
}

/** Whether a talk begins with the question to a model, and its answer comes last. @param {Pass} pass @param {Where} where */
function isAsking(pass, where) {
  const { model } = pass.document;
  return where.present && isOfSheet(pass, where) && isFirst(pass, where) && Boolean(model && !model.isOpen);
}

export function resultStages(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const results = slotsOf(stepAt(pass, where)).filter(({ result }) => result);
  return [...new Set(results.map(({ stage }) => stage))];
}

/** The numbers that are shown at a reveal: the same everywhere, and `part` more while Play is between this reveal and the next. {name,
 * isShown(stage, index), lines}: lines is how many terms are listed, null for all of them. @param {Pass} pass @param {Where} where
 * @param {number | null} [part]
 * @returns {{ name: string, lines: number | null, isShown(stage: string, index?: number[], array?: string): boolean }} */
export function revealAt(pass, where, part = null) {
  if (isSheet(pass, where)) {
    const absent = toCome(pass, where);
    return { name: "all", lines: null, isShown: (stage, _index, array = "") => array !== "" || !absent.has(stage) };
  }
  if (isHeads(pass, where)) {
    const come = headsAt(pass, where),
      isThere = (/** @type {string} */ stage) =>
        come.includes(stage) || !pass.document.layers.some(({ attention }) => attention === stage);
    return { name: "all", lines: null, isShown: isThere };
  }
  if (isAsking(pass, where)) {
    const isAnswered = where.reveal === null,
      isShown = (/** @type {string} */ stage) => isAnswered || stage !== pass.document.model?.answers;
    return { name: isAnswered ? "all" : "asked", lines: null, isShown };
  }
  const name = where.reveal === null ? "all" : (revealsOf(pass, where)[where.reveal] ?? "all"),
    lines = name === "nothing" || name === "lit" ? 0 : name === "products" ? part : null;
  if (name === "all" && part === null) return { name, lines, isShown: () => true };
  const { cells, rows } = REVEALS[name] ?? { cells: Infinity, rows: part },
    done = { cells: name === "row" && part !== null ? part : cells, rows },
    results = new Set(resultStages(pass, where));
  return {
    name,
    lines,
    isShown: (stage, index = []) => !results.has(stage) || isDone(pass, where, stage, index, done),
  };
}

/** Cells come in the order of their row, beginning with the selected one; rows likewise. @param {Pass} pass @param {Where} where
 * @param {string} stage @param {number[]} index @param {Progress} progress */
function isDone(pass, where, stage, index, { cells, rows }) {
  const { shape } = pass.stages.get(stage),
    focus = focusOf(pass, where),
    selected = focus.name === stage ? focus.index : pass.indexAt(stage, where.cell),
    row = shape.length - 2,
    after = (/** @type {number} */ axis) => (index[axis] - selected[axis] + shape[axis]) % shape[axis],
    isSameHead = index.slice(0, Math.max(row, 0)).every((position, axis) => position === selected[axis]),
    nth = row < 0 ? 0 : after(row);
  return isSameHead && (nth < Number(rows) - 1 || (nth < Number(rows) && after(row + 1) < cells));
}

const MIN_COORDINATES = 5; // of a cell that are written; the last two are left out if they are 1

// The parameters that a link which is too long leaves out, one after the other.
const DISPENSABLE = new Map([
  ["the selection", ["cell", "picked", "stage", "trail", "ask", "order"]],
  ["how far the step has come", ["reveal"]],
  ["the numbers set by hand", ["changes"]],
]);

/** The search of an address with the parameters of `where`, from "?" on or empty. @param {Pass} pass @param {Where} where @param {string} search */
export function searchAt(pass, where, search) {
  const { step, cell, picked, trail, view, present, reveal } = where,
    query = new URLSearchParams(search),
    cellText = textOfCell(cell),
    isStart = cellText === textOfCell(startAt(pass.document, step)) && !pass.other; // with two passes one starts where they differ
  const unusual = Object.entries(CHOICES).map(([name, [usual]]) => [
    name,
    Object(where)[name] === usual ? "" : Object(where)[name],
  ]);
  const texts = {
    step: step === stepsOf(pass)[0] ? "" : step,
    cell: isStart ? "" : cellText,
    picked,
    trail: trail.join("<"),
    ...Object.fromEntries(unusual),
    view: view === usualView(present) ? "" : view,
    present: present ? "1" : "",
    reveal: reveal === usualReveal(pass, where) ? "" : String(reveal ?? ALL),
  };
  for (const name of PARAMETERS) {
    query.delete(name);
    if (texts[name]) query.set(name, texts[name]);
  }
  return textOf(query);
}

const usualView = (/** @type {boolean} */ isPresented) => (isPresented ? USUAL_IN_TALK : USUAL).view;

/** The reveal of an address that names none. @param {Pass} pass @param {Where} where */
function usualReveal(pass, where) {
  const beginsTalk = where.present && isFirst(pass, where) && revealsOf(pass, where).length;
  return (beginsTalk ? USUAL_IN_TALK : USUAL).reveal;
}

/** `where` from an address; a parameter that is missing or can't be read is as on a first visit. @returns {Where} */
export function readWhere(/** @type {Pass} */ pass, /** @type {string} */ search) {
  const query = new URLSearchParams(search),
    param = (/** @type {string} */ name) => (query.getAll(name).at(-1) ?? "").trim(),
    stepText = param("step").toLowerCase(),
    present = param("present") === "1",
    reveal = param("reveal"),
    // the value in today's addresses of one that an older address may have
    currentValue = (/** @type {string} */ text) => Object(FORMER)[text] ?? text,
    named = pass.document.steps.find(({ id, title }) => [id, title].some(each => each.toLowerCase() === stepText)),
    step = named?.id ?? pass.nearestStep(param("step"));
  const where = {
    step,
    cell: pass.within(cellIn(param("cell")) ?? startAt(pass.document, step)),
    picked: param("picked"),
    trail: param("trail") ? param("trail").split("<") : [],
    ...choicesFrom((name, all) => all.find(each => each === currentValue(param(name).toLowerCase()))),
    view: VIEWS.find(view => view === param("view").toLowerCase()) ?? usualView(present),
    present,
    reveal: REVEAL.test(reveal) ? Number(reveal) : null,
    from: "", // what is unfolded on the sheet is in no address
  };
  return reveal ? where : { ...where, reveal: usualReveal(pass, where) };
}

export function hasView(/** @type {string} */ search) {
  const query = new URLSearchParams(search);
  return query.has("view") || query.has("present");
}

/** @param {string} text @returns {Selected | null} */
function cellIn(text) {
  const parts = text.split("."),
    isWhole = parts.length >= MIN_COORDINATES && parts.length <= COORDINATES.length;
  if (!isWhole || !parts.every(part => PLACE.test(part))) return null;
  return /** @type {any} */ (Object.fromEntries(COORDINATES.map((name, i) => [name, Number(parts[i] ?? 1) - 1])));
}

function textOfCell(/** @type {Selected} */ cell) {
  const last = COORDINATES.findLastIndex(name => cell[name]),
    written = COORDINATES.slice(0, Math.max(MIN_COORDINATES, last + 1));
  return written.map(name => cell[name] + 1).join(".");
}

// An address with other parameters, and without those that are null; unchanged if they say the same.
export function mended(/** @type {string} */ search, /** @type {Record<string, string | null>} */ parameters) {
  const query = new URLSearchParams(search),
    before = query.toString();
  for (const [name, text] of Object.entries(parameters)) {
    if (text === null) query.delete(name);
    else query.set(name, text);
  }
  return query.toString() === before ? search : textOf(query);
}

/** An address without its dispensable parameters, and what they were for. @param {string} search */
export function shortened(search) {
  const query = new URLSearchParams(search),
    missing = [...DISPENSABLE].filter(([, names]) => names.some(name => query.has(name))),
    dropped = missing.flatMap(([, names]) => names.map(name => [name, null]));
  return { search: mended(search, Object.fromEntries(dropped)), missing: missing.map(([purpose]) => purpose) };
}

/** Whether two addresses have the same parameters; Streamlit doesn't send the server its own. @param {string} search @param {string} other */
export function isSame(search, other) {
  const [one, two] = [search, other].map(text => {
    const query = new URLSearchParams([...new URLSearchParams(text)].filter(([name]) => !name.startsWith("embed")));
    query.sort();
    return query.toString();
  });
  return one === two;
}

/** Whether two addresses are of the same pass, whatever they show of it. @param {string} search @param {string} other */
export function isOfSamePass(search, other) {
  const nowhere = Object.fromEntries(PARAMETERS.map(name => [name, null]));
  return isSame(mended(search, nowhere), mended(other, nowhere));
}

/** Characters that need no escape stay readable: cells and trails are full of them. @param {URLSearchParams} query */
function textOf(query) {
  const readable = /** @type {Record<string, string>} */ ({ "%5B": "[", "%5D": "]", "%2C": ",", "%3C": "<" }),
    text = query.toString().replaceAll(/%5B|%5D|%2C|%3C/g, code => readable[code]);
  return text && `?${text}`;
}
