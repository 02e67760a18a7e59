// Kinds: a small table of how words of one kind score those of another.
import { background, css, textOn } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { short } from "../pass/numeral.js";

export function drawKinds({ title, rows, columns, values, limit }, colours) {
  const table = element("table", "kinds");
  table.append(
    drawRow([element("th", "of", title), ...columns.map(label => heading(label, "col"))]),
    ...rows.map((label, row) =>
      drawRow([heading(label, "row"), ...values[row].map(value => drawNumber(value, limit, colours))]),
    ),
  );
  return table;
}

function drawRow(cells) {
  const row = element("tr");
  row.append(...cells);
  return row;
}

function heading(label, scope) {
  const cell = element("th", "", label);
  cell.scope = scope;
  return cell;
}

function drawNumber(value, limit, colours) {
  const cell = element("td", "", short(value)),
    colour = background(value, { scale: "signed", limit }, colours);
  Object.assign(cell.style, { background: css(colour), color: css(textOn(colour)) });
  return cell;
}
