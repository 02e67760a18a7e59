// Reveals: in which order a step's results come to light. A presenter's remote, Play and the address all count them.
import { isOfSheet, isSheet, revealsOfBands, toCome } from "./bands.js";
import { focusOf, isFirst, slotsOf, stepAt } from "./state.js";

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
