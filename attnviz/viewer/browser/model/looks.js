// How pass A and pass B are shown together, and which numbers of a pass the viewer shows.
import { axisName, flattened, unflattened } from "./axes.js";
import { raised } from "./numeral.js";
import { COMPARISONS, QUESTIONS, focusAddress, stepAt } from "./state.js";

/** {pass, where, isThere, order, toA, toB, isApart}, if a pass has a pass A beside it, else null. `isThere` is whether the selected query is in
 * A; `order` are the positions of A along words as they stand beside those of B, then those that only A has; toA(name, index) and toB(name,
 * index) return the same cell's index in the other pass, or null. @param {Pass} pass @param {Where} where @returns {Pair | null} */
export function pairOf(pass, where) {
  const { other } = pass,
    comparison = pass.document.other;
  if (!other || !comparison) return null;
  const { places, stages } = comparison,
    { attention } = stepAt(pass, where),
    along = (/** @type {string} */ name, /** @type {Axis} */ axis) => placesAlong(places, name, axis),
    inverses = new Map(Object.values(places).map(inA => [inA, new Map(inA.map((position, nth) => [position, nth]))]));
  const inA = (/** @type {string} */ role) => {
    const axis = pass.stages.get(attention).axes.find(({ name }) => name === role),
      all = axis ? along(attention, axis) : places[role];
    return all?.[Object(where.cell)[role]];
  };
  const cell = Object.entries(where.cell).map(([name, position]) => [name, inA(name) ?? position]);
  const across =
    (/** @type {Pass} */ from, /** @type {Pass} */ to, /** @type {PositionOf} */ positionOf) =>
    (/** @type {string} */ name, /** @type {number[]} */ index) =>
      from.stages.has(name) && to.stages.has(name)
        ? mapped(from.stages.get(name), to.stages.get(name), index, (axis, position) =>
            positionOf(name, axis, position),
          )
        : null;
  const toA = across(pass, other, (name, axis, position) => {
    const all = along(name, axis);
    return all ? all[position] : position;
  });
  const orders = [...pass.stages].flatMap(([name, { axes }]) =>
    axes.flatMap((axis, nth) => {
      const all = along(name, axis),
        length = other.stages.get(name)?.axes[nth]?.labels.length;
      return all && length !== undefined ? [[axisName(axis), orderOf(all, length)]] : [];
    }),
  );
  return {
    pass: other,
    where: {
      ...where,
      cell: other.within({ ...where.cell, ...Object.fromEntries(cell) }),
      step: other.nearestStep(where.step),
      picked: "",
      trail: [],
      from: "",
      ask: QUESTIONS[0],
    },
    isThere: inA("query") !== null,
    order: Object.fromEntries(orders),
    toA,
    toB: across(other, pass, (name, axis, position) => {
      const all = along(name, axis);
      return all ? (inverses.get(all)?.get(position) ?? null) : position;
    }),
    // Whether the number of a cell of B differs from that of A beside it; where all do, none stands out.
    isApart: (name, index) => {
      const { matched, tolerance, other: count } = stages[name] ?? {},
        inA = matched && count > 0 && count < pass.stages.get(name).length ? toA(name, index) : null;
      if (!inA) return false;
      const one = other.number(name, inA),
        now = pass.number(name, index);
      return one !== undefined && now !== undefined && areApart(one, now, tolerance);
    },
  };
}

/** @param {number} one @param {number} other @param {number} tolerance */
export const areApart = (one, other, tolerance) => one !== other && !(Math.abs(other - one) <= tolerance);

/** B less A, for each stage that both have: {stage: numbers}. A cell that A lacks has no number. @param {Pass} pass @param {Where} where */
export function differencesOf(pass, where) {
  const { toA, pass: other } = /** @type {Pair} */ (pairOf(pass, where)),
    { stages } = /** @type {import("../../generated/contract").OtherPass} */ (pass.document.other),
    matched = [...pass.stages].filter(([name]) => stages[name].matched);
  const differences = matched.map(([name, { shape }]) => {
    const shapeOfA = other.stages.get(name).shape,
      numbersOfA = other.numbers(name),
      { tolerance } = stages[name];
    const difference = (/** @type {number} */ now, /** @type {number} */ flat) => {
      const inA = toA(name, unflattened(shape, flat)),
        then = inA ? numbersOfA[flattened(shapeOfA, inA)] : Number.NaN;
      if (areApart(then, now, tolerance)) return now - then;
      return Number.isNaN(then) ? Number.NaN : 0;
    };
    return [name, pass.numbers(name).map(difference)];
  });
  return Object.fromEntries(differences);
}

const ROLES = /** @type {Record<string, string>} */ ({ token: "query", "context token": "key" });

/** A's positions for those of B along an axis of a stage; undefined where both have the same. Those of a layer whose words are its own go by its
 * number. @param {Record<string, (number | null)[]>} places @param {string} stage @param {Axis} axis */
export function placesAlong(places, stage, { name }) {
  const layer = stage.match(/_\d+$/)?.[0] ?? "",
    roles = [name, ROLES[name] ?? name],
    found = [...roles.map(role => role + layer), ...roles].find(role => Object.hasOwn(places, role));
  return found === undefined ? undefined : places[found];
}

function orderOf(/** @type {(number | null)[]} */ positions, /** @type {number} */ length) {
  const matched = positions.filter(position => position !== null),
    all = Array.from({ length }, (_, position) => position);
  return [...matched, ...all.filter(position => !matched.includes(position))];
}

/** The index of the cell in another pass; null if that lacks a position. @param {Stage} from @param {Stage} to @param {number[]} index
 * @param {(axis: Axis, position: number) => number | null} positionOf @returns {number[] | null} */
function mapped(from, to, index, positionOf) {
  const areAlike =
    from.axes.length === to.axes.length && from.axes.every(({ name }, axis) => name === to.axes[axis].name);
  if (!areAlike) return null;
  const found = index.map((position, axis) => positionOf(from.axes[axis], position));
  const isThere = found.every((position, axis) => position !== null && position < to.shape[axis]);
  return isThere ? /** @type {number[]} */ (found) : null;
}

const known = new WeakMap(); // pass -> {kind: look}: each is made once

// The pass with the numbers that are shown, and names that say what they are; titleOf is "" for a stage with its usual title.
export function lookAt(/** @type {Pass} */ pass, /** @type {Where} */ where, { showsChange = false } = {}) {
  const kind = kindOf(pass, where, showsChange);
  if (!known.has(pass)) known.set(pass, {});
  const looks = known.get(pass);
  looks[kind] ??= LOOKS[kind](pass, where);
  return looks[kind];
}

/** A look with pass A beside it, if both are shown: {pair: {..., look}}. `shownIn(pass, where)` returns which numbers of a pass are shown.
 * @param {Look} look @param {Pass} pass @param {Where} where @param {(pass: Pass, where: Where) => Look["shown"]} shownIn @returns {Look} */
export function withPair(look, pass, where, shownIn) {
  const pair = where.compare === COMPARISONS[0] ? pairOf(pass, where) : null;
  if (!pair) return { ...look, pair };
  const lookOfA = {
    ...look,
    ...LOOKS.numbers(pair.pass, pair.where),
    lines: null,
    shown: shownIn(pair.pass, pair.where),
  };
  return { ...look, pair: { ...pair, look: lookOfA } };
}

function kindOf(/** @type {Pass} */ pass, /** @type {Where} */ where, /** @type {boolean} */ showsChange) {
  const { slopes, changes } = pass.document;
  if (pass.other && where.compare === "difference") return "apart";
  if (where.ask === "slope") return slopes?.of === focusAddress(pass, where) ? "slopes" : "numbers";
  return where.ask === "whatif" && showsChange && changes.length ? "differences" : "numbers";
}

/** @type {Record<string, (pass: Pass, where: Where) => any>} */
const LOOKS = {
  numbers: pass => ({ kind: "numbers", pass, nameOf: pass.nameOf, titleOf: () => "" }),
  slopes: pass => {
    const { of, values } = /** @type {import("../../generated/contract").Slopes} */ (pass.document.slopes),
      { name, index } = /** @type {Cell} */ (pass.read(of)),
      { slopes, factor } = withCommonFactor(pass.with(values), values),
      title = `slope of ${pass.nameOf(name, index)}${factor && `, ${factor}`}`;
    return replacing("slopes", pass, slopes, title, `${title} by`);
  },
  apart: (pass, where) => replacing("B − A", pass, differencesOf(pass, where), "B − A", "B − A of"),
  differences: pass => replacing("differences", pass, changed(pass), "change", "change of"),
};

const PLAIN_FROM = 0.01; // where the largest slope is smaller, two decimals would show zeros alone

/** The slopes as multiples of a power of ten, and that as text; unchanged and "" where the largest has digits of its own.
 * @param {Pass} sloped @param {Record<string, unknown>} values */
function withCommonFactor(sloped, values) {
  const names = Object.keys(values),
    sizes = names.flatMap(name => Array.from(sloped.numbers(name), Math.abs)).filter(Number.isFinite),
    largest = sizes.reduce((one, other) => Math.max(one, other), 0);
  if (largest === 0 || largest >= PLAIN_FROM) return { slopes: values, factor: "" };
  const power = Math.floor(Math.log10(largest)),
    scaled = names.map(name => [name, sloped.numbers(name).map(slope => slope / 10 ** power)]);
  return { slopes: Object.fromEntries(scaled), factor: `×10${raised(power)}` };
}

/** A look that shows other `values` in some stages. Names begin with what they are, as there may be space for no more. @param {string} kind
 * @param {Pass} pass @param {Record<string, unknown>} values @param {string} title @param {string} prefix */
function replacing(kind, pass, values, title, prefix) {
  const has = (/** @type {string} */ stage) => Object.hasOwn(values, stage);
  return {
    kind,
    pass: pass.with(values),
    nameOf: (/** @type {string} */ stage, /** @type {number[]} */ index) =>
      (has(stage) ? `${prefix} ` : "") + pass.nameOf(stage, index),
    titleOf: (/** @type {string} */ stage) => (has(stage) ? `${pass.stages.get(stage).title}: ${title}` : ""),
  };
}

/** After less before, 0 where a key is hidden in both: -inf less itself would be no number. @param {Pass} pass */
function changed(pass) {
  const { before } = pass.document,
    old = pass.with(before);
  const changes = Object.keys(before).map(name => {
    const then = old.numbers(name);
    return [name, pass.numbers(name).map((now, flat) => (now === then[flat] ? 0 : now - then[flat]))];
  });
  return Object.fromEntries(changes);
}
