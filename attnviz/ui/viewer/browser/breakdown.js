// Breakdowns: how one cell was made, as a table of its terms.
import { named } from "./cells.js";
import { element } from "./element.js";

// `unfold(cell)` is called when one of the cells it was made from is clicked.
export function drawBreakdown(axes, cell, { value, between, lines, conclusion, total }, unfold) {
  const box = element("section", "terms");
  box.append(element("h4", "", `${named(axes, cell)} = ${value}`));
  const table = element("table");
  const body = element("tbody");
  body.append(...lines.map((line) => drawLine(axes, line, between, unfold)));
  table.append(body, drawTotal(conclusion, total));
  const scroller = element("div", "scroller long");
  scroller.append(table);
  box.append(scroller);
  return box;
}

function drawLine(axes, [cells, sum, value], between, unfold) {
  const name = element("td", "name");
  cells.forEach((cell, place) => {
    if (place) name.append(between);
    const link = element("button", "link", named(axes, cell));
    link.onclick = () => unfold(cell);
    name.append(link);
  });
  const line = element("tr");
  line.append(name, element("td", "sum", sum), element("td", "value", value));
  return line;
}

function drawTotal(conclusion, total) {
  const foot = element("tfoot");
  if (!conclusion) return foot;
  const sum = element("td", "sum", conclusion);
  sum.colSpan = 2;
  const line = element("tr", "total");
  line.append(sum, element("td", "value", total));
  foot.append(line);
  return foot;
}
