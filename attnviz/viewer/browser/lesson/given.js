// The numbers that a question needs, in small tables: on a phone, on paper, and below a picture that has no room for them.
import { afterFrame, h, redraw, table } from "../dom/element.js";

/** @typedef {import("../../generated/contract").GivenRow} GivenRow */

const MOST = 6, // numbers beside each other; the rest of a long row goes into a table of its own
  MOST_OF_PAGE = 12;

/** Rows of the same words or dimensions stand in one table, so that one can multiply them number by number. An element, or null without rows.
 * @param {GivenRow[]} rows */
export function drawGiven(rows, most = MOST) {
  if (!rows.length) return null;
  const alike = /** @type {GivenRow[][]} */ ([]);
  for (const row of rows) {
    const last = alike.at(-1);
    if (last && headOf(last[0]) === headOf(row)) last.push(row);
    else alike.push([row]);
  }
  return h(
    "section",
    { class: "given-numbers", ariaLabel: "The numbers that it needs" },
    ...alike.flatMap(each => tablesOf(each, most)),
  );
}

const headOf = (/** @type {GivenRow} */ { along = "", labels }) => JSON.stringify([along, labels]);

/** @param {GivenRow[]} rows @param {number} most */
function tablesOf(rows, most) {
  const [{ along = "", labels }] = rows,
    count = Math.ceil(labels.length / most),
    size = Math.ceil(labels.length / count);
  if (labels.length === 1 && !labels[0])
    return [table({ class: "singles" }, { rows: rows.map(({ name, texts }) => [rowHead(name), texts[0]]) })];
  return Array.from({ length: count }, (_, nth) => tableOf(rows, along, nth * size, size, most > MOST));
}

/** @param {GivenRow[]} rows @param {string} along @param {number} from @param {number} size @param {boolean} isWide */
function tableOf(rows, along, from, size, isWide) {
  const part = (/** @type {string[]} */ all) => all.slice(from, from + size),
    labels = part(rows[0].labels),
    heads = labels.map(label => h("th", { scope: "col" }, label)),
    lines = rows.flatMap(({ name, texts }) =>
      isWide ? [[rowHead(name), ...part(texts)]] : [[rowHead(name, labels.length)], part(texts)],
    );
  return table({}, { caption: along || null, head: [isWide ? [h("td"), ...heads] : heads], rows: lines });
}

const rowHead = (/** @type {string} */ name, span = 1) =>
  h("th", { scope: span > 1 ? "rowgroup" : "row", colSpan: span }, name);

/** The strip below a picture, which shows the rows if one of their numbers isn't visible in the picture. update(rows, picture) is called once
 * the picture is drawn; `page` is the box whose size decides. @param {Element} page */
export function makeGivenStrip(page) {
  const element = h("div", { class: "given-strip", hidden: true });
  let shown = { rows: /** @type {GivenRow[]} */ ([]), picture: /** @type {Element | null} */ (null), size: "" };
  const sizeNow = () => `${page.clientWidth} ${page.clientHeight} ${page.classList.contains("presenting")}`;
  function measure() {
    const { rows, picture } = shown;
    shown = { rows, picture, size: sizeNow() };
    element.hidden = true;
    if (!rows.length) return;
    const measured = shown;
    afterFrame(() => {
      if (measured !== shown || !picture) return;
      const read = textsIn(picture);
      if (rows.every(({ texts }) => texts.every(text => read.has(text)))) return;
      redraw(element, [drawGiven(rows, page.clientWidth < 700 ? MOST : MOST_OF_PAGE)]);
      element.hidden = false;
    });
  }
  const observer = new ResizeObserver(() => shown.size !== sizeNow() && measure());
  observer.observe(page);
  return {
    element,
    /** @param {GivenRow[]} rows @param {Element} picture */
    update(rows, picture) {
      if (rows === shown.rows && shown.size === sizeNow()) return;
      shown = { rows, picture, size: "" };
      measure();
    },
    end: () => observer.disconnect(),
  };
}

/** The texts in a picture that are neither hidden nor cut off, nor to be scrolled to. @param {Element} picture */
function textsIn(picture) {
  const texts = new Set(),
    walker = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT),
    range = new Range();
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode),
      text = node.data.trim(),
      parent = /** @type {Element} */ (node.parentElement);
    if (!text || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    if (!isCut(parent, range.getBoundingClientRect())) texts.add(text);
  }
  return texts;
}

/** @param {Element | null} element @param {DOMRect} rect */
function isCut(element, rect) {
  const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
  for (let each = element; each && each !== document.body; each = each.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(each),
      box = each.getBoundingClientRect();
    if (overflowX !== "visible" && (x < box.left || x > box.right)) return true;
    if (overflowY !== "visible" && (y < box.top || y > box.bottom)) return true;
  }
  return rect.width < 2;
}
