// Looks: what the pictures show of a pass, which is its numbers, the slopes of one number, or what a change moved.
import { focusOf } from "./state.js";

const seen = new WeakMap(); // pass -> {kind: look}: a pass is dressed once

// {kind, pass}: the pass holds other numbers, and its titles and names say what they are.
export function lookAt(pass, where, byHowMuch) {
  const kind = kindOf(pass, where, byHowMuch);
  if (!seen.has(pass)) seen.set(pass, {});
  const looks = seen.get(pass);
  looks[kind] ??= LOOKS[kind](pass);
  return looks[kind];
}

export function askedOf(pass, where) {
  const { name, index } = focusOf(pass, where);
  return pass.address(name, index);
}

function kindOf(pass, where, byHowMuch) {
  const { slopes, changes } = pass.document;
  if (where.ask === "what would move it") return slopes?.of === askedOf(pass, where) ? "slopes" : "numbers";
  return where.ask === "what if" && byHowMuch && changes.length ? "differences" : "numbers";
}

const LOOKS = {
  numbers: (pass) => ({ kind: "numbers", pass }),
  slopes: (pass) => {
    const { of, values } = pass.document.slopes;
    const { name, index } = pass.read(of);
    return dressed("slopes", pass, values, `slope of ${pass.nameOf(name, index)} by`);
  },
  differences: (pass) => dressed("differences", pass, moved(pass), "change of"),
};

function dressed(kind, pass, values, prefix) {
  const other = pass.with(values), stages = new Map(pass.stages);
  for (const name of Object.keys(values)) {
    const stage = stages.get(name);
    const title = `${prefix[0].toUpperCase()}${prefix.slice(1)} ${stage.title}`;
    stages.set(name, { ...stage, title, scale: "signed", limit: largest(other.numbers(name)) || 1 });
  }
  const nameOf = (name, index) => (Object.hasOwn(values, name) ? `${prefix} ` : "") + pass.nameOf(name, index);
  return { kind, pass: { ...other, stages, nameOf } };
}

function largest(numbers) {
  return numbers.reduce((size, each) => (Number.isFinite(each) ? Math.max(size, Math.abs(each)) : size), 0);
}

// After less before, 0 where a key is hidden in both: -inf less itself would be no number.
function moved(pass) {
  const { before } = pass.document, old = pass.with(before);
  return Object.fromEntries(Object.keys(before).map((name) => {
    const then = old.numbers(name);
    return [name, pass.numbers(name).map((now, place) => (now === then[place] ? 0 : now - then[place]))];
  }));
}
