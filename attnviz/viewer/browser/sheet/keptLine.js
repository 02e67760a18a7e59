// Kept: under the words, whose keys and values were there before the one that asks came, where a model writes on.
import { element, write } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";
import { blanks } from "./blanks.js";

const HIGH_PX = 17,
  IN_A_TALK = 1.45; // of its line, with what is between it and the next (sheet.css): pixels, and rem

// The sentence on the word that asks; null of the first word, and where no model writes on.
/** @param {Pass} pass */
export function keptIn({ document: { next } }, { cell }) {
  const kept = next?.kept[cell.query];
  return kept?.text ? kept : null;
}

export function makeKeptLine(place, width) {
  const line = element("tr", "kept"),
    saved = element("td", "saved");
  saved.colSpan = 2;
  const draw = whenOther(texts => {
    const names = texts.map(([text, count, name]) => {
      const cell = element("td", name, text);
      cell.colSpan = count;
      return cell;
    });
    line.replaceChildren(saved, ...names, ...blanks(width + 1 - texts.reduce((sum, [, count]) => sum + count, 0)));
  });
  return {
    element: line,
    place,
    fixed: HIGH_PX,
    cells: () => [],
    mark: () => {},
    update(part, paint) {
      this.fixed = paint.where.present
        ? IN_A_TALK * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
        : HIGH_PX;
      const { text, saved: short } = keptIn(paint.pass, paint.where);
      write(saved, short);
      saved.title = text;
      draw(textsOf(part, paint.where.cell));
    },
  };
}

// The texts over its columns: [text, number of columns, class].
function textsOf({ columns }, { query }) {
  const before = columns.filter(column => column !== null && column < query).length;
  return [
    ...(before ? [["keys and values kept", before, "before"]] : []),
    ...(columns.includes(query) ? [["new", 1, "new"]] : []),
  ];
}
