// The table of the sheet: the lines of its parts, made anew where parts of another shape stand there, else filled again.
import { element } from "../elements/element.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { whenOther } from "../elements/whenOther.js";
import { hasWords } from "../pass/axes.js";
import { makeLine } from "./bandLine.js";
import { endsOf } from "./bandParts.js";
import { makeHeader } from "./header.js";
import { makeKeptLine } from "./keptLine.js";

// Returns {element, lines(), update(parts, paint, {label, isKept}), mark(cell, there), setTabStop(address)}: `isKept` says whether a line
// under the words tells what is kept of them; mark() takes of B, and of A, what line.mark() does.
export function makeBandTable(acts) {
  const table = element("table");
  let lines = [];
  const cells = () => lines.flatMap(line => line.cells());
  table.setAttribute("role", "grid");
  rovingFocus(table, () => lines.map(line => line.cells()).filter(({ length }) => length));
  const build = whenOther(([width, isKept], parts) => {
    lines = parts.flatMap((part, place) => linesOf(part, parts[place - 1], { place, width, isKept }, acts));
    table.replaceChildren(columnsOf(width), ...lines.map(line => line.element));
  });
  return {
    element: table,
    lines: () => lines,
    update(parts, paint, { label, isKept }) {
      build([widthOf(parts), isKept, parts.map(shapeOf)], parts);
      table.setAttribute("aria-label", label);
      for (const line of lines) line.update(parts[line.place], parts[line.place].paint ?? paint);
    },
    mark(ofB, ofA) {
      for (const line of lines) line.mark(...(line.side === "A" ? ofA : ofB));
    },
    // The cell that the keyboard is in has the tab stop, else the one of that address, else the first.
    setTabStop(address) {
      const all = cells(),
        held = table.getRootNode().activeElement;
      setTabStop(all, all.find(cell => cell === held) ?? all.find(({ dataset }) => dataset.cell === address) ?? all[0]);
    },
  };
}

// The number of columns of parts, but for the last.
export function widthOf(parts) {
  return Math.max(
    ...parts.map(part => part.columns.length + Math.min(part.rest.length, 1) + Math.max(endsOf(part).length - 1, 0)),
  );
}

// The lines of parts as far as their heights follow from them, before they are made.
export function outlineOf(part, place, parts) {
  const height = heightOf(part);
  return [
    ...(isNamed(part, parts[place - 1]) ? [{ isHeader: true }] : []),
    ...Array(height).fill({ isSingle: height === 1 && !part.side }),
  ];
}

// The columns: the sentence, the label of a row, one for each word or place, and the end at the right.
function columnsOf(width) {
  const group = element("colgroup");
  group.append(
    ...["said", "label"].map(name => element("col", name)),
    ...Array.from({ length: width + 1 }, () => element("col")),
  );
  return group;
}

// The shape of a part, on which its lines depend; their numbers are filled in.
function shapeOf({ key, side, columns, rest, rightColumns, ends, left, right, leftover, rows, others }) {
  const lengths = [columns, rest, ends, rows, others].map(each => each?.length);
  return [key, side, rightColumns, left?.name, right?.name, leftover?.name, lengths];
}

// The lines of a part: its columns' names, where they are others than those above, and its rows.
function linesOf(part, above, { place, width, isKept }, acts) {
  const { cells } = part,
    height = heightOf(part),
    isOfB = part.side === "A" && hasWords(cells.columns);
  return [
    ...(isNamed(part, above)
      ? [makeHeader(part, { place: isOfB ? place + 1 : place, isFirst: !above, width }, acts)]
      : []), // B's words, which A may lack
    ...(isKept && place === 0 && cells.columns.name === "key" ? [makeKeptLine(place, width)] : []),
    ...Array.from({ length: height }, (_, nth) => makeLine(part, { place, nth, height, width }, part.acts ?? acts)),
  ];
}

function heightOf({ rows, others }) {
  return rows.length + (others.length ? 1 : 0);
}

// Whether the names of a part's columns stand over it.
function isNamed({ cells, ends }, above) {
  return (
    above?.cells.columns.name !== cells.columns.name ||
    (Boolean(above.right?.columns.name) && above.side !== "A") ||
    Boolean(ends)
  );
}
