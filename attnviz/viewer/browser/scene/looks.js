// Looks: what the pictures show of a pass, which is its numbers, the slopes of one number, or what a change moved.
import { differencesOf, pairOf } from "./pair.js";
import { COMPARISONS, focusOf } from "./state.js";

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
