// The readout: the row and the column of the cell one looks at, with words and digits, where the cells are too small for them.
import { element, keepingPlace, write } from "../elements/element.js";
import { faceAt } from "./face.js";
import { typeset } from "../elements/formula.js";
import { plain } from "../pass/latex.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { makeScroller } from "../elements/scroller.js";
import { whenOther } from "../elements/whenOther.js";

// Its lists stay and say something else, so that they stay scrolled as they are. `acts` are point(slot, place or null) and
// pick(slot, place).
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
    // How wide it is in a room. Asking costs a layout, and only other words and other letters make it another.
    widthIn: room => widthOf([room, document.fonts.status, lists.map(list => list.words)]),
  };
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
    place = null;
  number.type = "button";
  number.onclick = () => acts.pick(slot, place);
  number.onpointerenter = number.onfocus = () => acts.point(slot, place);
  number.onpointerleave = number.onblur = () => acts.point(slot, null);
  item.append(word, number);
  return {
    element: item,
    get button() {
      return item.lastChild === number ? number : null;
    },
    update(label, isLit, nextSlot, nextPlace, paint) {
      slot = nextSlot;
      place = nextPlace;
      const { kind, text, colour = "", ink = "" } = faceAt(slot, paint, ...place);
      const shown = kind === "to-come" ? blank : number;
      if (item.lastChild !== shown) item.lastChild.replaceWith(shown);
      item.className = isLit ? "lit" : "";
      item.ariaHidden = shown === blank;
      write(word, label);
      write(number, text);
      number.className = kind;
      number.dataset.cell = `${slot.name}[${slot.index(...place)}]`;
      Object.assign(number.style, { backgroundColor: colour, color: ink });
    },
  };
}
