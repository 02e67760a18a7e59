// Headings: what the rows and the columns of a table are called, for those who hear it: they take no room.
// The visible ones stand around the table (labels.js).
import { element } from "../elements/element.js";
import { shapeOf } from "./slot.js";

// `line` is the row of all columns' headings, `rows` are the headings of rows.
export function makeHeadings([rows, columns]) {
  const heading = scope => {
    const made = element("th");
    made.setAttribute("role", scope === "col" ? "columnheader" : "rowheader");
    return made;
  };
  const line = element("tr"),
    corner = heading("col");
  const across = Array.from({ length: columns }, () => heading("col")),
    down = Array.from({ length: rows }, () => heading("row"));
  line.setAttribute("role", "row");
  line.append(corner, ...across);
  let shown = "";
  return {
    line,
    rows: down,
    write(slot) {
      const next = [slot.stage.title, ...slot.rows.labels, ...slot.columns.labels].join("\n");
      if (next === shown) return;
      shown = next;
      corner.textContent = shapeOf(slot).counted || slot.stage.title;
      across.forEach((each, place) => {
        each.textContent = slot.columns.labels[place] || slot.stage.title;
      });
      down.forEach((each, place) => {
        each.textContent = slot.rows.labels[place] || slot.stage.title;
      });
    },
  };
}
