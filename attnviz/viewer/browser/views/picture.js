// The picture of a step: its board or bars, with a legend, for one pass or for two side by side.
import { axisName } from "../model/axes.js";
import { digits, short } from "../model/numeral.js";
import { focusOf, isHeads, isSheet, slotsOf, stepAt } from "../model/state.js";
import { gradient } from "../dom/colour.js";
import { h, memoLast } from "../dom/element.js";
import { typeset } from "../dom/runs.js";
import { APART, scrolled, watchSpace, widened } from "../fit/fit.js";
import { makeBars } from "./bars.js";
import { makeMatrixGrid } from "./matrixGrid.js";
import { indicesOf, makeSlice, scaleOf, sharedLimit, slicesIn } from "./slice.js";

// The positions of A for those of B that an `order` leaves.
function orderInA(order, words) {
  const both = Object.keys(order).filter(name => words[name]);
  const inA = both.map(name => [name, order[name].map(position => words[name][position])]);
  return { ...order, ...words, ...Object.fromEntries(inA) };
}

/** The step's results in A and B, beside each other: each slice has its `side`. @param {Pass} pass @param {Where} where @param {Pair} pair */
function resultsOfBoth(pass, where, pair, order = {}) {
  const results = slotsOf(stepAt(pass, where)).filter(({ result }) => result),
    distinct = new Map(
      results.map(({ sign, after, ...slice }) => [`${slice.stage} ${slice.rows} ${slice.columns}`, slice]),
    );
  return [...distinct.values()].map(slice => {
    const spec = { ...slice, sign: "", after: "" },
      b = { ...makeSlice(pass, spec, where.cell, order), side: "B" },
      hasA = pair.pass.stages.get(spec.stage)?.axes.length === pass.stages.get(spec.stage).axes.length,
      a = hasA ? [{ ...makeSlice(pair.pass, spec, pair.where.cell, orderInA(order, pair.order)), side: "A" }] : [];
    return { turns: true, grid: [[...a, b]] };
  });
}

const MIN_POSITIONS = 2; // of an axis

/** The pictures that make(order) returns for the first order with which they fit, or for that with the fewest positions. @param {Pass} pass */
function withFewerPositions(pass, cell, make, fits) {
  let order = {},
    pictures = make(order);
  while (!fits(pictures)) {
    const longest = axesOf(pass, cell, pictures, order).reduce((one, other) =>
      other.positions.length > one.positions.length ? other : one,
    );
    if (longest.positions.length <= MIN_POSITIONS) break;
    const last = longest.positions.findLast(position => position !== longest.selected);
    order = { ...order, [longest.name]: longest.positions.filter(position => position !== last) };
    pictures = make(order);
  }
  return pictures;
}

/** @param {Pass} pass */
const axesOf = (pass, cell, pictures, order) =>
  slicesIn(pictures).flatMap(({ name: stage, side, spec: { rows, columns } }) =>
    (side === "A" ? [] : [rows, columns].filter(axis => axis !== null)).map(axis => {
      const shownAxis = pass.stages.get(stage).axes[axis],
        name = axisName(shownAxis);
      return {
        name,
        selected: pass.indexAt(stage, cell)[axis],
        positions: order[name] ?? [...shownAxis.labels.keys()],
      };
    }),
  );

const hasCorner = ([first]) => first !== undefined && first.grid.length > 1 && first.grid[0][0] === null;

// Sets the corner's size as properties of the styles. `height` is that of the left matrix, which stands at `position` (see fit.js).
// A property that is set, even to the same value, has everything inside styled anew.
function setCorner({ style }, top, { x, y, labels }, height) {
  const sizes = { top, width: x - labels[0] - 4 * APART, height: y + height };
  for (const [name, size] of Object.entries(sizes)) {
    if (style.getPropertyValue(`--corner-${name}`) !== `${size}px`) style.setProperty(`--corner-${name}`, `${size}px`);
  }
}

// In a talk nobody scrolls: leaves out the last terms that have no space, or while they come one by one the first.
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

// The legend's entries: scales, each with the symbols of its stages where there are several, and swatches.
export function legendOf(slices, look, paintOf) {
  const scales = new Map();
  for (const slice of slices) {
    const { scale, limit } = scaleOf(slice, paintOf(slice));
    if (scale === "flag") continue;
    const write = limit < 0.01 ? digits : short,
      ends = scale === "share" ? ["0", limit === 1 ? "1" : digits(limit)] : [write(-limit), write(limit)],
      kind = look.titleOf(slice.name) ? look.kind : "",
      key = `${kind} ${scale} ${ends}`,
      symbols = scales.get(key)?.symbols ?? new Set();
    scales.set(key, { kind, scale, ends, symbols: symbols.add(slice.symbol) });
  }
  const marked = slices.filter(slice => hasMarked(slice, paintOf(slice))),
    sources = marked.map(slice => paintOf(slice).pass.stages.get(slice.name).overriddenBy);
  return {
    scales: [...scales.values()].map(each => ({ ...each, symbols: scales.size > 1 ? [...each.symbols] : [] })),
    swatches: [
      ...(slices.some(slice => hasHidden(slice.name, paintOf(slice))) ? [["hidden", "hidden"]] : []),
      ...[...new Set(sources)].map(source => ["marked", source]),
      ...(slices.some(slice => hasApart(slice, paintOf(slice))) ? [["apart", "differs"]] : []),
    ],
  };
}

export const drawLegend = ({ scales, swatches }, colours) => [
  ...scales.map(({ kind, scale, ends, symbols }) => {
    const ramp = h("span", { class: "ramp", style: { background: gradient(scale, colours) } }),
      bar = h("span", { class: `bar ${scale}` }, h("span", {}, ends[0]), ramp, h("span", {}, ends[1])), // which no line breaks
      names = symbols.flatMap((symbol, nth) => [nth > 0 && ", ", typeset(symbol)]);
    return h("span", { class: "scale" }, kind, names.length > 0 && h("span", { class: "symbols" }, names), bar);
  }),
  ...swatches.map(([kind, text]) =>
    h("span", { class: "scale" }, h("span", { class: `swatch ${kind}` }), h("span", {}, text)),
  ),
];

const hasApart = (slice, { isApart }) =>
  Boolean(isApart) && slice.side === "B" && indicesOf(slice).some(index => isApart(slice.name, index));

function hasMarked(slice, { pass }) {
  if (!pass.stages.get(slice.name).overridden.size) return false;
  return indicesOf(slice).some(index => pass.isOverridden(slice.name, index));
}

function hasHidden(name, { pass }) {
  const { scale, hiddenBy } = pass.stages.get(name);
  if (scale === "flag") return pass.numbers(name).includes(0);
  return hiddenBy !== "" && pass.numbers(hiddenBy).includes(-Infinity);
}

const HIGHER = [1.5, 2, 2.5, 3]; // than the space in a small window, whose matrices are scrolled rather than left without digits
const WIDER = [1.25, 1.5, 2, 3, 4]; // the same on a phone, to the side

/** @type {Record<"press" | "over" | "toggle", (...at: unknown[]) => unknown>} */
const NO_BRUSH = { press: () => {}, over: () => {}, toggle: () => false };

// Presses in its cells go to the brush, too. It is hidden at first: it would take its share of the page while what stands before it is sized.
export function makePicture(tools, brush = NO_BRUSH) {
  const bars = makeBars(tools),
    legend = h("div", { class: "legend" });
  // The cell of B that a position of a slice stands for; null if B has none.
  const cellAt = ({ name, side, index }, position) =>
    side === "A" ? shown.look.pair.toB(name, index(...position)) : index(...position);
  const onCell = act => (slice, position) => {
    const cell = cellAt(slice, position);
    if (cell) act(slice.name, cell);
  };
  const board = makeMatrixGrid(
    {
      point: (slice, position) => tools.point(slice.name, position && cellAt(slice, position)),
      pick: onCell(tools.pick),
      keyMoved: onCell(tools.keyMoved),
      press: (slice, position, cell) => brush.press(slice, position && cellAt(slice, position), cell),
      over: (slice, position, cell) => brush.over(slice, position && cellAt(slice, position), cell),
      toggle: (slice, position) => brush.toggle(slice, cellAt(slice, position)),
    },
    bars.element,
  );
  const box = h("section", { class: "picture", "aria-label": "The picture", hidden: true }, board.element, legend);
  let shown, pointed;
  const writeLegend = memoLast(([entries, colours]) => legend.replaceChildren(...drawLegend(entries, colours)));
  const isTooLow = memoLast(([, [, height]]) => legend.offsetHeight > height); // a corner for the legend
  const mark = () => board.mark(shown, pointed ?? focusOf(shown.pass, shown.where), Boolean(pointed));
  const picturesFor = (order = {}) => {
    const { pass, where, look, pictures } = shown;
    if (look.pair && pictures.length) return resultsOfBoth(pass, where, look.pair, order);
    const placed = pictures.filter(({ aside }) => !(aside && where.present));
    return placed.map(({ grid, turns }) => ({
      turns,
      grid: grid.map(row => row.map(slice => slice && makeSlice(pass, slice, where.cell, order))),
    }));
  };
  // The space, with fewer bars or to be scrolled if the matrices have no digits otherwise.
  const findSpace = (measure, hasDigits, { present }) => {
    let space = measure();
    if (!bars.element.hidden && !space.isPaper && !space.isNarrow && !hasDigits(space)) {
      bars.element.hidden = true; // its numbers stand in the matrices, or in the lists beside them
      space = measure();
    }
    if (space.isNarrow && !present && !hasDigits(space))
      return WIDER.map(times => widened(space, times)).find(hasDigits) ?? space;
    if (!space.isSmall || space.isPaper || present || hasDigits(space)) return space;
    legend.classList.remove("in-corner"); // or the matrices would move beneath it
    const whole = measure();
    return HIGHER.map(times => scrolled(whole, times)).find(hasDigits) ?? whole;
  };
  const draw = () => {
    const { pass, where, look } = shown,
      { pair, colours } = look,
      around = box.closest(".columns") ?? box; // the panel is beside the picture, in print it is alone
    let pictures = picturesFor(),
      slices = slicesIn(pictures);
    const isCornered = hasCorner(pictures);
    box.hidden = !slices.length;
    around.classList.toggle("cornered", isCornered && where.present); // the panel stands in the corner of no other step
    if (box.hidden) return board.make(pictures);
    const paint = {
      pass,
      look,
      limit: sharedLimit(slices, look),
      head: where.cell.head,
      colours,
      isApart: pair?.isApart,
    };
    const isApartInA = (name, index) => {
      const inB = pair.toB(name, index);
      return inB !== null && pair.isApart(name, inB);
    };
    const paintOfA = pair && { pass: pair.pass, look: pair.look, isApart: isApartInA };
    let layoutPaint = {};
    const paintOf = slice => ({ ...paint, ...layoutPaint, ...(slice.side === "A" ? paintOfA : {}) });
    bars.update(pass, where, look);
    bars.element.hidden ||= Boolean(pass.other) || where.present; // they are of one row of B alone, and have small letters
    const entries = legendOf(slices, look, paintOf);
    writeLegend([entries, colours]);
    legend.classList.toggle("in-corner", isCornered && !where.present);
    const layOut = () => {
      const measure = () =>
        spaceFor([where.step, where.present, legend.childElementCount, legend.className, bars.element.hidden]);
      const { family, isPaper } = measure();
      layoutPaint = { family, isStill: isPaper };
      const space = findSpace(measure, each => board.hasDigits(pictures, each, paintOf, where.present), where);
      if (where.present && !isPaper)
        pictures = withFewerPositions(pass, where.cell, picturesFor, all => board.fits(all, space, paintOf));
      slices = slicesIn(pictures);
      board.make(pictures);
      const { cell, positions, isScrolled } = board.draw(pictures, space, paintOf, { pass, where }),
        height = cell[1] * slices[0].size[0];
      if (isCornered) setCorner(around, space.top, positions[0], height);
      return { isScrolled: isScrolled || space.isScrolled, bottom: positions[0].y + height, space };
    };
    let { space, bottom, isScrolled } = layOut();
    if (isCornered && !where.present && (isScrolled || isTooLow([entries, [space, bottom, document.fonts.status]]))) {
      legend.classList.remove("in-corner");
      ({ space, bottom, isScrolled } = layOut());
    }
    if (where.present) foldTerms(around);
    mark();
    if (isScrolled) board.showFocus();
    // Its letters, if they load later, have other widths. `fonts.ready` isn't the sign: in WebKit it comes while fonts load.
    const letters = space.family && `1em ${space.family}`; // a picture that has left the page has none
    if (letters && !document.fonts.check(letters)) document.fonts.load(letters).then(draw);
  };
  const spaceFor = watchSpace(box, bars.element, legend, draw);
  tools.onPoint((name, index) => {
    pointed = index && { name, index };
    if (!box.hidden) mark();
  });
  return {
    element: box,
    /** A page of paper may have only a part of the step's pictures. @param {Pass} pass @param {Where} where @param {Look} look */
    update(
      pass,
      where,
      look,
      pictures = isSheet(pass, where) || isHeads(pass, where) ? [] : stepAt(pass, where).pictures,
    ) {
      shown = { pass, where, look, pictures };
      box.classList.toggle("painted", Boolean(pass.document.painted));
      draw();
    },
  };
}
