// The working of a number that is asked for: what it is computed from, with digits. The number itself is none of it.
import { element } from "../elements/element.js";
import { typesetInPieces } from "../elements/formula.js";

const MOST_LINES = 16; // below each other: what is left stands beside them where there is room

// `working` is Working of generated/contract.d.ts.
export function drawWorking({ formula, tables }) {
  const box = element("section", "asked-working"),
    line = element("p", "formula"),
    all = element("div", "tables"),
    parts = tables.flatMap(({ heads, lines }) => inParts(lines).map(part => ({ heads, lines: part })));
  box.setAttribute("aria-label", "What it is computed from");
  box.tabIndex = 0; // it may scroll
  box.style.setProperty("--lines", String(Math.max(...parts.map(({ lines: { length } }) => length))));
  line.append("It is computed from these numbers, by ", ...typesetInPieces(formula));
  all.append(...parts.map(drawTable));
  box.append(line, all);
  return box;
}

function inParts(lines) {
  const count = Math.ceil(lines.length / MOST_LINES),
    size = Math.ceil(lines.length / count);
  return Array.from({ length: count }, (_, nth) => lines.slice(nth * size, (nth + 1) * size));
}

function drawTable({ heads, lines }) {
  const table = element("table", heads.length ? "" : "of-names"),
    body = element("tbody");
  body.append(
    ...lines.map(([name, ...numbers]) =>
      lineOf([head("row", name), ...numbers.map(number => element("td", "", number))]),
    ),
  );
  if (heads.length) {
    const top = element("thead");
    top.append(lineOf(heads.map(([role, text]) => head("col", text, role))));
    table.append(top);
  }
  table.append(body);
  return table;
}

function lineOf(cells) {
  const line = element("tr");
  line.append(...cells);
  return line;
}

function head(scope, text, className = "") {
  const cell = element("th", className, text);
  cell.scope = scope;
  return cell;
}
