// What a number is made of, in words and as a list of terms, and what wrote it.
import { digits, fraction } from "../model/numeral.js";
import { numbersOf } from "../model/rule.js";
import { h, makeScroller, rovingFocus, setTabStop, write } from "../dom/element.js";

/** The numbers that were unfolded; back(position) is called as one is clicked. @param {Pass} pass @param {string[]} trail */
export const drawTrail = (pass, trail, back) =>
  h(
    "nav",
    { class: "trail", "aria-label": "The numbers that were unfolded" },
    ...trail.flatMap((address, position) => {
      const { name, index } = /** @type {Cell} */ (pass.read(address)),
        current = position === trail.length - 1 ? "true" : null,
        onclick = () => back(position);
      return [
        position > 0 && h("span", {}, " ← "),
        h("button", { class: "link", "aria-current": current, onclick }, pass.nameOf(name, index)),
      ];
    }),
  );

/** A number's name and value, and by how much it moved if the pictures show that. @param {Pass} pass @param {Look} look @param {Cell} cell */
export function titleOf(pass, look, { name, index }) {
  const value = pass.number(name, index),
    moved = look.kind !== "differences" ? null : pass.document.before[name] ? Number(look.pass.number(name, index)) : 0;
  return `${pass.nameOf(name, index)} = ${valueText(pass, name, value)}${moved === null ? "" : `, moved by ${digits(moved)}`}`;
}

/** @param {Pass} pass */
function valueText(pass, name, value) {
  if (pass.stages.get(name).scale === "flag") return value ? "visible" : "hidden";
  const exact = pass.document.fractions ? fraction(value) : "";
  return exact ? `${exact} = ${digits(value)}` : digits(value);
}

/** @param {Piece[]} segments */
export const drawStory = (segments, tools) =>
  h(
    "p",
    { class: "story" },
    ...betweenSpaces(segments).flatMap(group => {
      const drawn = group.map(segment => drawSegment(segment, tools));
      return group.some(({ cell }) => cell) ? h("span", { class: "unbroken" }, drawn) : drawn;
    }),
  );

// A browser may break a line at either side of a button, and so between a bracket and its number: here between spaces alone.
function betweenSpaces(segments) {
  const groups = /** @type {Piece[][]} */ ([[]]);
  for (const segment of segments) {
    for (const text of segment.cell ? [segment.text] : segment.text.split(/( )/)) {
      if (text === " ") groups.push([{ text }], []);
      else if (text) groups[groups.length - 1].push({ ...segment, text });
    }
  }
  return groups;
}

/** @param {Piece} segment */
const drawSegment = ({ text, cell, style }, { point, inspect }) =>
  cell ? linkToCell(text, cell, point, () => inspect(cell.name, cell.index)) : h("span", { class: style ?? "" }, text);

// A button with the name of a cell, which lights that up while a pointer or the keyboard is on it, and the other way round.
function linkToCell(text, { name, index }, point, onclick) {
  const node = h("button", { class: "link", "data-cell": `${name}[${index}]`, onclick }, text);
  node.onpointerenter = node.onfocus = () => point(name, index);
  node.onpointerleave = node.onblur = () => point(name, null);
  return node;
}

export function lightUp(box, name, index) {
  for (const each of box.querySelectorAll("[data-cell]"))
    each.classList.toggle("lit", each.dataset.cell === `${name}[${index}]`);
}

/** The first `count` lines, or all if it is null; unfold(cell) is called as one is clicked. The table's parts have roles, because its
 * style is not that of a table, which would hide them from screen readers. @param {Pass} pass @param {Terms} terms */
export function drawTerms(pass, terms, { order, count, value }, { unfold, point }) {
  const lines = count === null ? sorted(terms.lines, order) : terms.lines.slice(0, count);
  const links = lines.map(({ cells }) =>
    cells.map(cell => linkToCell(pass.nameOf(cell.name, cell.index), cell, point, () => unfold(cell))),
  );
  const rows = lines.map((line, nth) => {
    const name = links[nth].flatMap((link, position) => [position > 0 && terms.between, link]),
      isLatest = count !== null && nth === lines.length - 1;
    return h(
      "tr",
      { role: "row", class: isLatest ? "latest" : "", term: line.value },
      drawCell("name", name),
      drawCell("sum", line.text),
      drawCell("value", digits(line.value)),
    );
  });
  const total =
    count === null &&
    terms.conclusion &&
    h(
      "tfoot",
      { role: "rowgroup" },
      h(
        "tr",
        { role: "row", class: "total rest", hidden: true },
        drawCell("sum", "more terms", { colSpan: 2 }),
        drawCell("value", "0"),
      ),
      h(
        "tr",
        { role: "row", class: "total" },
        drawCell("sum", terms.conclusion, { colSpan: 2 }),
        drawCell("value", digits(value)),
      ),
    );
  const body = h("tbody", { role: "rowgroup" }, rows),
    table = h("table", { role: "grid", "aria-label": "Terms" }, body, total || null);
  const clickable = links.filter(({ length }) => length);
  setTabStop(clickable.flat(), clickable.flat()[0]);
  rovingFocus(table, () => clickable);
  const scroller = makeScroller(h("div", { class: "terms" }, table));
  scroller.addEventListener("scroll", () => showRest(scroller));
  return scroller;
}

// How many terms are out of sight, and their sum: what is in sight and that add up to the total.
function showRest(scroller) {
  const { tBodies, tFoot } = scroller.querySelector("table"),
    rest = tFoot?.querySelector(".rest");
  if (!rest || rest.hidden) return;
  const { top } = scroller.getBoundingClientRect(),
    bottom = tFoot.getBoundingClientRect().top,
    unseen = [...tBodies[0].rows].filter(row => {
      const box = row.getBoundingClientRect();
      return box.bottom > bottom + 1 || box.top < top - 1;
    });
  const [text, value] = rest.cells;
  write(text, `${unseen.length} more ${unseen.length === 1 ? "term" : "terms"}`);
  write(value, digits(unseen.reduce((sum, { term }) => sum + term, 0)));
}

const drawCell = (className, content, props = {}) => h("td", { role: "gridcell", class: className, ...props }, content);

// Where terms are scrolled, the box ends below a whole line: its total would cut one in two.
export function showWholeLines(box) {
  const scroller = box.querySelector(".terms");
  if (!scroller) return;
  const { tBodies, tFoot } = scroller.querySelector("table"),
    rest = tFoot?.querySelector(".rest");
  scroller.style.maxHeight = "";
  if (rest) rest.hidden = true;
  if (scroller.scrollHeight <= scroller.clientHeight + 1) return;
  if (rest) rest.hidden = false;
  const [body] = tBodies,
    top = body.getBoundingClientRect().top,
    total = tFoot?.offsetHeight ?? 0;
  const bottoms = [...body.rows].map(row => row.getBoundingClientRect().bottom - top),
    last = bottoms.findLast(bottom => bottom + total <= scroller.clientHeight);
  if (last) scroller.style.maxHeight = `${last + total}px`;
  showRest(scroller);
}

const sorted = (lines, order) =>
  order === "index" ? lines : [...lines].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));

const MOST_WRITERS = 6; // with a line each; the others are added up

/** What wrote a logit of the last token, or the logit of a probability, to the residual stream; nothing for other numbers.
 * @param {Pass} pass @param {Cell} cell */
export function drawWriters(pass, { name, index: [last, answer] }, isShown, { pick, point }) {
  const { model, next } = pass.document,
    { parts } = next ?? {};
  if (!parts || !model || !isShown || ![model.answers, "logits"].includes(name)) return [];
  if (last !== pass.stages.get(name).shape[0] - 1) return [];
  const { labels } = pass.stages.get("logits").axes[1],
    values = numbersOf(parts.values, parts.writers.length * labels.length),
    partOf = writer => values[writer * labels.length + answer];
  const writers = [...parts.writers.keys()],
    heads = writers.filter(writer => parts.writers[writer].isHead),
    order = [...writers].sort((one, other) => Math.abs(partOf(other)) - Math.abs(partOf(one))),
    others = order.slice(MOST_WRITERS),
    most = Math.abs(partOf(order[0])) || 1;
  const lines = order.slice(0, MOST_WRITERS).map(writer => {
    const { label, cell } = parts.writers[writer],
      target = /** @type {Cell} */ (pass.read(cell)),
      link = linkToCell(label, target, point, () => pick(target.name, target.index));
    link.type = "button";
    const { key } = pass.wordsAt(pass.stepOf(target.name).id);
    return drawBar([link, keyOf(key, parts.byKey, heads.indexOf(writer), answer)], partOf(writer), most);
  });
  const rest = others.reduce((sum, writer) => sum + partOf(writer), 0),
    logit = digits(Number(pass.number("logits", [last, answer])));
  return [
    h(
      "section",
      { class: "writers", "aria-label": "The logit as a sum" },
      h("p", {}, `The logit of “${labels[answer]}”, ${logit}, as a sum of what wrote to the residual stream:`),
      h("ul", {}, lines, others.length > 0 && drawBar([`${others.length} others together`], rest, most)),
    ),
  ];
}

/** The key from which a head adds most, and how much; "" for what is no head. @param {string[]} words */
function keyOf(words, byKey, head, answer) {
  if (head < 0 || !byKey) return "";
  const { places } = byKey,
    width = places[0].length,
    values = numbersOf(byKey.values, places.length * width);
  return ` (from “${words[places[head][answer]]}” ${digits(values[head * width + answer])})`;
}

const drawBar = (label, value, most) =>
  h(
    "li",
    {},
    h("span", { class: "name" }, label),
    h(
      "span",
      { class: `bar ${value < 0 ? "down" : "up"}` },
      h("span", { style: { width: `${(50 * Math.abs(value)) / most}%` } }),
    ),
    h("span", { class: "value" }, digits(value)),
  );
