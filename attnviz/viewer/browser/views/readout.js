// The number in focus: its value, the terms that it is made of, and its value in both of two passes.
import { plain } from "../model/latex.js";
import { digits } from "../model/numeral.js";
import { pairOf } from "../model/looks.js";
import { element, keepingPlace, write } from "../dom/element.js";
import { makeScroller, rovingFocus, setTabStop } from "../dom/grid.js";
import { typeset } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { faceAt } from "./slot.js";

const NONE = "A has no such number.";

export function drawBothValues(pass, where, look, cell) {
  const { a, b, difference } = bothValuesOf(pass, where, look, cell);
  if (!b) return [];
  const line = element("p", "in-both");
  if (a)
    line.append(
      ...sideOf("A", a),
      " ",
      ...sideOf("B", b),
      ...(difference ? [element("span", "side-difference", difference)] : []),
    );
  else line.append(...sideOf("B", b), `. ${NONE}`);
  return [line];
}

// The same for screen readers; "" where there is no second pass.
export function bothValuesText(pass, where, look, cell) {
  const { a, b, difference } = bothValuesOf(pass, where, look, cell);
  if (!b) return "";
  return a ? `A ${a}, B ${b}.${difference ? ` ${difference}.` : ""}` : `B ${b}. ${NONE}`;
}

// The number in A and in B and their difference, as text; without B where there is nothing to say.
/** @param {Pass} pass @param {Where} where @param {Look} look */
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

function sideOf(name, number) {
  return [element("strong", "side", name), ` ${number}`];
}

function flagText(flag) {
  return flag ? "visible" : "hidden";
}

// Its lists stay and say something else, so that they stay scrolled as they are. `acts` are point(slot, position or null) and
// pick(slot, position).
export function makeReadout(acts) {
  const box = element("div", "readout");
  let lists = [];
  // Its numbers as they stand: lists beside each other.
  const rows = () => {
    const all = lists.map(list => list.cells()),
      longest = Math.max(0, ...all.map(({ length }) => length));
    return Array.from({ length: longest }, (_, row) => all.map(cells => cells[row]).filter(Boolean)).filter(
      ({ length }) => length,
    );
  };
  const draw = (lines, paintOf) => {
    if (lists.length !== lines.length) {
      lists = lines.map(() => makeList(acts));
      box.replaceChildren(...lists.map(list => list.element));
    }
    lists.forEach((list, nth) => {
      list.update(lines[nth], paintOf(lines[nth].slot));
    });
    const cells = rows().flat();
    setTabStop(cells, cells.find(each => each.matches(":focus")) ?? cells[0]);
  };
  const widthOf = whenOther(() => box.offsetWidth);
  rovingFocus(box, rows);
  return {
    element: box,
    clear() {
      lists = [];
      box.replaceChildren();
    },
    // As many lines as there is room for `most` of.
    update(slots, { pass, paintOf }, focus, most) {
      const lines = linesOf(
        slots.filter(({ side }) => side !== "A"),
        pass,
        focus,
      ).slice(0, Math.max(most, 2));
      keepingPlace(box, () => draw(lines, paintOf));
    },
    // Its width in some space, remembered for the same words and letters: measuring costs a layout.
    widthIn: space => widthOf([space, document.fonts.status, lists.map(list => list.words)]),
  };
}

// The focus's own row and column, and of each other matrix the line that it was computed from.
function linesOf(slots, pass, { name, index }) {
  const sources = pass.cellsOf(name, index);
  const focusFirst = [...slots].sort((one, other) => Number(other.name === name) - Number(one.name === name));
  const lines = focusFirst.flatMap(slot => {
    const position = slot.name === name ? slot.placeOf(index) : null;
    if (position)
      return [lineAt(slot, position, 0, position), lineAt(slot, position, 1, position)].filter(
        ({ length }) => length > 1,
      );
    const positions = sources
      .filter(cell => cell.name === slot.name)
      .map(cell => slot.placeOf(cell.index))
      .filter(Boolean);
    if (!positions.length) return [];
    const isColumn = positions.length > 1 && positions.every(position => position[1] === positions[0][1]);
    return [lineAt(slot, positions[0], isColumn ? 1 : 0, positions.length === 1 ? positions[0] : null)];
  });
  return [...new Map(lines.map(line => [line.key, line])).values()]; // a stage may be drawn twice
}

// A row (axis 0) or a column (axis 1) of a slot; `focus` is the one cell of it that counts, if only one does.
function lineAt(slot, position, axis, focus) {
  const along = axis ? slot.rows : slot.columns,
    across = axis ? slot.columns : slot.rows;
  return {
    key: `${slot.name} ${along.title} ${slot.index(...position)}`,
    slot,
    length: slot.size[1 - axis],
    labels: along.labels,
    name: across.labels[position[axis]],
    focus: focus?.[1 - axis],
    placeAt: n => (axis ? [n, position[1]] : [position[0], n]),
  };
}

function makeList(acts) {
  const box = element("section"),
    title = element("h3"),
    symbol = element("span", "symbol"),
    name = element("span", "name"),
    list = makeScroller(element("ol"));
  let items = [],
    words = null;
  title.append(symbol, name);
  box.append(title, list);
  const writeSymbol = whenOther(latex => symbol.replaceChildren(typeset(latex)));
  return {
    element: box,
    cells: () => items.map(item => item.button),
    // All in it that is of another width where it says something else.
    get words() {
      return words;
    },
    update({ slot, length, labels, name: of, focus, placeAt }, paint) {
      words = [slot.symbol, of, labels, focus];
      box.className = `line ${slot.stage.role}`;
      writeSymbol(slot.symbol);
      write(name, of);
      list.setAttribute("aria-label", `${plain(slot.symbol)} ${of}`);
      if (items.length !== length) {
        items = Array.from({ length }, () => makeItem(acts));
        list.replaceChildren(...items.map(item => item.element));
      }
      items.forEach((item, n) => {
        item.update(labels[n], n === focus, slot, placeAt(n), paint);
      });
    },
  };
}

// A word and its number to click; nothing to press while that is to come.
function makeItem(acts) {
  const item = element("li"),
    word = element("span", "name"),
    blank = element("span", "to-come"),
    number = element("button");
  let slot = null,
    position = null;
  number.type = "button";
  number.onclick = () => acts.pick(slot, position);
  number.onpointerenter = number.onfocus = () => acts.point(slot, position);
  number.onpointerleave = number.onblur = () => acts.point(slot, null);
  item.append(word, number);
  return {
    element: item,
    get button() {
      return item.lastChild === number ? number : null;
    },
    update(label, isLit, nextSlot, nextPlace, paint) {
      slot = nextSlot;
      position = nextPlace;
      const { kind, text, colour = "", ink = "" } = faceAt(slot, paint, ...position);
      const shown = kind === "to-come" ? blank : number;
      if (item.lastChild !== shown) item.lastChild.replaceWith(shown);
      item.className = isLit ? "lit" : "";
      item.ariaHidden = shown === blank;
      write(word, label);
      write(number, text);
      number.className = kind;
      number.dataset.cell = `${slot.name}[${slot.index(...position)}]`;
      Object.assign(number.style, { backgroundColor: colour, color: ink });
    },
  };
}
