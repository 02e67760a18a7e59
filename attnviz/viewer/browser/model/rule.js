// The rules of stages: an operation's subscripts, such as "h q f, h k f -> h q k", give the terms of one number and the parts of a sum.

/** The numbers of an array, decoded from one text for each head, or one for all. A text whose numbers are all equal holds only one. Numbers that
 * were not sent are NaN, which no number of a pass is. @param {(string | null)[]} chunks @param {number} length */
export function numbersOf(chunks, length) {
  const numbers = new Float64Array(length).fill(Number.NaN),
    size = length / chunks.length;
  chunks.forEach((chunk, position) => {
    if (chunk === null) return;
    const sent = decoded(chunk);
    if (sent.length === 1) numbers.fill(sent[0], position * size, (position + 1) * size);
    else numbers.set(sent, position * size);
  });
  return numbers;
}

function decoded(/** @type {string} */ chunk) {
  const isSingle = chunk[0] === "~", // in 32 bits
    text = atob(isSingle ? chunk.slice(1) : chunk);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return isSingle ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}

export const RUNNING = "i"; // stands in no result: a line that reads it is there once for each of its places

/** The axes of an array as a rule writes them: in "q (h f)" the first axis counts q, the second h (outermost) and f. In C order the letters are
 * the digits of a flat position, on however many axes. @param {string} text @param {Record<string, number>} sizes @returns {Pattern} */
function readPattern(text, sizes) {
  const axes = (text.match(/\([^)]*\)|\w/g) ?? []).map(axis => /** @type {string[]} */ (axis.match(/\w/g)));
  const letters = axes.flat();
  const steps = /** @type {Record<string, number>} */ ({});
  let length = 1;
  for (const letter of [...letters].reverse()) {
    steps[letter] = length;
    length *= sizes[letter];
  }
  return { axes, letters, steps, sizes, length };
}

/** Where the array has its number for some positions of the letters. @param {Pattern} pattern @param {Record<string, number>} positions */
function flatAt({ letters, steps }, positions) {
  let flat = 0;
  for (const letter of letters) flat += steps[letter] * positions[letter];
  return flat;
}

/** The positions of the letters for a number of the array; of those that it lacks the last, or the first of those that run.
 * @param {Pattern} pattern @param {number} flat @returns {Record<string, number>} */
export function positionsAt({ letters, steps, sizes }, flat) {
  const positions = /** @type {Record<string, number>} */ ({});
  for (const letter in sizes) positions[letter] = sizes[letter] - 1;
  positions[RUNNING] = 0;
  for (const letter of letters) positions[letter] = Math.floor(flat / steps[letter]) % sizes[letter];
  return positions;
}

/** `numbersIn(name)` gives the numbers of a stage in one row. They, and a rule's own, are looked up when first asked for. @returns {ReadRule} */
export function readRule(/** @type {Rule} */ rule, /** @type {(name: string) => Float64Array} */ numbersIn) {
  const arrays = new Map();
  const numbersOfOwn = (/** @type {string} */ name, /** @type {Pattern} */ { length }) => {
    if (!arrays.has(name)) arrays.set(name, numbersOf(rule.arrays[name].values, length));
    return arrays.get(name);
  };
  const readSlot = (/** @type {[string, string]} */ [source, text]) => {
    const pattern = readPattern(text, rule.sizes);
    const numbers = () => (source.startsWith("#") ? numbersOfOwn(source, pattern) : numbersIn(source));
    const runs = pattern.letters.includes(RUNNING);
    return { source, pattern, numbers, runs, count: runs ? rule.sizes[RUNNING] : 1 };
  };
  const slots = new Map(Object.entries(rule.slots).map(([name, slot]) => [name, readSlot(slot)]));
  const until = rule.until && readSlot(rule.until);
  const readLine = (/** @type {RuleLine} */ { cells, text, value, isExponential }) => {
    const read = cells.map(name => /** @type {RuleSlot} */ (slots.get(name))),
      count = Math.max(...read.map(each => each.count));
    const countAt = (/** @type {Record<string, number>} */ positions) =>
      until && read.some(({ runs }) => runs) ? numberAt(until, positions) : count;
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

/** The variant of a rule for a cell, at its positions of the letters; undefined if what decides it was not sent. @param {ReadRule} readRule
 * @param {Record<string, number>} positions */
export const variantAt = ({ variants, chosen }, positions) => variants[chosen ? numberAt(chosen, positions) : 0];
/** @param {RuleSlot} ruleSlot @param {Record<string, number>} positions */
export const numberAt = ({ numbers, pattern }, positions) => numbers()[flatAt(pattern, positions)];

/** Each line of a variant, at each position it runs over: where its cells are in their stages, and its result.
 * @param {{ lines: ReadLine[] }} props @param {Record<string, number>} positions */
export const linesAt = ({ lines }, positions) =>
  lines.flatMap(line =>
    Array.from(resultsOf(line, positions), (value, i) => {
      const at = { ...positions, [RUNNING]: i };
      return { line, places: at, flats: line.cells.map(({ pattern }) => flatAt(pattern, at)), value };
    }),
  );

/** The results of a line, at each position it runs over: the numbers of one slot, or the products of its cells; where it is of an exponential,
 * that of the first cell less the second, times the others. @param {ReadLine} readLine @param {Record<string, number>} positions */
function resultsOf({ cells, value, isExponential, countAt }, positions) {
  const results = new Float64Array(countAt(positions)).fill(1);
  for (const slot of value ? [value] : isExponential ? cells.slice(2) : cells) multiply(results, slot, positions);
  if (isExponential) exponentiate(results, cells, positions);
  return results;
}

/** @param {Float64Array} results @param {RuleSlot[]} cells @param {Record<string, number>} positions */
function exponentiate(results, cells, positions) {
  const [score, largest] = cells.slice(0, 2).map(slot => firstOf(slot, results.length, positions));
  for (let i = 0; i < results.length; i += 1) results[i] *= Math.exp(score[i] - largest[i]);
}

/** The numbers of a slot, at each position it runs over. @param {RuleSlot} slot @param {Record<string, number>} positions */
export const runOf = (slot, positions) => firstOf(slot, slot.count, positions);

/** @param {RuleSlot} slot @param {number} count @param {Record<string, number>} positions */
function firstOf(slot, count, positions) {
  const numbers = new Float64Array(count).fill(1);
  multiply(numbers, slot, positions);
  return numbers;
}

/** @param {Float64Array} results @param {RuleSlot} ruleSlot @param {Record<string, number>} positions */
function multiply(results, { pattern, numbers }, positions) {
  const read = numbers(),
    start = flatAt(pattern, positions),
    step = pattern.steps[RUNNING] ?? 0;
  for (let i = 0; i < results.length; i += 1) results[i] *= read[start + i * step];
}

/** Backwards from the cell, which has strength 1: a cell's strength is divided among its lines by the size of their results, and each of a
 * line's cells has the line's. The answer has the stages that it was computed from, and its own. @param {Stages} stages
 * @param {(name: string) => ReadRule} ruleOf @param {string} name @param {number} flat @returns {Map<string, Float64Array>} */
export function strengthsOf(stages, ruleOf, name, flat) {
  const strengths = new Map();
  const into = (/** @type {string} */ source) => {
    if (!strengths.has(source)) strengths.set(source, new Float64Array(stages.get(source).length));
    return strengths.get(source);
  };
  into(name)[flat] = 1;
  for (const [each, { rule, overridden }] of [...stages].reverse()) {
    if (!rule || !strengths.has(each)) continue;
    const read = ruleOf(each);
    into(each).forEach((/** @type {number} */ strength, /** @type {number} */ cell) => {
      if (strength > 0 && !overridden.has(cell)) divideStrength(read, cell, strength, into);
    });
  }
  return strengths;
}

/** @param {ReadRule} rule @param {number} cell @param {number} strength @param {(source: string) => Float64Array} into */
function divideStrength(rule, cell, strength, into) {
  const positions = positionsAt(rule.result, cell);
  const lines = variantAt(rule, positions)?.lines ?? [];
  const results = lines.map(line => resultsOf(line, positions));
  const total = sizeOf(results);
  if (Number.isNaN(total)) return; // a number that was not sent: nobody knows yet how the strength is divided
  const isUsual = total > 0 && total < Infinity;
  const sizes = isUsual ? results : relative(results);
  const unit = strength / (isUsual ? total : sizeOf(sizes));
  for (let line = 0; line < lines.length; line += 1) {
    for (const { source, pattern } of lines[line].cells) {
      addSizes(into(source), flatAt(pattern, positions), pattern.steps[RUNNING] ?? 0, sizes[line], unit);
    }
  }
}

/** Sizes over the largest, so that no sum of them overflows: alike where all are 0, and for infinite ones. @param {Float64Array[]} results */
function relative(results) {
  const largest = Math.max(...results.map(each => Math.max(...each.map(Math.abs))));
  return results.map(each => each.map(value => (Math.abs(value) === largest ? 1 : value / largest)));
}

function sizeOf(/** @type {Float64Array[]} */ rows) {
  let total = 0;
  for (const row of rows) for (let i = 0; i < row.length; i += 1) total += Math.abs(row[i]);
  return total;
}

/** @param {Float64Array} numbers @param {number} start @param {number} step @param {Float64Array} values @param {number} unit */
function addSizes(numbers, start, step, values, unit) {
  for (let i = 0; i < values.length; i += 1) numbers[start + i * step] += Math.abs(values[i]) * unit;
}
