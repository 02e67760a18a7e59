// Rules: how any cell of a stage is computed, read from a document.
import { numbersOf } from "./chunks.js";
import { flatAt, readPattern, RUNNING } from "./pattern.js";

// `numbersIn(name)` gives the numbers of a stage in one row. They, and a rule's own, are looked up when first asked for.
export function readRule(rule, numbersIn) {
  const arrays = new Map();
  const numbersOfOwn = (name, { length }) => {
    if (!arrays.has(name)) arrays.set(name, numbersOf(rule.arrays[name].values, length));
    return arrays.get(name);
  };
  const readSlot = ([source, text]) => {
    const pattern = readPattern(text, rule.sizes);
    const numbers = () => (source.startsWith("#") ? numbersOfOwn(source, pattern) : numbersIn(source));
    const runs = pattern.letters.includes(RUNNING);
    return { source, pattern, numbers, runs, count: runs ? rule.sizes[RUNNING] : 1 };
  };
  const slots = new Map(Object.entries(rule.slots).map(([name, slot]) => [name, readSlot(slot)]));
  const until = rule.until && readSlot(rule.until);
  const readLine = ({ cells, text, value, isExponential }) => {
    const read = cells.map(name => slots.get(name)),
      count = Math.max(...read.map(each => each.count));
    const countAt = places => (until && read.some(({ runs }) => runs) ? numberAt(until, places) : count);
    return { cells: read, text, value: slots.get(value), isExponential, countAt };
  };
  return {
    result: readPattern(rule.result, rule.sizes),
    slots,
    chosen: rule.case && readSlot(rule.case),
    running: rule.sizes[RUNNING] ?? 0,
    variants: rule.variants.map(variant => ({ ...variant, lines: variant.lines.map(readLine) })),
  };
}

// The variant of a rule for a cell, at its places of the letters; undefined if what decides it was not sent.
export function variantAt({ variants, chosen }, places) {
  return variants[chosen ? numberAt(chosen, places) : 0];
}

export function numberAt({ numbers, pattern }, places) {
  return numbers()[flatAt(pattern, places)];
}

// Each line of a variant, at each place it runs over: where its cells are in their stages, and its result.
export function linesAt({ lines }, places) {
  return lines.flatMap(line =>
    Array.from(resultsOf(line, places), (value, i) => {
      const at = { ...places, [RUNNING]: i };
      return { line, places: at, flats: line.cells.map(({ pattern }) => flatAt(pattern, at)), value };
    }),
  );
}

// The results of a line, at each place it runs over: the numbers of one slot, or the products of its cells; where it is of an
// exponential, that of the first cell less the second, times the others.
export function resultsOf({ cells, value, isExponential, countAt }, places) {
  const results = new Float64Array(countAt(places)).fill(1);
  for (const slot of value ? [value] : isExponential ? cells.slice(2) : cells) multiply(results, slot, places);
  if (isExponential) exponentiate(results, cells, places);
  return results;
}

function exponentiate(results, cells, places) {
  const [score, largest] = cells.slice(0, 2).map(slot => firstOf(slot, results.length, places));
  for (let i = 0; i < results.length; i += 1) results[i] *= Math.exp(score[i] - largest[i]);
}

// The numbers of a slot, at each place it runs over.
export function runOf(slot, places) {
  return firstOf(slot, slot.count, places);
}

function firstOf(slot, count, places) {
  const numbers = new Float64Array(count).fill(1);
  multiply(numbers, slot, places);
  return numbers;
}

function multiply(results, { pattern, numbers }, places) {
  const read = numbers(),
    start = flatAt(pattern, places),
    step = pattern.steps[RUNNING] ?? 0;
  for (let i = 0; i < results.length; i += 1) results[i] *= read[start + i * step];
}
