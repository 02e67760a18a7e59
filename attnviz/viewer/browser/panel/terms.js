// Terms: the lines from which a number was computed. Each cell of them can be unfolded.
import { element } from "../elements/element.js";
import { digits } from "../pass/numeral.js";
import { makeScroller } from "../elements/scroller.js";
import { setTabStop, rovingFocus } from "../elements/roving.js";
import { lights } from "./numberStory.js";

// `count` lines are there, all of them if it is null; unfold(cell) is called as one is clicked.
export function drawTerms(pass, terms, { order, count, value }, { unfold, point }) {
  const body = withRole("tbody", "rowgroup");
  const lines = count === null ? sorted(terms.lines, order) : terms.lines.slice(0, count);
  body.append(...lines.map(line => drawLine(pass, line, terms.between, { unfold, point })));
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
function drawLine(pass, { cells, text, value }, between, { unfold, point }) {
  const name = cell("name");
  cells.forEach((each, place) => {
    if (place) name.append(between);
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
