// Lines: one row of a part of the sheet: what is said beside it, what stands at its left, under its columns, and at its right.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";
import { hasWords, isOfHeads, shortNameAt } from "../pass/axes.js";
import { short } from "../pass/numeral.js";
import { cellAt, NOTHING, numberAt, restAt, TO_COME, togetherAt } from "./bandFace.js";
import { blanks } from "./blanks.js";
import { endsOf, isShownBy, selectedColumn } from "./bandParts.js";
import { drawWords, sumOf } from "./bandWords.js";

// The line of a part that is the `nth` of `height`, in a table of `width` columns.
export function makeLine(part, { place, nth, height, width }, acts) {
  const { cells, left, band } = part,
    line = element("tr"),
    isTogether = nth === part.rows.length;
  const many = part.columns.map(() => makeCell(acts)),
    ones = endsOf(part).map(({ acts: actsThere }) => makeCell(actsThere ?? acts));
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
  const end = ones.length ? ones.map(each => each.element) : band.cells.sums ? [sum] : before ? [label] : blanks(1); // what has no room before its row
  line.append(
    ...(isFirst ? [sentence] : []),
    before?.element ?? label,
    ...many.map(each => each.element),
    ...(rest ? [rest.element] : []),
    ...blanks(width + 1 - many.length - (rest ? 1 : 0) - end.length),
    ...end,
  );
  if (isFirst) line.className = "first";
  if (hasWords(cells.columns)) line.classList.add("of-words");
  if (height === 1 && !part.side) line.classList.add("single");
  if (part.side) line.classList.add(`side-${part.side}`);
  if (isPlace) label.classList.add("place");
  if (isTogether) line.classList.add("button");
  const all = [...(before ? [before] : []), ...many, ...ones];
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
      if (!isTogether) label.textContent = labelOf(part, { row, isFirst, isPlace, hasHeads, isBare: paint.isBare });
      if (!isTogether && isPlace) label.setAttribute("aria-label", label.textContent.replace("dim ", "dimension "));
      if (isFirst) redraw(sentence, drawWords(part, paint, acts));
      for (const [each, at] of many.map((cell, i) => [cell, part.columns[i]])) {
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
        ones[i].update(
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
function labelOf({ side, cells, band, isAlone }, { row, isFirst, isPlace, hasHeads, isBare }) {
  const name = hasHeads ? cells.rows.labels[row] : isPlace ? shortNameAt(cells.rows, row) : band.label;
  if (!side) return name;
  if (isBare && !isPlace && !hasHeads) return side === "A" || isAlone ? `${shortest(band)} ${side}` : side;
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
  const made = element("td"),
    was = element("s");
  made.setAttribute("role", "gridcell");
  made.append("", was);
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
