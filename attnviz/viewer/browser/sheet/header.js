// Headers: what the columns of a part are called. A click on a word lets it ask; with Shift, or on an answer, it is asked.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { blanks } from "./blanks.js";

const SELECTED = new Set(["key", "answer"]);

export function makeHeader({ cells, right }, place, width, acts) {
  const line = element("tr", "names"), found = right?.columns.name ? right.columns.labels : [];
  let shown = null;
  const names = Array.from({ length: cells.size[1] }, (_, column) => {
    const name = element("th"), act = button("", ({ shiftKey }) => acts.select(cells.columns.name, column, shiftKey), "link");
    name.scope = "col";
    act.tabIndex = -1;
    name.append(act);
    return name;
  });
  line.append(...blanks(2), ...names, ...blanks(width - names.length - found.length + 1), ...found.map((label) => element("th", "", label)));
  return {
    element: line,
    place,
    isHeader: true,
    cells: () => (shown && SELECTED.has(shown) ? names.map((name) => name.firstChild) : []),
    mark: () => {},
    // The middle of each column, from the left of what else stands in the sheet.
    middles(origin) {
      const { left } = origin.getBoundingClientRect();
      return names.map((name) => {
        const at = name.getBoundingClientRect();
        return { x: at.left - left + at.width / 2 };
      });
    },
    update({ cells: { columns } }, { pass, where: { cell } }) {
      shown = columns.name;
      const isOneSentence = columns.name === "key" && pass.document.words.shared;
      names.forEach((name, column) => {
        write(name.firstChild, columns.labels[column]);
        name.firstChild.disabled = !SELECTED.has(columns.name);
        name.classList.toggle("chosen", SELECTED.has(columns.name) && cell[columns.name] === column);
        name.classList.toggle("asks", isOneSentence && cell.query === column);
      });
    },
  };
}
