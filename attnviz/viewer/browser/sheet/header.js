// Headers: what the columns of a part are called. A click on a word lets it ask; with Shift, or on an answer, it is asked.
import { button } from "../elements/button.js";
import { element, scaleOf, write } from "../elements/element.js";
import { hasWords, shortNameAt } from "../pass/axes.js";
import { endsOf } from "./bandParts.js";
import { blanks } from "./blanks.js";

const SELECTED = new Set(["key", "answer"]);
const FIRST_COLUMN = "Step"; // what it does is said there

// `isFirst` is whether it is that of the whole sheet, over what is said too.
export function makeHeader(part, { place, isFirst, width }, acts) {
  const { cells, right, columns, rest: others, ends } = part,
    named = right?.columns.name ? ({ column }) => shortNameAt(right.columns, column) : ends ? ({ side }) => side : null;
  const line = element("tr", "names"),
    endNames = named ? endsOf(part).map(named) : [];
  const missing = cells.size[1] - columns.length - others.length,
    rest = element("td", "rest"),
    head = element("span", "head"),
    about = element("span", "", namesOf(cells.columns));
  const nameFirst = isSaid => {
    write(head, isSaid ? FIRST_COLUMN : "");
    rest.role = isSaid ? "columnheader" : null;
  };
  let shown = null,
    shownColumns = columns;
  const names = columns.map((_, nth) => {
    const name = element("th"),
      act = button("", ({ shiftKey }) => acts.select(cells.columns.name, shownColumns[nth], shiftKey), "link");
    name.scope = "col";
    act.tabIndex = -1;
    name.append(act);
    return name;
  });
  const together = others.length ? [element("th", "others", `other ${others.length}`)] : [];
  rest.colSpan = 2;
  rest.append(...(isFirst ? [head, " "] : []), about);
  line.append(
    rest,
    ...names,
    ...together,
    ...blanks(width - names.length - together.length - endNames.length + 1),
    ...endNames.map(label => element("th", "place", label)),
  );
  return {
    element: line,
    place,
    isHeader: true,
    cells: () => (shown && SELECTED.has(shown) ? names.map(name => name.firstChild) : []),
    mark: () => {},
    // The middle of each column, from the left of what else stands in the sheet.
    middles(origin) {
      const { left } = origin.getBoundingClientRect(),
        scale = scaleOf(origin);
      return names.map(name => {
        const at = name.getBoundingClientRect();
        return { x: (at.left - left + at.width / 2) / scale };
      });
    },
    update(part, { pass, where: { cell, present }, isBare }) {
      if (isFirst) nameFirst(!present && !isBare); // nothing is said beside the numbers there
      if (missing) write(about, present ? `${missing} more` : `the largest; ${missing} more`);
      else if (isBare && part.left && part.cells.columns.name === "key") write(about, "query"); // which nothing beside it says
      const { columns: axis } = part.cells,
        isOneSentence = axis.name === "key" && pass.document.words.shared;
      shown = axis.name;
      shownColumns = part.columns;
      for (const [name, column, both] of names.map((each, i) => [each, part.columns[i], part.names?.[i]])) {
        write(name.firstChild, both ?? axis.labels[column] ?? "");
        if (!hasWords(axis)) name.ariaLabel = shortNameAt(axis, column).replace("dim ", "dimension "); // what its number counts stands in another cell
        name.classList.toggle("both", both !== undefined && both !== axis.labels[column]);
        name.firstChild.disabled = !SELECTED.has(axis.name);
        name.classList.toggle("chosen", SELECTED.has(axis.name) && cell[axis.name] === column);
        name.classList.toggle("asks", isOneSentence && cell.query === column);
      }
    },
  };
}

// The noun for its columns; that words are words is seen.
function namesOf(columns) {
  if (!hasWords(columns)) return columns.name === "neuron" ? "neurons" : "dimensions";
  return columns.name === "answer" ? "answers" : "";
}
