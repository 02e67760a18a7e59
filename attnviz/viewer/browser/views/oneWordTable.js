// The One word view as a table: a header with the words, and a line for each row of a part.
import { hasWords, isOfHeads, shortNameAt } from "../model/axes.js";
import { button, h, memoLast, redraw, rovingFocus, setTabStop, write } from "../dom/element.js";
import { NOTHING, cacheNoteAt, cellsAt, drawWords, endsAt, leftAt, restAt, sumOf } from "./oneWordCells.js";
import { endsOf, isShownBy, selectedPlace } from "./oneWordParts.js";

const SELECTABLE = new Set(["key", "answer"]);
const FIRST_COLUMN = "Step"; // over the sentences

const blanks = count => Array.from({ length: Math.max(count, 0) }, () => h("td", { class: "blank" }));

// The names of a part's columns; `isFirst` is whether it is the first of the table, over the sentences too.
function makeHeader(part, { partIndex, isFirst, width }, actions) {
  const { cells, rest } = part,
    isSelectable = SELECTABLE.has(cells.columns.name),
    endNames = endNamesOf(part),
    missing = cells.size[1] - part.columns.length - rest.length;
  let columns = part.columns;
  const names = columns.map((_, nth) => {
    const act = button("", ({ shiftKey }) => actions.select(cells.columns.name, columns[nth], shiftKey), "link");
    act.tabIndex = -1;
    return h("th", { scope: "col" }, act);
  });
  const head = h("span", { class: "head" }),
    about = h("span", {}, namesOf(cells.columns)),
    corner = h("td", { class: "rest", colSpan: 2 }, ...(isFirst ? [head, " "] : []), about);
  const others = rest.length ? [h("th", { class: "others" }, `other ${rest.length}`)] : [];
  const line = h(
    "tr",
    { class: "names" },
    corner,
    ...names,
    ...others,
    ...blanks(width - names.length - others.length - endNames.length + 1),
    ...endNames.map(label => h("th", { class: "place" }, label)),
  );
  return {
    element: line,
    partIndex,
    isHeader: true,
    cells: () => (isSelectable ? names.map(name => name.firstChild) : []),
    mark: () => {},
    update(part, { pass, where: { cell, present, step }, withoutText }) {
      const hasSentences = !present && !withoutText;
      if (isFirst) {
        write(head, hasSentences ? FIRST_COLUMN : "");
        corner.role = hasSentences ? "columnheader" : null;
      }
      const { columns: axis } = part.cells,
        isOneSentence = axis.name === "key" && pass.wordsAt(step).shared;
      if (missing) write(about, present ? `${missing} more` : `the largest; ${missing} more`);
      else if (part.left) write(about, part.left.stage.one); // over its column
      columns = part.columns;
      for (const [nth, name] of names.entries()) {
        const column = columns[nth],
          both = part.names?.[nth], // A's word and B's
          label = axis.labels[column] ?? "",
          isNamed = part.left && !missing && nth === 0 && !hasWords(axis); // the corner names another column
        write(name.firstChild, both ?? (isNamed ? `${axis.name === "neuron" ? "neuron" : "dim"} ${label}` : label));
        if (!hasWords(axis)) name.ariaLabel = shortNameAt(axis, column).replace("dim ", "dimension "); // what it counts stands in another cell
        name.firstChild.disabled = !isSelectable;
        name.classList.toggle("noun", Boolean(isNamed));
        name.classList.toggle("both", both !== undefined && both !== axis.labels[column]);
        name.classList.toggle("chosen", isSelectable && cell[axis.name] === column);
        name.classList.toggle("of-answers", axis.name === "answer");
        name.classList.toggle("asks", isOneSentence && cell.query === column);
      }
    },
  };
}

function endNamesOf(part) {
  const { right, ends } = part;
  if (right?.columns.name) return endsOf(part).map(({ column }) => shortNameAt(right.columns, column));
  return ends ? ends.map(({ side }) => side) : [];
}

// The noun for its columns; words need none.
function namesOf(columns) {
  if (!hasWords(columns)) return columns.name === "neuron" ? "neurons" : "dimensions";
  return columns.name === "answer" ? "answers" : "";
}

// The line of a part that is the `nth` of `height`, in a table of `width` columns.
function makeLine(part, { partIndex, nth, height, width }, actions) {
  const { cells, left, band, side } = part,
    isFirst = nth === 0,
    isOfOthers = nth === part.rows.length,
    isSingle = height === 1 && !side,
    hasHeads = isOfHeads(cells.rows),
    isPlace = height > 1 && !hasHeads;
  const bodyCells = part.columns.map(() => makeCell(actions)),
    endCells = endsOf(part).map(end => makeCell(end.actions ?? actions)),
    rest = part.rest.length ? makeCell(actions) : null,
    before = left ? makeCell(actions) : null;
  const sentence = h("td", { class: "said", rowSpan: height }),
    label = h("th", { class: isPlace ? "label place" : "label", scope: "row" }),
    sum = h("td", { class: "sum" });
  const labelAfter = before && !endCells.length && !band.cells.sums ? [label] : [], // it has no room before its row
    spareEnd = band.cells.sums ? [sum] : blanks(1 - labelAfter.length),
    end = endCells.length ? endCells.map(each => each.element) : spareEnd;
  const is = {
    first: isFirst,
    "of-words": hasWords(cells.columns),
    "of-answers": cells.columns.name === "answer",
    single: isSingle,
    [`side-${side}`]: side,
    button: isOfOthers,
  };
  const line = h(
    "tr",
    {
      class: Object.keys(is)
        .filter(name => is[name])
        .join(" "),
    },
    ...(isFirst ? [sentence] : []),
    before?.element ?? label,
    ...bodyCells.map(each => each.element),
    ...(rest ? [rest.element] : []),
    ...labelAfter,
    ...blanks(width + 1 - bodyCells.length - (rest ? 1 : 0) - end.length - labelAfter.length),
    ...end,
  );
  const all = [...(before ? [before] : []), ...bodyCells, ...endCells];
  return {
    element: line,
    partIndex,
    isSingle,
    isButton: isOfOthers,
    side,
    cells: () => all.filter(({ isThere }) => isThere()).map(each => each.element),
    mark: (focus, sources) => {
      for (const each of all) each.mark(focus, sources);
    },
    update(part, paint) {
      const row = isOfOthers ? null : part.rows[nth],
        [, selected] = selectedPlace(paint.pass, part);
      line.classList.toggle("lit", part.isLit);
      if (isFirst) redraw(sentence, drawWords(part, paint, actions));
      cellsAt(part, paint, row).forEach((face, i) => {
        bodyCells[i].update(face, part.columns[i] === selected);
      });
      rest?.update(restAt(part, paint, row));
      before?.update(leftAt(part, paint, row));
      endsAt(part, paint, row).forEach((face, i) => {
        endCells[i].update(face);
      });
      if (isOfOthers) {
        if (before) label.textContent = "together";
        redraw(before?.element ?? label, [othersOf(part, actions)]);
      } else {
        label.textContent = labelOf(part, { row, isFirst, isPlace, hasHeads, withoutText: paint.withoutText });
        if (isPlace) label.setAttribute("aria-label", label.textContent.replace("dim ", "dimension "));
      }
      if (!part.band.cells.sums) return;
      const isToCome = part.isWhole && !isShownBy(paint.look, part);
      sum.textContent = isToCome ? "sum" : part.isWhole ? `sum ${sumOf(part, paint)}` : "";
      sum.classList.toggle("to-come", isToCome);
    },
  };
}

// The label before a row, and of which of two passes it is; its band, too, where no sentence stands beside it.
function labelOf({ side, cells, band, isAlone }, { row, isFirst, isPlace, hasHeads, withoutText }) {
  const name = hasHeads ? cells.rows.labels[row] : isPlace ? shortNameAt(cells.rows, row) : band.label;
  if (!side) return name;
  if (isPlace || hasHeads) return `${isFirst ? `${side}, ` : ""}${name}`;
  const oneWord = band.array ? band.array.slice(1) : band.label.split(" ")[0]; // so that its line grows no higher
  return withoutText && (side === "A" || isAlone) ? `${oneWord} ${side}` : side;
}

function othersOf({ key, others, left, side, band }, actions) {
  const text = left ? `other ${others.length}` : `${others.length} more`,
    made = button(text, () => actions.open(key), "link");
  made.ariaLabel = `${side ? `${side}, ` : ""}${band.label}: ${text}`;
  return made;
}

// A cell of the table: {element, update(face, isChosen), mark(address, sources), isThere()}.
function makeCell({ pick, point, edit }) {
  const was = h("s"),
    made = h("td", { role: "gridcell" }, "", was);
  let face = NOTHING,
    address = "";
  const draw = memoLast(([kind, apart, text, colour, marked, before, name, isChosen, address, place]) => {
    const is = [isChosen && "chosen", marked && "marked", apart && "apart", face.isExact && "exact"];
    made.className = [kind, ...is].filter(Boolean).join(" ");
    Object.assign(made.dataset, { cell: address, place });
    made.toggleAttribute("data-name", Boolean(name));
    if (name) made.dataset.name = name;
    made.firstChild.data = text;
    write(was, before ?? "");
    Object.assign(made.style, { backgroundColor: colour ?? "", color: face.ink ?? "" });
  });
  const change = () => face.cell && !face.array && edit(face.cell, made);
  made.onclick = () => face.cell && pick(face.cell.name, face.cell.index);
  made.ondblclick = change;
  made.onkeydown = event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (made.classList.contains("focus")) change();
    else made.click();
  };
  made.onpointerenter = () => face.cell && point(face.cell.name, face.cell.index);
  made.onpointerleave = () => face.cell && point(face.cell.name, null);
  made.onfocus = () => made.setAttribute("aria-label", face.label ?? "");
  made.onblur = () => made.removeAttribute("aria-label");
  return {
    element: made,
    isThere: () => Boolean(face.cell),
    update(next, isChosen = false) {
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

const addressIn = cell => (cell ? `${cell.name}[${cell.index}]` : "");

const CACHE_LINE_PX = 17,
  CACHE_LINE_REM = 1.45; // of the line below, with the space after it (sheet.css); in a talk in rem

// The line under the words that says which keys and values are kept.
function makeCacheLine(partIndex, width) {
  const saved = h("td", { class: "saved", colSpan: 2 }),
    line = h("tr", { class: "kept" });
  const draw = memoLast(texts => {
    const cells = texts.map(([text, count, name]) => h("td", { class: name, colSpan: count }, text)),
      taken = texts.reduce((sum, [, count]) => sum + count, 0);
    line.replaceChildren(saved, ...cells, ...blanks(width + 1 - taken));
  });
  const made = {
    element: line,
    partIndex,
    fixed: CACHE_LINE_PX,
    cells: () => [],
    mark: () => {},
    update({ columns }, { pass, where }) {
      const rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
        note = cacheNoteAt(pass, where),
        { query } = where.cell,
        before = columns.filter(column => column !== null && column < query).length;
      made.fixed = where.present ? CACHE_LINE_REM * rem() : CACHE_LINE_PX;
      write(saved, note.saved);
      saved.title = note.text;
      draw([
        ...(before ? [["keys and values kept", before, "before"]] : []),
        ...(columns.includes(query) ? [["new", 1, "new"]] : []),
      ]);
    },
  };
  return made;
}

// mark() takes of B, and of A, what line.mark() does.
export function makeOneWordTable(actions) {
  const table = h("table", { role: "grid" });
  let lines = [];
  const cells = () => lines.flatMap(line => line.cells());
  rovingFocus(table, () => lines.map(line => line.cells()).filter(({ length }) => length));
  const build = memoLast(([width, hasCacheLine], parts) => {
    lines = parts.flatMap((part, nth) =>
      linesOf(part, parts[nth - 1], { partIndex: nth, width, hasCacheLine }, actions),
    );
    const columns = ["said", "label", ...Array(width + 1).fill("")].map(name => h("col", { class: name }));
    table.replaceChildren(h("colgroup", {}, ...columns), ...lines.map(line => line.element));
  });
  // What comes later keeps its space, so that nothing moves; one line says that it comes. On paper it is written there by hand.
  const markLater = (parts, { where, withoutText }) => {
    const isDrawn = where.present || withoutText || table.closest(".printed");
    for (const { element, partIndex } of lines)
      element.classList.toggle("later", !isDrawn && !parts[partIndex].isThere);
    const note = lines.find(({ element }) => element.matches(".later") && element.querySelector(".said"));
    if (note) redraw(note.element.querySelector(".said"), [h("span", { class: "note" }, "Still to come")]);
  };
  return {
    element: table,
    lines: () => lines,
    update(parts, paint, { label, hasCacheLine }) {
      build([widthOf(parts), hasCacheLine, parts.map(shapeOf)], parts);
      table.setAttribute("aria-label", label);
      for (const line of lines) line.update(parts[line.partIndex], parts[line.partIndex].paint ?? paint);
      markLater(parts, paint);
    },
    mark(ofB, ofA) {
      for (const line of lines) line.mark(...(line.side === "A" ? ofA : ofB));
    },
    // The cell that the keyboard is in has the tab stop, else the one of that address, else the first.
    setTabStop(address) {
      const all = cells(),
        active = table.getRootNode().activeElement,
        isActive = all.includes(active);
      setTabStop(all, isActive ? active : (all.find(({ dataset }) => dataset.cell === address) ?? all[0]));
    },
  };
}

export function widthOf(parts) {
  const columnsOf = part => part.columns.length + Math.min(part.rest.length, 1) + Math.max(endsOf(part).length - 1, 0);
  return Math.max(...parts.map(columnsOf));
}

// The lines of parts as far as their heights follow from them, before they are made.
export function outlineOf(part, nth, parts) {
  const height = heightOf(part),
    header = isNamed(part, parts[nth - 1]) ? [{ isHeader: true }] : [];
  return [...header, ...Array(height).fill({ isSingle: height === 1 && !part.side })];
}

// The shape of a part, on which its lines depend; their numbers are filled in.
function shapeOf({ key, side, columns, rest, rightColumns, ends, left, right, leftover, rows, others }) {
  const lengths = [columns, rest, ends, rows, others].map(each => each?.length);
  return [key, side, rightColumns, left?.name, right?.name, leftover?.name, lengths];
}

// The lines of a part: its columns' names, where they are others than those above, and its rows.
function linesOf(part, above, { partIndex, width, hasCacheLine }, actions) {
  const { cells, side } = part,
    height = heightOf(part),
    named = side === "A" && hasWords(cells.columns) ? partIndex + 1 : partIndex; // by B's words, which A may lack
  return [
    ...(isNamed(part, above) ? [makeHeader(part, { partIndex: named, isFirst: !above, width }, actions)] : []),
    ...(hasCacheLine && partIndex === 0 && cells.columns.name === "key" ? [makeCacheLine(partIndex, width)] : []),
    ...Array.from({ length: height }, (_, nth) =>
      makeLine(part, { partIndex, nth, height, width }, part.actions ?? actions),
    ),
  ];
}

const heightOf = ({ rows, others }) => rows.length + (others.length ? 1 : 0);

function isNamed({ cells, ends }, above) {
  const isOther = above?.cells.columns.name !== cells.columns.name,
    isBelowEnds = Boolean(above?.right?.columns.name) && above.side !== "A";
  return isOther || isBelowEnds || Boolean(ends);
}
