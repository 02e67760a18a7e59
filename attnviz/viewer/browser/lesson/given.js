// The numbers that a question needs, in small tables: on a phone, beside a picture that has no room for them, and on paper.
import { h, table } from "../dom/element.js";

/** @typedef {import("../../generated/contract").GivenRow} GivenRow */

const MOST = 8; // numbers beside each other; the rest of a long row goes into a table of its own

/** Rows of the same words or dimensions stand in one table, so that one can multiply them number by number. An element, or null without rows.
 * @param {GivenRow[]} rows */
export function drawGiven(rows) {
  if (!rows.length) return null;
  const alike = /** @type {GivenRow[][]} */ ([]);
  for (const row of rows) {
    const last = alike.at(-1);
    if (last && headOf(last[0]) === headOf(row)) last.push(row);
    else alike.push([row]);
  }
  return h("section", { class: "given", ariaLabel: "The numbers that it needs" }, ...alike.flatMap(tablesOf));
}

const headOf = (/** @type {GivenRow} */ { along = "", labels }) => JSON.stringify([along, labels]);

/** @param {GivenRow[]} rows */
function tablesOf(rows) {
  const [{ along = "", labels }] = rows,
    count = Math.ceil(labels.length / MOST),
    size = Math.ceil(labels.length / count);
  if (labels.length === 1 && !labels[0])
    return [table({ class: "singles" }, { rows: rows.map(({ name, texts }) => [rowHead(name), texts[0]]) })];
  return Array.from({ length: count }, (_, nth) => tableOf(rows, along, nth * size, size));
}

/** @param {GivenRow[]} rows @param {string} along @param {number} from @param {number} size */
function tableOf(rows, along, from, size) {
  const part = (/** @type {string[]} */ all) => all.slice(from, from + size),
    labels = part(rows[0].labels),
    heads = labels.map(label => h("th", { scope: "col" }, label)),
    lines = rows.flatMap(({ name, texts }) => [[rowHead(name, labels.length)], part(texts)]);
  return table({}, { caption: along || null, head: [heads], rows: lines });
}

const rowHead = (/** @type {string} */ name, span = 1) =>
  h("th", { scope: span > 1 ? "rowgroup" : "row", colSpan: span }, name);
