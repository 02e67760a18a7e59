// Terms: the lines from which a number was computed. Each cell of them can be unfolded.
import { element } from "./element.js";
import { digits } from "./numeral.js";
import { lights } from "./told.js";

// `count` lines are there, all of them if it is null; unfold(cell) is called as one is clicked.
export function drawTerms(pass, terms, { order, count, value }, { unfold, point }) {
  const body = element("tbody");
  const lines = count === null ? sorted(terms.lines, order) : terms.lines.slice(0, count);
  body.append(...lines.map((line) => drawLine(pass, line, terms.between, { unfold, point })));
  if (count !== null) body.lastChild?.classList.add("latest");
  const table = element("table");
  table.append(body);
  if (count === null && terms.conclusion) table.append(drawTotal(terms.conclusion, value));
  const scroller = element("div", "terms");
  scroller.tabIndex = 0; // so that the keyboard can scroll it
  scroller.setAttribute("role", "region");
  scroller.setAttribute("aria-label", "Terms");
  scroller.append(table);
  return scroller;
}

function sorted(lines, order) {
  return order === "in order" ? lines : [...lines].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
}

function drawLine(pass, { cells, text, value }, between, { unfold, point }) {
  const name = element("td", "name");
  cells.forEach((cell, place) => {
    if (place) name.append(between);
    const link = element("button", "link", pass.nameOf(cell.name, cell.index));
    lights(link, cell, point);
    link.onclick = () => unfold(cell);
    name.append(link);
  });
  const line = element("tr");
  line.append(name, element("td", "sum", text), element("td", "value", digits(value)));
  return line;
}

function drawTotal(conclusion, value) {
  const said = element("td", "sum", conclusion);
  said.colSpan = 2;
  const line = element("tr", "total");
  line.append(said, element("td", "value", digits(value)));
  const foot = element("tfoot");
  foot.append(line);
  return foot;
}
