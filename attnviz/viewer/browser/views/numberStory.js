// What a number is made of, in words and as a list of terms, and what wrote it.
import { digits, fraction } from "../model/numeral.js";
import { numbersOf } from "../model/rule.js";
import { button, element, h } from "../dom/element.js";
import { makeScroller, rovingFocus, setTabStop } from "../dom/grid.js";

// back(position) is called as one of them is clicked: it becomes the last.
/** @param {Pass} pass */
export function drawTrail(pass, trail, back) {
  const line = element("nav", "trail");
  line.setAttribute("aria-label", "The numbers that were unfolded");
  trail.map(pass.read).forEach(({ name, index }, position) => {
    if (position) line.append(element("span", "", " ← "));
    const crumb = element("button", "link", pass.nameOf(name, index));
    if (position === trail.length - 1) crumb.setAttribute("aria-current", "true");
    crumb.onclick = () => back(position);
    line.append(crumb);
  });
  return line;
}

// A number's name and its value, and by how much it moved where the pictures show that.
/** @param {Pass} pass @param {Look} look */
export function titleOf(pass, look, { name, index }) {
  return `${pass.nameOf(name, index)} = ${valueText(pass, name, pass.number(name, index))}${movedText(look, name, index)}`;
}

/** @param {Pass} pass */
function valueText(pass, name, value) {
  if (pass.stages.get(name).scale === "flag") return value ? "visible" : "hidden";
  const exact = pass.document.fractions ? fraction(value) : "";
  return exact ? `${exact} = ${digits(value)}` : digits(value);
}

function movedText({ kind, pass }, name, index) {
  return kind === "differences"
    ? `, moved by ${digits(pass.document.before[name] ? pass.number(name, index) : 0)}`
    : "";
}

export function drawStory(segments, tools) {
  const line = element("p", "story");
  for (const group of betweenSpaces(segments)) {
    const drawn = group.map(segment => drawSegment(segment, tools));
    const box = group.some(({ cell }) => cell) ? element("span", "unbroken") : line;
    box.append(...drawn);
    if (box !== line) line.append(box);
  }
  return line;
}

// A line may break at either side of a button, and so between a bracket and its number: here between spaces alone.
function betweenSpaces(segments) {
  const groups = [[]];
  for (const segment of segments) {
    for (const text of segment.cell ? [segment.text] : segment.text.split(/( )/)) {
      if (text === " ") groups.push([{ text }], []);
      else if (text) groups.at(-1).push({ ...segment, text });
    }
  }
  return groups;
}

function drawSegment({ text, cell, style }, { point, inspect }) {
  if (!cell) return element("span", style ?? "", text);
  const number = element("button", "link", text);
  lights(number, cell, point);
  number.onclick = () => inspect(cell.name, cell.index);
  return number;
}

// Has an element light up a cell while a pointer or the keyboard is on it, and the other way round.
function lights(made, { name, index }, point) {
  made.dataset.cell = `${name}[${index}]`;
  made.onpointerenter = made.onfocus = () => point(name, index);
  made.onpointerleave = made.onblur = () => point(name, null);
}

// Lights up, of all elements in a box that name a cell, those that name this one.
export function lightUp(box, name, index) {
  for (const each of box.querySelectorAll("[data-cell]"))
    each.classList.toggle("lit", each.dataset.cell === `${name}[${index}]`);
}

// `count` lines are there, all of them if it is null; unfold(cell) is called as one is clicked.
export function drawTerms(pass, terms, { order, count, value }, { unfold, point }) {
  const body = withRole("tbody", "rowgroup");
  const lines = count === null ? sorted(terms.lines, order) : terms.lines.slice(0, count);
  body.append(...lines.map(line => drawTerm(pass, line, terms.between, { unfold, point })));
  if (count !== null) body.lastChild?.classList.add("latest");
  const table = withRole("table", "grid");
  table.setAttribute("aria-label", "Terms");
  table.append(body);
  if (count === null && terms.conclusion) table.append(drawTotal(terms.conclusion, value));
  const links = [...body.children].map(line => [...line.querySelectorAll("button")]).filter(({ length }) => length);
  setTabStop(links.flat(), links.flat()[0]);
  rovingFocus(table, () => links);
  const scroller = makeScroller(element("div", "terms"));
  scroller.append(table);
  return scroller;
}

// Where terms are scrolled, the box ends below a whole line: its total would cut one in two.
export function showWholeLines(box) {
  const scroller = box.querySelector(".terms");
  if (!scroller) return;
  scroller.style.maxHeight = "";
  if (scroller.scrollHeight <= scroller.clientHeight + 1) return;
  const {
      tBodies: [body],
      tFoot,
    } = scroller.querySelector("table"),
    top = body.getBoundingClientRect().top,
    total = tFoot?.offsetHeight ?? 0;
  const ends = [...body.rows].map(row => row.getBoundingClientRect().bottom - top),
    last = ends.findLast(end => end + total <= scroller.clientHeight);
  if (last) scroller.style.maxHeight = `${last + total}px`;
}

function sorted(lines, order) {
  return order === "index" ? lines : [...lines].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
}

/** @param {Pass} pass */
function drawTerm(pass, { cells, text, value }, between, { unfold, point }) {
  const name = cell("name");
  cells.forEach((each, position) => {
    if (position) name.append(between);
    const link = element("button", "link", pass.nameOf(each.name, each.index));
    lights(link, each, point);
    link.onclick = () => unfold(each);
    name.append(link);
  });
  const line = withRole("tr", "row");
  line.append(name, cell("sum", text), cell("value", digits(value)));
  return line;
}

function drawTotal(conclusion, value) {
  const total = cell("sum", conclusion);
  total.colSpan = 2;
  const line = withRole("tr", "row", "total");
  line.append(total, cell("value", digits(value)));
  const foot = withRole("tfoot", "rowgroup");
  foot.append(line);
  return foot;
}

// Parts of a table that is set out as lines, which would be none for those who hear it.
function withRole(tag, role, className = "", text = null) {
  const made = element(tag, className, text);
  made.setAttribute("role", role);
  return made;
}

function cell(className, text = null) {
  return withRole("td", "gridcell", className, text);
}

const MOST = 6; // that stand alone; the others are added up

// Nothing for a number that is no logit of the last token, and no probability that comes of one.
/** @param {Pass} pass */
export function drawWriters(pass, { name, index }, isThere, tools) {
  const { model, next } = pass.document,
    { parts } = next ?? {};
  if (
    !parts ||
    !isThere ||
    ![model.answers, "logits"].includes(name) ||
    index[0] !== pass.stages.get(name).shape[0] - 1
  )
    return [];
  const [last, answer] = index,
    labels = pass.stages.get("logits").axes[1].labels,
    width = labels.length;
  const values = numbersOf(parts.values, parts.writers.length * width),
    partOf = writer => values[writer * width + answer];
  const order = [...parts.writers.keys()].sort((one, other) => Math.abs(partOf(other)) - Math.abs(partOf(one)));
  const alone = order.slice(0, MOST),
    others = order.slice(MOST),
    most = Math.abs(partOf(order[0])) || 1;
  const heads = [...parts.writers.keys()].filter(writer => parts.writers[writer].isHead);
  const lines = alone.map(writer =>
    drawWriter(
      pass,
      parts.writers[writer],
      partOf(writer),
      most,
      fromKey(pass, parts, heads.indexOf(writer), answer),
      tools,
    ),
  );
  const rest = others.length
    ? [
        drawBar(
          `${others.length} others together`,
          others.reduce((sum, writer) => sum + partOf(writer), 0),
          most,
        ),
      ]
    : [];
  const box = element("section", "writers"),
    head = element(
      "p",
      "",
      `The logit of “${labels[answer]}”, ${digits(pass.number("logits", [last, answer]))}, as a sum of what wrote to the residual stream:`,
    );
  const list = element("ul");
  box.setAttribute("aria-label", "The logit as a sum");
  list.append(...lines, ...rest);
  box.append(head, list);
  return [box];
}

// The key from which a head adds most, and how much; nothing of what is no head.
/** @param {Pass} pass */
function fromKey(pass, { byKey }, head, answer) {
  if (head < 0 || !byKey) return "";
  const { places } = byKey,
    width = places[0].length,
    values = numbersOf(byKey.values, places.length * width);
  return ` (from “${pass.document.words.key[places[head][answer]]}” ${digits(values[head * width + answer])})`;
}

/** @param {Pass} pass */
function drawWriter(pass, { label, cell }, value, most, from, { pick, point }) {
  const target = pass.read(cell),
    link = button(label, () => pick(target.name, target.index), "link");
  lights(link, target, point);
  return drawBar([link, from], value, most);
}

function drawBar(label, value, most) {
  const line = element("li"),
    bar = element("span", `bar ${value < 0 ? "down" : "up"}`),
    fill = element("span");
  const name = h("span", { class: "name" }, ...[label].flat());
  fill.style.width = `${(50 * Math.abs(value)) / most}%`;
  bar.append(fill);
  line.append(name, bar, element("span", "value", digits(value)));
  return line;
}
