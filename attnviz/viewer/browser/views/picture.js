// The picture of a step: its board or bars, with a legend, for one pass or for two side by side.
import { digits, short } from "../model/numeral.js";
import { isSheet, focusOf, slotsOf, stepAt } from "../model/state.js";
import { gradient } from "../dom/colour.js";
import { element, h } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { makeBars } from "./bars.js";
import { makeBoard } from "./board.js";
import { APART, scrolled, watchSpace } from "../fit/fit.js";
import { axisName, makeSlot, scaleOf, sharedLimit, slotsIn } from "./slot.js";

// The positions of A for those of B that an `order` leaves.
function inA(order, words) {
  const both = Object.keys(order)
    .filter(name => words[name])
    .map(name => [name, order[name].map(position => words[name][position])]);
  return { ...order, ...words, ...Object.fromEntries(both) };
}

// Each slot knows its `side`, and whether it stands in A.
function sidesOf(step, pass, where, pair, order = {}) {
  const results = [
    ...new Map(
      slotsOf(step)
        .filter(({ result }) => result)
        .map(given => [JSON.stringify([given.stage, given.rows, given.columns]), { ...given, sign: "", after: "" }]),
    ).values(),
  ];
  return results.map(given => {
    const b = { ...makeSlot(pass, given, where.cell, order), side: "B" };
    const isThere = pair.pass.stages.get(given.stage)?.axes.length === pass.stages.get(given.stage).axes.length;
    const a = isThere ? [{ ...makeSlot(pair.pass, given, pair.where.cell, inA(order, pair.order)), side: "A" }] : [];
    return { turns: true, grid: [[...a, b]] };
  });
}

const LEAST = 2; // positions of an axis

// The pictures that `make(order)` gives for the first order that they fit with, or for that with the fewest positions.
function narrowed(pass, cell, make, fits) {
  let order = {},
    pictures = make(order);
  while (!fits(pictures)) {
    const longest = axesOf(pass, cell, pictures, order).reduce((one, other) =>
      other.places.length > one.places.length ? other : one,
    );
    if (longest.places.length <= LEAST) break;
    order = { ...order, [longest.name]: withoutOne(longest) };
    pictures = make(order);
  }
  return pictures;
}

/** @param {Pass} pass */
function axesOf(pass, cell, pictures, order) {
  return slotsIn(pictures).flatMap(({ name, side, given: { rows, columns } }) =>
    (side === "A" ? [] : [rows, columns])
      .filter(axis => axis !== null)
      .map(axis => {
        const shownAxis = pass.stages.get(name).axes[axis],
          named = axisName(shownAxis);
        return {
          name: named,
          selected: pass.indexAt(name, cell)[axis],
          places: order[named] ?? [...shownAxis.labels.keys()],
        };
      }),
  );
}

function withoutOne({ places, selected }) {
  const last = places.findLast(position => position !== selected);
  return places.filter(position => position !== last);
}

function hasCorner([first]) {
  return first !== undefined && first.grid.length > 1 && first.grid[0][0] === null;
}

// Has the styles know how large it is. `height` is that of the left matrix, which stands at `position` (see fit.js).
function giveCorner(around, top, { x, y, labels }, height) {
  const width = x - labels[0] - 4 * APART;
  const corner = { "--corner-top": top, "--corner-width": width, "--corner-height": y + height };
  for (const [name, size] of Object.entries(corner)) setOnce(around.style, name, `${size}px`);
}

// All that is inside is styled anew for a property that is set, be it to what it was.
function setOnce(style, name, value) {
  if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
}

// Leaves out of the terms of a talk, in the corner or beside it, the last that have no room, or while they come one by one
// the first: nobody scrolls. Where not even one has room, none is there.
function foldTerms(around) {
  const terms = around.querySelector(".panel .terms");
  if (!terms) return;
  terms.hidden = false;
  const lines = [...terms.querySelectorAll("tbody > *")],
    isCut = () => terms.scrollHeight > terms.clientHeight + 1;
  if (!terms.querySelector(".latest")) lines.reverse();
  for (const line of lines) line.hidden = false;
  terms.classList.toggle("folded", isCut());
  for (const line of lines.slice(0, -1)) line.hidden = isCut();
  terms.hidden = isCut() || terms.scrollWidth > terms.clientWidth + 1;
}

// Its entries: scales, each with the symbols of its stages where there are several, and swatches.
function legendOf(slots, paint, paintOf) {
  const scales = new Map();
  for (const slot of slots) {
    const { scale, limit } = scaleOf(slot, paintOf(slot));
    if (scale === "flag") continue;
    const ends =
      scale === "share" ? ["0", limit === 1 ? "1" : digits(limit)] : [-limit, limit].map(limit < 0.01 ? digits : short);
    const kind = paint.look.titleOf(slot.name) ? paint.look.kind : "",
      key = `${kind} ${scale} ${ends}`;
    const symbols = scales.get(key)?.symbols ?? new Set();
    scales.set(key, { kind, scale, ends, symbols: symbols.add(slot.symbol) });
  }
  return {
    scales: [...scales.values()].map(each => ({ ...each, symbols: scales.size > 1 ? [...each.symbols] : [] })),
    swatches: [
      ...(slots.some(slot => hasHidden(slot.name, paintOf(slot))) ? [["hidden", "hidden"]] : []),
      ...[...overriddenBy(slots, paintOf)].map(by => ["marked", by]),
      ...(slots.some(slot => hasApart(slot, paint)) ? [["apart", "differs"]] : []),
    ],
  };
}

function drawLegend({ scales, swatches }, colours) {
  return [...scales.map(each => drawScale(each, colours)), ...swatches.map(each => drawSwatch(...each))];
}

function drawScale({ kind, scale, ends, symbols }, colours) {
  const line = element("span", "scale");
  const bar = element("span", `bar ${scale}`),
    ramp = element("span", "ramp");
  ramp.style.background = gradient(scale, colours);
  bar.append(element("span", "", ends[0]), ramp, element("span", "", ends[1])); // which no line breaks
  line.append(kind, ...(symbols.length ? [drawSymbols(symbols)] : []), bar);
  return line;
}

function drawSymbols(symbols) {
  const line = element("span", "symbols");
  symbols.forEach((symbol, position) => {
    line.append(...(position ? [", "] : []), typeset(symbol));
  });
  return line;
}

function drawSwatch(kind, text) {
  return h("span", { class: "scale" }, element("span", `swatch ${kind}`), element("span", "", text));
}

function hasApart({ name, side, size: [rows, columns], index }, { isApart }) {
  if (!isApart || side !== "B") return false;
  return Array.from({ length: rows * columns }, (_, position) =>
    index(Math.floor(position / columns), position % columns),
  ).some(cell => isApart(name, cell));
}

// Where the overridden numbers of slots are from.
function overriddenBy(slots, paintOf) {
  const marked = slots.filter(slot => hasMarked(slot, paintOf(slot)));
  return new Set(marked.map(slot => paintOf(slot).pass.stages.get(slot.name).overriddenBy));
}

function hasMarked({ name, size: [rows, columns], index }, { pass }) {
  if (!pass.stages.get(name).overridden.size) return false;
  return Array.from({ length: rows * columns }, (_, position) =>
    index(Math.floor(position / columns), position % columns),
  ).some(cell => pass.isOverridden(name, cell));
}

function hasHidden(name, { pass }) {
  const { scale, hiddenBy } = pass.stages.get(name);
  if (scale === "flag") return pass.numbers(name).includes(0);
  return hiddenBy !== "" && pass.numbers(hiddenBy).includes(-Infinity);
}

const LEAST_BESIDE_BARS = 450; // pixels that matrices need without digits, too
const HIGHER = [1.5, 2, 2.5, 3]; // than the room in a small window, whose matrices are scrolled rather than left without digits

/** @type {Record<"press" | "over" | "toggle", (...at: unknown[]) => unknown>} */
const NO_BRUSH = { press: () => {}, over: () => {}, toggle: () => false };

// Presses in its cells go to the brush, too, where there is one.
export function makePicture(tools, brush = NO_BRUSH) {
  const box = h("section", { class: "picture", "aria-label": "The picture", hidden: true }); // or it took its share of the page while what stands before it finds its size
  const bars = makeBars(tools),
    legend = element("div", "legend");
  // The cell of B that a position of a slot stands for; null where B has none.
  const cellAt = ({ name, side, index }, position) =>
    side === "A" ? shown.look.pair.toB(name, index(...position)) : index(...position);
  const whereThere = act => (slot, position) => {
    const cell = cellAt(slot, position);
    if (cell) act(slot.name, cell);
  };
  const board = makeBoard(
    {
      point: (slot, position) => tools.point(slot.name, position && cellAt(slot, position)),
      pick: whereThere(tools.pick),
      keyMoved: whereThere(tools.arrive),
      press: (slot, position, cell) => brush.press(slot, position && cellAt(slot, position), cell),
      over: (slot, position, cell) => brush.over(slot, position && cellAt(slot, position), cell),
      toggle: (slot, position) => brush.toggle(slot, cellAt(slot, position)),
    },
    bars.element,
  );
  box.append(board.element, legend);
  let shown = null,
    pointed = null;

  const writeLegend = whenOther(([entries, colours]) => legend.replaceChildren(...drawLegend(entries, colours)));
  const isTooLow = whenOther(([, [, height]]) => legend.offsetHeight > height); // a corner for it
  const mark = () => board.mark(shown, pointed ?? focusOf(shown.pass, shown.where), Boolean(pointed));
  const around = () => box.closest(".columns") ?? box; // the panel is beside the picture, in print it is alone
  const draw = () => {
    const { pass, where, look } = shown;
    const { pair } = look;
    const made = (order = {}) =>
      pair && shown.pictures.length
        ? sidesOf(stepAt(pass, where), pass, where, pair, order)
        : shown.pictures
            .filter(({ aside }) => !(aside && where.present))
            .map(({ grid, turns }) => ({
              turns,
              grid: grid.map(row => row.map(each => each && makeSlot(pass, each, where.cell, order))),
            }));
    let pictures = made(),
      slots = slotsIn(pictures);
    const isCornered = hasCorner(pictures);
    box.hidden = !slots.length;
    around().classList.toggle("cornered", isCornered && where.present); // as the panel stands in the corner of no other step
    if (box.hidden) return board.make(pictures);
    const given = {
      pass,
      look,
      limit: sharedLimit(slots, look),
      head: where.cell.head,
      colours: look.colours,
      isApart: pair?.isApart,
    };
    const beside = pair && {
      ...given,
      pass: pair.pass,
      look: pair.look,
      isApart: (name, index) => isApartInA(pair, name, index),
    };
    const paints = paint => slot => (slot.side === "A" ? { ...paint, ...beside } : paint);
    bars.update(pass, where, look);
    bars.element.hidden ||= Boolean(pass.other) || where.present; // they are of one row of B alone, and have small letters
    const entries = legendOf(slots, given, paints(given));
    writeLegend([entries, look.colours]);
    legend.classList.toggle("in-corner", isCornered && !where.present);
    const drawn = () => {
      const measured = () =>
        roomOn([where.step, where.present, legend.childElementCount, legend.className, bars.element.hidden]);
      let space = measured();
      const paint = { ...given, family: space.family, isStill: space.isPaper };
      const hasDigits = () => board.hasDigits(pictures, space, paints(paint), where.present);
      if (!bars.element.hidden && !space.isPaper && !space.isNarrow && !hasDigits()) {
        const isCramped = space.width < LEAST_BESIDE_BARS;
        bars.element.hidden = true; // its numbers stand in the matrices, which have digits for it
        space = measured();
        if (!isCramped && !hasDigits()) {
          bars.element.hidden = false;
          space = measured();
        }
      }
      if (space.isSmall && !space.isPaper && !where.present && !hasDigits()) {
        legend.classList.remove("in-corner"); // or the matrices would move beneath it
        const whole = measured(),
          higher = HIGHER.map(times => scrolled(whole, times));
        space = higher.find(each => board.hasDigits(pictures, each, paints(paint), where.present)) ?? whole;
      }
      if (where.present && !space.isPaper)
        pictures = narrowed(pass, where.cell, made, all => board.fits(all, space, paints(paint)));
      slots = slotsIn(pictures);
      board.make(pictures);
      return { space, ...board.draw(pictures, space, paints(paint), { pass, where }) };
    };
    let { space, cell, places } = drawn();
    if (isCornered) giveCorner(around(), space.top, places[0], cell[1] * slots[0].size[0]);
    const corner = [space, places[0].y + cell[1] * slots[0].size[0], document.fonts.status];
    if (isCornered && !where.present && isTooLow([entries, corner])) {
      legend.classList.remove("in-corner");
      ({ space, cell, places } = drawn());
      giveCorner(around(), space.top, places[0], cell[1] * slots[0].size[0]);
    }
    if (where.present) foldTerms(around());
    mark();
    if (space.isScrolled) board.showFocus();
    // Its letters, where they come later, have other widths. `fonts.ready` isn't the sign: in WebKit it comes while fonts load.
    const letters = space.family && `1em ${space.family}`; // a picture that has left the page has none
    if (letters && !document.fonts.check(letters)) document.fonts.load(letters).then(draw);
  };
  const roomOn = watchSpace(box, bars.element, legend, draw);
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (!box.hidden) mark();
  });
  return {
    element: box,
    // Of the step's pictures, a page of paper may have a part alone.
    /** @param {Pass} pass @param {Where} where @param {Look} look */
    update(pass, where, look, pictures = isSheet(pass, where) ? [] : stepAt(pass, where).pictures) {
      shown = { pass, where, look, pictures };
      box.classList.toggle("painted", Boolean(pass.document.painted));
      draw();
    },
  };
}

// Whether a number of A is another than that of B beside it, where not all are.
function isApartInA({ toB, isApart }, name, index) {
  const cell = toB(name, index);
  return cell !== null && isApart(name, cell);
}
