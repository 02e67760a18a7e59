// The readout: the row and the column of the cell one looks at, with words and digits, where the cells are too small for them.
import { element, redraw } from "../elements/element.js";
import { faceAt } from "./face.js";
import { typeset } from "../elements/formula.js";
import { plain } from "../pass/latex.js";
import { setTabStop } from "../elements/roving.js";
import { makeScroller } from "../elements/scroller.js";

// As many lines as there is room for `most` of.
export function drawReadout(box, slots, { pass, paintOf }, focus, acts, most) {
  const lists = linesOf(
    slots.filter(({ side }) => side !== "A"),
    pass,
    focus,
  )
    .slice(0, Math.max(most, 2))
    .map(line => drawList(line, paintOf(line.slot), acts));
  const before = [...box.querySelectorAll("ol")].map(list => list.scrollTop);
  redraw(box, lists);
  const cells = rowsOfReadout(box).flat();
  setTabStop(cells, cells.find(each => each.matches(":focus")) ?? cells[0]);
  [...box.querySelectorAll("ol")].forEach((list, i) => {
    if (before[i]) list.scrollTop = before[i]; // asking costs a layout
  });
}

// Its numbers as they stand: lists beside each other.
export function rowsOfReadout(box) {
  const lists = [...box.querySelectorAll("ol")].map(list =>
    [...list.children].map(item => item.querySelector("button")),
  );
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, row) => lists.map(list => list[row]).filter(Boolean)).filter(
    ({ length }) => length,
  );
}

// The focus's own row and column, and of each other matrix the line that it was computed from.
function linesOf(slots, pass, { name, index }) {
  const sources = pass.cellsOf(name, index);
  const focusFirst = [...slots].sort((one, other) => Number(other.name === name) - Number(one.name === name));
  const lines = focusFirst.flatMap(slot => {
    const place = slot.name === name ? slot.placeOf(index) : null;
    if (place) return [lineAt(slot, place, 0, place), lineAt(slot, place, 1, place)].filter(({ length }) => length > 1);
    const places = sources
      .filter(cell => cell.name === slot.name)
      .map(cell => slot.placeOf(cell.index))
      .filter(Boolean);
    if (!places.length) return [];
    const isColumn = places.length > 1 && places.every(place => place[1] === places[0][1]);
    return [lineAt(slot, places[0], isColumn ? 1 : 0, places.length === 1 ? places[0] : null)];
  });
  return [...new Map(lines.map(line => [line.key, line])).values()]; // a stage may be drawn twice
}

// A row (axis 0) or a column (axis 1) of a slot; `focus` is the one cell of it that counts, if only one does.
function lineAt(slot, place, axis, focus) {
  const along = axis ? slot.rows : slot.columns,
    across = axis ? slot.columns : slot.rows;
  return {
    key: `${slot.name} ${along.title} ${slot.index(...place)}`,
    slot,
    length: slot.size[1 - axis],
    labels: along.labels,
    name: across.labels[place[axis]],
    focus: focus?.[1 - axis],
    placeAt: n => (axis ? [n, place[1]] : [place[0], n]),
  };
}

function drawList({ slot, length, labels, name, focus, placeAt }, paint, acts) {
  const box = element("section", `line ${slot.stage.role}`);
  const title = element("h3");
  const symbol = element("span", "symbol");
  symbol.append(typeset(slot.symbol));
  title.append(symbol, element("span", "name", name));
  const list = makeScroller(element("ol"));
  list.setAttribute("aria-label", `${plain(slot.symbol)} ${name}`);
  list.append(
    ...Array.from({ length }, (_, n) => {
      const item = element("li", n === focus ? "lit" : ""),
        cell = drawCell(slot, paint, placeAt(n), acts);
      item.ariaHidden = cell.className === "to-come";
      item.append(element("span", "name", labels[n]), cell);
      return item;
    }),
  );
  box.append(title, list);
  return box;
}

// A number to click; nothing to press while it is to come.
function drawCell(slot, paint, place, acts) {
  const { kind, text, colour = "", ink = "" } = faceAt(slot, paint, ...place);
  if (kind === "to-come") return element("span", kind);
  const cell = element("button", kind, text);
  cell.type = "button";
  cell.dataset.cell = `${slot.name}[${slot.index(...place)}]`;
  Object.assign(cell.style, { backgroundColor: colour, color: ink });
  cell.onclick = () => acts.pick(slot, place);
  cell.onpointerenter = cell.onfocus = () => acts.point(slot, place);
  cell.onpointerleave = cell.onblur = () => acts.point(slot, null);
  return cell;
}
