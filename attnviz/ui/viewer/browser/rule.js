// Rules: how any cell of a stage is computed, read from a document.
import { numbersOf } from "./chunks.js";
import { flatAt, readPattern, RUNNING } from "./pattern.js";

// `numbersIn(name)` gives the numbers of a stage in one row. They, and a rule's own, are looked up when first asked for.
export function readRule(rule, numbersIn) {
  const own = new Map();
  const numbersOfOwn = (name, { length }) => {
    if (!own.has(name)) own.set(name, numbersOf(rule.arrays[name].values, length));
    return own.get(name);
  };
  const readSlot = ([source, text]) => {
    const pattern = readPattern(text, rule.sizes);
    const isOwn = source.startsWith("#");
    return { source, pattern, numbers: () => (isOwn ? numbersOfOwn(source, pattern) : numbersIn(source)) };
  };
  const slots = new Map(Object.entries(rule.slots).map(([name, slot]) => [name, readSlot(slot)]));
  const readLine = ({ cells, text, value }) => {
    const read = cells.map((name) => slots.get(name));
    const runs = read.some(({ pattern }) => pattern.letters.includes(RUNNING));
    return { cells: read, text, value: slots.get(value), runs, count: runs ? rule.sizes[RUNNING] : 1 };
  };
  return {
    result: readPattern(rule.result, rule.sizes),
    slots,
    chosen: rule.case && readSlot(rule.case),
    running: rule.sizes[RUNNING] ?? 0,
    variants: rule.variants.map((variant) => ({ ...variant, lines: variant.lines.map(readLine) })),
  };
}

// How the cell is computed at some places of the letters; undefined if what decides it was not sent.
export function variantAt(rule, places) {
  return rule.variants[rule.chosen ? numberAt(rule.chosen, places) : 0];
}

export function numberAt(slot, places) {
  return slot.numbers()[flatAt(slot.pattern, places)];
}

// Each line of a variant at the places it stands for: where each of its cells is in its stage, and its result.
export function linesAt({ lines }, places) {
  return lines.flatMap((line) => {
    const results = resultsOf(line, places);
    return Array.from(results, (value, i) => {
      const at = { ...places, [RUNNING]: i };
      return { line, places: at, flats: line.cells.map(({ pattern }) => flatAt(pattern, at)), value };
    });
  });
}

// The results of one line, at each place it runs over.
export function resultsOf({ cells, value, count }, places) {
  const results = new Float64Array(count);
  (value ? [value] : cells).forEach(({ pattern, numbers }, factor) => {
    const read = numbers(), start = flatAt(pattern, places), step = pattern.steps[RUNNING] ?? 0;
    if (factor) for (let i = 0; i < count; i += 1) results[i] *= read[start + i * step];
    else for (let i = 0; i < count; i += 1) results[i] = read[start + i * step];
  });
  return results;
}
