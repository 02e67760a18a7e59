// Parts: how strongly each earlier number takes part in a cell.
import { flatAt, placesAt, RUNNING } from "./pattern.js";
import { resultsOf, variantAt } from "./rule.js";

// Backwards from the cell, which has strength 1: a cell's strength is divided among its lines by the size of their
// results, and each of a line's cells has the line's. The answer has the stages that it was computed from, and its own.
export function strengthsOf(stages, ruleOf, name, flat) {
  const strengths = new Map();
  const into = source => {
    if (!strengths.has(source)) strengths.set(source, new Float64Array(stages.get(source).length));
    return strengths.get(source);
  };
  into(name)[flat] = 1;
  for (const [each, { rule, overridden }] of [...stages].reverse()) {
    if (!rule || !strengths.has(each)) continue;
    const read = ruleOf(each);
    into(each).forEach((strength, cell) => {
      if (strength > 0 && !overridden.has(cell)) divideStrength(read, cell, strength, into);
    });
  }
  return strengths;
}

function divideStrength(rule, cell, strength, into) {
  const places = placesAt(rule.result, cell);
  const lines = variantAt(rule, places)?.lines ?? [];
  const results = lines.map(line => resultsOf(line, places));
  const total = sizeOf(results);
  if (Number.isNaN(total)) return; // a number that was not sent: nobody knows yet how the strength is divided
  const isUsual = total > 0 && total < Infinity;
  const sizes = isUsual ? results : relative(results);
  const unit = strength / (isUsual ? total : sizeOf(sizes));
  for (let line = 0; line < lines.length; line += 1) {
    for (const { source, pattern } of lines[line].cells) {
      addSizes(into(source), flatAt(pattern, places), pattern.steps[RUNNING] ?? 0, sizes[line], unit);
    }
  }
}

// Sizes over the largest, so that no sum of them overflows: alike where all are 0, and for infinite ones.
function relative(results) {
  const largest = Math.max(...results.map(each => Math.max(...each.map(Math.abs))));
  return results.map(each => each.map(value => (Math.abs(value) === largest ? 1 : value / largest)));
}

function sizeOf(rows) {
  let total = 0;
  for (const row of rows) for (let i = 0; i < row.length; i += 1) total += Math.abs(row[i]);
  return total;
}

function addSizes(numbers, start, step, values, unit) {
  for (let i = 0; i < values.length; i += 1) numbers[start + i * step] += Math.abs(values[i]) * unit;
}
