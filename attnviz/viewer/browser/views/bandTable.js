// The One word view as a table: a header with the words, and a row for each band.
import { hasWords, isOfHeads, shortNameAt } from "../model/axes.js";
import { short } from "../model/numeral.js";
import { button, element, h, redraw, scaleOf, write } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { whenOther } from "../dom/timing.js";
import {
  blanks,
  cellAt,
  drawWords,
  makeKeptLine,
  NOTHING,
  numberAt,
  restAt,
  sumOf,
  TO_COME,
  togetherAt,
} from "./bandFace.js";
import { endsOf, isShownBy, selectedColumn } from "./bandParts.js";

const SELECTED = new Set(["key", "answer"]);
const FIRST_COLUMN = "Step"; // what it does is said there

// `isFirst` is whether it is that of the whole sheet, over what is said too.
function makeHeader(part, { place, isFirst, width }, acts) {
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
    const act = button("", ({ shiftKey }) => acts.select(cells.columns.name, shownColumns[nth], shiftKey), "link");
    const name = h("th", { scope: "col" }, act);
    act.tabIndex = -1;
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
    update(part, { pass, where: { cell, present }, withoutText }) {
      if (isFirst) nameFirst(!present && !withoutText); // nothing is said beside the numbers there
      if (missing) write(about, present ? `${missing} more` : `the largest; ${missing} more`);
      else if (withoutText && part.left && part.cells.columns.name === "key") write(about, "query"); // which nothing beside it says
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

// The line of a part that is the `nth` of `height`, in a table of `width` columns.
function makeLine(part, { place, nth, height, width }, acts) {
  const { cells, left, band } = part,
    line = element("tr"),
    isTogether = nth === part.rows.length;
  const bodyCells = part.columns.map(() => makeCell(acts)),
    endCells = endsOf(part).map(({ acts: actsThere }) => makeCell(actsThere ?? acts));
  const isFirst = nth === 0,
    hasHeads = isOfHeads(cells.rows),
    isPlace = height > 1 && !hasHeads,
    rest = part.rest.length ? makeCell(acts) : null;
  const sentence = element("td", "said"),
    before = left ? makeCell(acts) : null,
    label = element("th", "label"),
    sum = element("td", "sum");
  sentence.rowSpan = height;
  label.scope = "row";
  const end = endCells.length
    ? endCells.map(each => each.element)
    : band.cells.sums
      ? [sum]
      : before
        ? [label]
        : blanks(1); // what has no room before its row
  line.append(
    ...(isFirst ? [sentence] : []),
    before?.element ?? label,
    ...bodyCells.map(each => each.element),
    ...(rest ? [rest.element] : []),
    ...blanks(width + 1 - bodyCells.length - (rest ? 1 : 0) - end.length),
    ...end,
  );
  if (isFirst) line.className = "first";
  if (hasWords(cells.columns)) line.classList.add("of-words");
  if (height === 1 && !part.side) line.classList.add("single");
  if (part.side) line.classList.add(`side-${part.side}`);
  if (isPlace) label.classList.add("place");
  if (isTogether) line.classList.add("button");
  const all = [...(before ? [before] : []), ...bodyCells, ...endCells];
  return {
    element: line,
    place,
    isSingle: height === 1 && !part.side,
    isButton: isTogether,
    cells: () => all.filter(({ isThere }) => isThere()).map(each => each.element),
    side: part.side,
    mark: (focus, sources) => {
      for (const each of all) each.mark(focus, sources);
    },
    update(part, paint) {
      const row = isTogether ? null : part.rows[nth],
        column = selectedColumn(paint.pass, part);
      line.classList.toggle("lit", part.isLit);
      if (isTogether && before) label.textContent = "together";
      if (!isTogether)
        label.textContent = labelOf(part, { row, isFirst, isPlace, hasHeads, withoutText: paint.withoutText });
      if (!isTogether && isPlace) label.setAttribute("aria-label", label.textContent.replace("dim ", "dimension "));
      if (isFirst) redraw(sentence, drawWords(part, paint, acts));
      for (const [each, at] of bodyCells.map((cell, i) => [cell, part.columns[i]])) {
        each.update(
          at === null
            ? NOTHING
            : isTogether
              ? togetherAt(part, paint, [at])
              : heardIn(part, cellAt(part, paint, row, at)),
          at === column,
        );
      }
      rest?.update(isTogether ? togetherAt(part, paint, part.rest) : restAt(part, paint, row), false);
      if (before)
        before.update(
          isTogether ? NOTHING : part.isThere ? heardIn(part, numberAt(part.left, paint, row, 0)) : TO_COME,
          false,
        );
      if (isTogether) redraw(before?.element ?? label, [othersOf(part, acts)]);
      endsOf(part).forEach(({ column: at, slot, paint: paintThere, side, name }, i) => {
        endCells[i].update(
          isTogether
            ? NOTHING
            : part.isWhole
              ? heardIn(
                  { side: side ?? part.side, band: part.band },
                  named(name, numberAt(slot, paintThere ?? paint, row, at)),
                )
              : TO_COME,
          false,
        );
      });
      if (!part.band.cells.sums) return;
      const isLeft = part.isWhole && !isShownBy(paint.look, part);
      sum.textContent = isLeft ? "sum" : part.isWhole ? `sum ${short(sumOf(part, paint))}` : "";
      sum.classList.toggle("to-come", isLeft);
    },
  };
}

// On the sheet of two passes a cell says which it is of, and in which band.
function heardIn({ side, band }, face) {
  return side && face.label ? { ...face, label: `${side}, ${band.label}: ${face.label}` } : face;
}

// A number that no heading stands over, with its name before it.
function named(name, face) {
  return name && face.cell ? { ...face, name } : face;
}

// The label before a row, and of which of two passes it is; its band, too, where nothing is said beside it.
function labelOf({ side, cells, band, isAlone }, { row, isFirst, isPlace, hasHeads, withoutText }) {
  const name = hasHeads ? cells.rows.labels[row] : isPlace ? shortNameAt(cells.rows, row) : band.label;
  if (!side) return name;
  if (withoutText && !isPlace && !hasHeads) return side === "A" || isAlone ? `${shortest(band)} ${side}` : side;
  return isPlace || hasHeads ? `${isFirst ? `${side}, ` : ""}${name}` : side;
}

// One word of what a band is, so that its line grows no higher.
function shortest({ array, label }) {
  return array ? array.slice(1) : label.split(" ")[0];
}

function othersOf({ key, others, left, side, band }, acts) {
  const text = left ? `other ${others.length}` : `${others.length} more`,
    made = button(text, () => acts.open(key), "link");
  made.ariaLabel = `${side ? `${side}, ` : ""}${band.label}: ${text}`;
  return made;
}

// A cell of the table: {element, update(face, isChosen), mark(own, sources), isThere()}.
function makeCell({ pick, point, edit }) {
  const was = element("s");
  const made = h("td", { role: "gridcell" }, "", was);
  let face = NOTHING,
    address = "";
  const draw = whenOther(([kind, apart, text, colour, marked, before, name, isChosen, address, place]) => {
    const is = [isChosen && "chosen", marked && "marked", apart && "apart", face.isExact && "exact"];
    made.className = [kind, ...is].filter(Boolean).join(" ");
    Object.assign(made.dataset, { cell: address, place });
    made.toggleAttribute("data-name", Boolean(name));
    if (name) made.dataset.name = name;
    made.firstChild.data = text;
    write(was, before ?? "");
    Object.assign(made.style, { backgroundColor: colour ?? "", color: face.ink ?? "" });
  });
  const change = () => {
    if (face.cell && !face.array) edit(face.cell, made);
  };
  made.onclick = () => {
    if (face.cell) pick(face.cell.name, face.cell.index);
  };
  made.ondblclick = change;
  made.onkeydown = event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (made.classList.contains("focus")) change();
    else made.click();
  };
  made.onpointerenter = () => {
    if (face.cell) point(face.cell.name, face.cell.index);
  };
  made.onpointerleave = () => {
    if (face.cell) point(face.cell.name, null);
  };
  made.onfocus = () => made.setAttribute("aria-label", face.label ?? "");
  made.onblur = () => made.removeAttribute("aria-label");
  return {
    element: made,
    isThere: () => Boolean(face.cell),
    update(next, isChosen) {
      face = next;
      address = addressIn(face.array ? null : face.cell);
      const { kind, apart, text, colour, marked, was: before, name, place } = face;
      draw([kind, apart, text, colour, marked, before, name, isChosen, address, addressIn(place)]);
    },
    mark(focus, sources) {
      made.classList.toggle("focus", address !== "" && address === focus);
      made.classList.toggle("source", sources.has(address));
    },
  };
}

function addressIn(cell) {
  return cell ? `${cell.name}[${cell.index}]` : "";
}

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
export function outlineOf(part, position, parts) {
  const height = heightOf(part);
  return [
    ...(isNamed(part, parts[position - 1]) ? [{ isHeader: true }] : []),
    ...Array(height).fill({ isSingle: height === 1 && !part.side }),
  ];
}

// The columns: the sentence, the label of a row, one for each word or position, and the end at the right.
function columnsOf(width) {
  return h(
    "colgroup",
    {},
    ...["said", "label"].map(name => element("col", name)),
    ...Array.from({ length: width + 1 }, () => element("col")),
  );
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
