// How pass A and pass B are shown together, and which look of the viewer that gives.
import { flattened, unflattened } from "./axes.js";
import { COMPARISONS, QUESTIONS, focusOf } from "./state.js";

// {pass, where, isThere, order, toA, toB, isApart}, where a pass has another beside it; null where it has none. `isThere` is
// whether the word that asks is in A; `order` are the places of A along words as they stand beside those of B, and after them
// what A has alone; toA(name, index) and toB(name, index) lead to the same cell in the other, or are null.
/** @param {Pass} pass @param {Where} where */
export function pairOf(pass, where) {
  const { other } = pass;
  if (!other) return null;
  const { places, stages } = pass.document.other,
    back = Object.fromEntries(Object.entries(places).map(([role, to]) => [role, inverse(to)]));
  const placed = ([name, place]) => [name, places[name]?.[place] ?? place],
    cell = { ...where.cell, ...Object.fromEntries(Object.entries(where.cell).map(placed)) };
  const across = (from, to, maps) => (name, index) =>
    from.stages.has(name) && to.stages.has(name)
      ? mapped(from.stages.get(name), to.stages.get(name), index, maps)
      : null;
  const toA = across(pass, other, (role, place) => (places[role] ? places[role][place] : place));
  return {
    pass: other,
    where: {
      ...where,
      cell: other.within(cell),
      step: other.nearestStep(where.step),
      picked: "",
      trail: [],
      from: "",
      ask: QUESTIONS[0],
    },
    isThere: places.query?.[where.cell.query] !== null,
    order: Object.fromEntries(Object.entries(places).map(([role, to]) => [role, orderOf(to, lengthOf(other, role))])),
    toA,
    toB: across(other, pass, (role, place) => (places[role] ? (back[role].get(place) ?? null) : place)),
    // Whether the number of a cell of B is another than that of A beside it; where all are, none stands out.
    isApart: (name, index) => {
      const { matched, tolerance, other: apart } = stages[name] ?? {},
        inA = matched && apart > 0 && apart < pass.stages.get(name).length ? toA(name, index) : null;
      const [one, now] = inA ? [other.number(name, inA), pass.number(name, index)] : [];
      return one !== undefined && now !== undefined && areApart(one, now, tolerance);
    },
  };
}

export function areApart(one, other, tolerance) {
  return one !== other && !(Math.abs(other - one) <= tolerance);
}

// B less A, for each stage that has one beside it: {stage: numbers}. A cell with none beside it has no number.
/** @param {Pass} pass @param {Where} where */
export function differencesOf(pass, where) {
  const { toA } = pairOf(pass, where),
    { stages } = pass.document.other;
  const matched = [...pass.stages].filter(([name]) => stages[name].matched);
  return Object.fromEntries(
    matched.map(([name, { shape }]) => {
      const { shape: shapeOfA } = pass.other.stages.get(name),
        numbersOfA = pass.other.numbers(name);
      return [
        name,
        pass.numbers(name).map((now, place) => {
          const inA = toA(name, unflattened(shape, place)),
            then = inA ? numbersOfA[flattened(shapeOfA, inA)] : Number.NaN;
          return areApart(then, now, stages[name].tolerance)
            ? now - then
            : now === then || !Number.isNaN(then)
              ? 0
              : Number.NaN;
        }),
      ];
    }),
  );
}

/** @param {Pass} pass */
function lengthOf(pass, role) {
  return pass.axisOf(role, pass.stages.keys().next().value)?.labels.length ?? 0;
}

function inverse(places) {
  return new Map(places.flatMap((place, at) => (place === null ? [] : [[place, at]])));
}

function orderOf(places, length) {
  const matched = places.filter(place => place !== null);
  return [...matched, ...Array.from({ length }, (_, place) => place).filter(place => !matched.includes(place))];
}

// The index of the cell in another pass; null where a place has none there.
function mapped(from, to, index, placeIn) {
  if (from.axes.length !== to.axes.length || from.axes.some(({ name }, axis) => name !== to.axes[axis].name))
    return null;
  const at = index.map((place, axis) => placeIn(from.axes[axis].coordinates[0][0], place));
  return at.every((place, axis) => place !== null && place < to.shape[axis]) ? at : null;
}

const seen = new WeakMap(); // pass -> {kind: look}: each is made once

// {kind, pass, nameOf(stage, index), titleOf(stage)}: the pass holds other numbers, the names say what they are; titleOf is
// "" where a stage is called what it always is.
export function lookAt(pass, where, byHowMuch) {
  const kind = kindOf(pass, where, byHowMuch);
  if (!seen.has(pass)) seen.set(pass, {});
  const looks = seen.get(pass);
  looks[kind] ??= LOOKS[kind](pass, where);
  return looks[kind];
}

// With the pass beside it, where both are looked at: {pair: {..., look, isShown}}. `shownIn(pass, where)` says which numbers of one are there.
export function withPair(look, pass, where, shownIn) {
  const pair = where.compare === COMPARISONS[0] ? pairOf(pass, where) : null;
  if (!pair) return { ...look, pair };
  const lookOfA = { ...look, ...LOOKS.numbers(pair.pass), lines: null, shown: shownIn(pair.pass, pair.where) };
  return { ...look, pair: { ...pair, look: lookOfA } };
}

/** @param {Pass} pass @param {Where} where */
export function askedOf(pass, where) {
  const { name, index } = focusOf(pass, where);
  return pass.address(name, index);
}

/** @param {Pass} pass @param {Where} where */
function kindOf(pass, where, byHowMuch) {
  const { slopes, changes } = pass.document;
  if (pass.other && where.compare === "difference") return "apart";
  if (where.ask === "slope") return slopes?.of === askedOf(pass, where) ? "slopes" : "numbers";
  return where.ask === "whatif" && byHowMuch && changes.length ? "differences" : "numbers";
}

const LOOKS = {
  numbers: pass => ({ kind: "numbers", pass, nameOf: pass.nameOf, titleOf: () => "" }),
  slopes: pass => {
    const { of, values } = pass.document.slopes;
    const { name, index } = pass.read(of);
    const what = `slope of ${pass.nameOf(name, index)}`;
    return saying("slopes", pass, values, what, `${what} by`);
  },
  apart: (pass, where) => saying("B − A", pass, differencesOf(pass, where), "B − A", "B − A of"),
  differences: pass => saying("differences", pass, moved(pass), "change", "change of"),
};

// The title of a matrix says first which it is, as there may be no room for more.
function saying(kind, pass, values, what, prefix) {
  const is = stage => Object.hasOwn(values, stage);
  return {
    kind,
    pass: pass.with(values),
    nameOf: (stage, index) => (is(stage) ? `${prefix} ` : "") + pass.nameOf(stage, index),
    titleOf: stage => (is(stage) ? `${pass.stages.get(stage).title}: ${what}` : ""),
  };
}

// After less before, 0 where a key is hidden in both: -inf less itself would be no number.
/** @param {Pass} pass */
function moved(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  return Object.fromEntries(
    Object.keys(before).map(name => {
      const then = old.numbers(name);
      return [name, pass.numbers(name).map((now, place) => (now === then[place] ? 0 : now - then[place]))];
    }),
  );
}
