// Parts: how strongly each earlier number takes part in a cell.
import { flatAt, placesAt, RUNNING } from "./pattern.js";
import { resultsOf, variantAt } from "./rule.js";

// Backwards from the cell, which has strength 1: a cell's strength is divided among its lines by the size of their
// results, and each of a line's cells has the line's. `stages` are [name, {rule, length, isOverridden}], in the order of
// the pass; the answer has those that the cell was computed from, and its own.
export function strengthsOf(stages, name, flat) {
  const lengths = new Map(stages.map(([each, { length }]) => [each, length]));
  const strengths = new Map([[name, new Float64Array(lengths.get(name))]]);
  strengths.get(name)[flat] = 1;
  const into = (source) => {
    if (!strengths.has(source)) strengths.set(source, new Float64Array(lengths.get(source)));
    return strengths.get(source);
  };
  for (const [each, { rule, isOverridden }] of [...stages].reverse()) {
    if (!rule || !strengths.has(each)) continue;
    strengths.get(each).forEach((strength, cell) => {
      if (strength > 0 && !isOverridden(cell)) divideStrength(rule, cell, strength, into);
    });
  }
  return strengths;
}

function divideStrength(rule, cell, strength, into) {
  const places = placesAt(rule.result, cell);
  const variant = variantAt(rule, places);
  if (!variant) return;
  const results = variant.lines.map((line) => resultsOf(line, places));
  const largest = results.reduce((most, each) => each.reduce((size, value) => Math.max(size, Math.abs(value)), most), 0);
  const weights = results.map((each) => each.map((value) => weightOf(value, largest)));
  const total = weights.reduce((sum, each) => each.reduce((part, value) => part + value, sum), 0);
  if (Number.isNaN(total)) return; // a number that was not sent: nobody knows yet how the strength is divided
  variant.lines.forEach(({ cells }, place) => {
    for (const { source, pattern } of cells) {
      const strengths = into(source), start = flatAt(pattern, places), step = pattern.steps[RUNNING] ?? 0;
      weights[place].forEach((value, i) => { strengths[start + i * step] += (strength * value) / total; });
    }
  });
}

// The size of a result over the largest, so that no sum of them overflows; alike where all are 0, and for infinite ones.
function weightOf(value, largest) {
  const size = Math.abs(value);
  return size === largest ? 1 : size / largest;
}
