// The number in focus: its value, the terms that it is made of, and its value in both of two passes.
import { plain } from "../model/latex.js";
import { digits } from "../model/numeral.js";
import { pairOf } from "../model/looks.js";
import { button, h, keepFocus, makeScroller, memoLast, rovingFocus, setTabStop, write } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { faceAt } from "./slice.js";

const NONE = "A has no such number.";

export function drawBothValues(pass, where, look, cell) {
  const { a, b, difference } = bothValuesOf(pass, where, look, cell),
    side = (name, number) => [h("strong", { class: "side" }, name), ` ${number}`];
  if (!b) return [];
  if (!a) return [h("p", { class: "in-both" }, side("B", b), `. ${NONE}`)];
  const apart = difference && h("span", { class: "side-difference" }, difference);
  return [h("p", { class: "in-both" }, side("A", a), " ", side("B", b), apart || null)];
}

// The same for screen readers; "" where there is no second pass.
export function bothValuesText(pass, where, look, cell) {
  const { a, b, difference } = bothValuesOf(pass, where, look, cell);
  if (!b) return "";
  return a ? `A ${a}, B ${b}.${difference ? ` ${difference}.` : ""}` : `B ${b}. ${NONE}`;
}

/** The number in A and in B and their difference, as text; without B where there is nothing to say.
 * @param {Pass} pass @param {Where} where @param {Look} look */
function bothValuesOf(pass, where, look, { name, index }) {
  const pair = pairOf(pass, where),
    other = pass.number(name, index);
  if (!pair || other === undefined || !look.shown(name, index)) return {};
  const inA = pair.toA(name, index),
    one = inA ? pair.pass.number(name, inA) : undefined;
  if (one === undefined) return { b: digits(other) };
  if (pass.stages.get(name).scale === "flag") return { a: flagText(one), b: flagText(other) };
  const written = (whose, at, value) => `${digits(value)}${value === 0 && whose.isHidden(name, at) ? ", hidden" : ""}`;
  return {
    a: written(pair.pass, inA, one),
    b: written(pass, index, other),
    difference: Number.isFinite(other - one) ? `B − A = ${digits(other - one)}` : "",
  };
}

const flagText = flag => (flag ? "visible" : "hidden");

// Lists of the numbers around the focus. They stay and change their text, so that they stay scrolled.
export function makeNumberLists(actions) {
  const box = h("div", { class: "readout" });
  let lists = [];
  const columns = () => lists.map(list => list.cells()); // numbers as they stand: lists beside each other
  const rows = () => {
    const longest = Math.max(0, ...columns().map(({ length }) => length)),
      all = Array.from({ length: longest }, (_, row) => columns().flatMap(cells => cells[row] ?? []));
    return all.filter(({ length }) => length);
  };
  const draw = (lines, paintOf) => {
    if (lists.length !== lines.length) {
      lists = lines.map(() => makeList(actions));
      box.replaceChildren(...lists.map(list => list.element));
    }
    for (const [nth, line] of lines.entries()) lists[nth].update(line, paintOf(line.slice));
    const cells = rows().flat();
    setTabStop(cells, cells.find(each => each.matches(":focus")) ?? cells[0]);
  };
  const widthOf = memoLast(() => box.offsetWidth);
  rovingFocus(box, rows);
  return {
    element: box,
    clear() {
      lists = [];
      box.replaceChildren();
    },
    // As many lines as there is space for `most` of.
    update(slices, { pass, paintOf }, focus, most) {
      const ofB = slices.filter(({ side }) => side !== "A"),
        lines = linesOf(ofB, pass, focus).slice(0, Math.max(most, 2));
      keepFocus(box, () => draw(lines, paintOf));
    },
    // Its width in some space, remembered for the same words and letters: measuring costs a layout.
    widthIn: space => widthOf([space, document.fonts.status, lists.map(list => list.words)]),
  };
}

// The focus's own row and column, and of each other matrix the line that it was computed from.
function linesOf(slices, pass, { name, index }) {
  const sources = pass.cellsOf(name, index),
    focusFirst = [...slices].sort((one, other) => Number(other.name === name) - Number(one.name === name));
  const lines = focusFirst.flatMap(slice => {
    const position = slice.name === name ? slice.positionOf(index) : null;
    if (position) return [0, 1].map(axis => lineAt(slice, position, axis, position)).filter(({ length }) => length > 1);
    const cells = sources.filter(cell => cell.name === slice.name),
      positions = cells.map(cell => slice.positionOf(cell.index)).filter(Boolean);
    if (!positions.length) return [];
    const isColumn = positions.length > 1 && positions.every(([, column]) => column === positions[0][1]);
    return [lineAt(slice, positions[0], isColumn ? 1 : 0, positions.length === 1 ? positions[0] : null)];
  });
  return [...new Map(lines.map(line => [line.key, line])).values()]; // a stage may be drawn twice
}

// A row (axis 0) or a column (axis 1) of a slice; `focus` is the one cell of it that counts, if only one does.
function lineAt(slice, position, axis, focus) {
  const [along, across] = axis ? [slice.rows, slice.columns] : [slice.columns, slice.rows];
  return {
    key: `${slice.name} ${along.title} ${slice.index(...position)}`,
    slice,
    length: slice.size[1 - axis],
    labels: along.labels,
    name: across.labels[position[axis]],
    focus: focus?.[1 - axis],
    positionAt: n => (axis ? [n, position[1]] : [position[0], n]),
  };
}

function makeList(actions) {
  const symbol = h("span", { class: "symbol" }),
    name = h("span", { class: "name" }),
    list = makeScroller(h("ol")),
    box = h("section", {}, h("h3", {}, symbol, name), list);
  let items = [],
    words;
  const writeSymbol = memoLast(latex => symbol.replaceChildren(typeset(latex)));
  return {
    element: box,
    cells: () => items.map(item => item.button),
    // Everything in it that may change its width.
    get words() {
      return words;
    },
    update({ slice, length, labels, name: text, focus, positionAt }, paint) {
      words = [slice.symbol, text, labels, focus];
      box.className = `line ${slice.stage.role}`;
      writeSymbol(slice.symbol);
      write(name, text);
      list.setAttribute("aria-label", `${plain(slice.symbol)} ${text}`);
      if (items.length !== length) {
        items = Array.from({ length }, () => makeItem(actions));
        list.replaceChildren(...items.map(item => item.element));
      }
      for (const [n, item] of items.entries()) item.update(labels[n], n === focus, slice, positionAt(n), paint);
    },
  };
}

// A word and its number to click; nothing to press until that is shown.
function makeItem(actions) {
  const word = h("span", { class: "name" }),
    blank = h("span", { class: "to-come" }),
    number = button("", () => actions.pick(slice, position)),
    item = h("li", {}, word, number);
  let slice, position;
  number.onpointerenter = number.onfocus = () => actions.point(slice, position);
  number.onpointerleave = number.onblur = () => actions.point(slice, null);
  return {
    element: item,
    get button() {
      return item.lastChild === number ? number : null;
    },
    update(label, isLit, nextSlice, nextPosition, paint) {
      slice = nextSlice;
      position = nextPosition;
      const { kind, text, colour = "", ink = "" } = faceAt(slice, paint, ...position),
        shown = kind === "to-come" ? blank : number;
      if (item.lastChild !== shown) item.lastChild.replaceWith(shown);
      item.className = isLit ? "lit" : "";
      item.ariaHidden = shown === blank;
      write(word, label);
      write(number, text);
      number.className = kind;
      number.dataset.cell = `${slice.name}[${slice.index(...position)}]`;
      Object.assign(number.style, { backgroundColor: colour, color: ink });
    },
  };
}
