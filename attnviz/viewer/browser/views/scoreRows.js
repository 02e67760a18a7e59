// What the picture "from score to weight" shows: the rows of a query's keys, its axis, and the moments of its motion, as data.
import { changeAt } from "../model/changes.js";
import { short } from "../model/numeral.js";
import { added } from "./oneWordParts.js";

const MOST_TERMS = 8, // in a chain; of more the largest have a bar each, the others share one
  TERMS_ALONE = 6,
  TERMS_IN_WORDS = 4;
export const DOTS = 0.55; // of the width, for the dots beside bars
export const TOP = 22; // over the rows, and below them
export const FOOT = 22;
export const STRIP = { height: 12, space: 34 }; // the bar of all weights
const LEAST_DOTS_PX = 110, // where scaling would leave less
  MARGIN = 0.12, // at the ends of the axis, of what is on it
  TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  TICK_PX = { before: 56, after: 30 };

const OTHERS = "the other";

/** The terms of a score in order, of many the largest and the sum of the others. @param {{ value: number, place?: any }[]} lines
 * @returns {{ value: number, name: string }[]} */
export function chainOf(lines) {
  const bySize = [...lines].sort((one, other) => Math.abs(other.value) - Math.abs(one.value)),
    alone = new Set(lines.length > MOST_TERMS ? bySize.slice(0, TERMS_ALONE) : lines),
    others = lines.filter(line => !alone.has(line)),
    terms = lines.filter(line => alone.has(line)).map(({ value, place }) => ({ value, name: place?.text ?? "" }));
  if (!others.length) return terms;
  return [...terms, { value: added(others.map(({ value }) => value)), name: `${OTHERS} ${others.length}` }];
}

/** The softmax of a row that is dragged, before the pass of it has come: `sink` is the score of no key, −Infinity without one.
 * @param {number[]} scores @returns {{ exps: number[], weights: number[] }} */
export function softmaxOf(scores, sink = Number.NEGATIVE_INFINITY) {
  const largest = Math.max(sink, ...scores),
    expOf = score => (largest === Number.NEGATIVE_INFINITY ? 0 : Math.exp(score - largest)),
    exps = scores.map(expOf),
    total = added(exps) + expOf(sink) || 1;
  return { exps, weights: exps.map(each => each / total) };
}

/** The axis of the scores, and that of what scaling makes of them: {low, unit, factor, length, apart}, `unit` and `length` in pixels. Both have
 * the same unit, so that scaling contracts the axis, unless no dot could be told from the next.
 * @param {{ ends: number[], later: number[], factor: number }} numbers @param {number} width */
export function axesOf({ ends, later, factor }, width) {
  const spanOf = numbers => {
    const all = [0, ...numbers.filter(Number.isFinite)],
      [low, high] = [Math.min(...all), Math.max(...all)],
      margin = MARGIN * (high - low || 1);
    return { low: low - margin, span: high - low + 2 * margin };
  };
  const before = spanOf(ends),
    after = spanOf([...ends.map(end => end * factor), ...later]),
    unit = Math.min(width / before.span, (DOTS * width) / after.span),
    unitAfter = Math.max(unit, Math.min(LEAST_DOTS_PX, DOTS * width) / after.span);
  const axisOf = ({ low, span }, unit, factor, px) => {
    const apart = TICKS.find(each => each * unit >= px) ?? span;
    return { low, unit, factor, length: unit * span, apart };
  };
  return [axisOf(before, unit, 1, TICK_PX.before), axisOf(after, unitAfter, factor, TICK_PX.after)];
}

const baseOf = (/** @type {string} */ name) => name.replace(/_\d+$/, "");

/** What the picture shows of the selected query's row, as data; null where it has no scores to show. `slots` are those of the sheet's bands.
 * On paper it is shown with all that its page has. @returns {any} */
export function rowsOf({ pass, where, look, slots, attention, selection, source, paint }, { isPaper = false } = {}) {
  if (source || look.kind !== "numbers" || look.isWorksheet) return null;
  const lines = slots.filter(
    ({ left, right, cells }) => !left && !right && cells.columns.name === "key" && cells.size[0] === 1,
  );
  if (!lines.length || !(isPaper || lines.some(({ step }) => step.id === where.step))) return null;
  const n = lines[0].cells.size[1],
    numbersOf = ({ cells }) => Array.from({ length: n }, (_, key) => pass.number(cells.name, cells.index(0, key))),
    isThere = ({ isThere, cells, band }) => isThere && look.shown(cells.name, cells.index(0, n - 1), band.array),
    there = lines.filter(isThere),
    ofAttention = ({ cells }) => cells.name === attention;
  const first = lines.findIndex(({ cells }) => baseOf(cells.name) === "scores"),
    ofScores = lines.slice(Math.max(first, 0)).filter(line => !ofAttention(line)), // scores, scaled scores, and so on
    dots = ofScores.filter(line => there.includes(line)),
    exps = there.find(line => ofAttention(line) && line.band.array),
    weights = there.find(line => ofAttention(line) && !line.band.array),
    isMissing = [...dots, ...(weights ? [weights] : [])].some(line => numbersOf(line).includes(undefined));
  if (first < 0 || !dots.length || isMissing || (weights && !exps)) return null;
  const last = dots.at(-1),
    movable = ofScores.findLast(({ cells }) => baseOf(cells.name) !== "masked"),
    [scores, ...later] = ofScores.map(numbersOf),
    values = numbersOf(last),
    isMasked = exps || baseOf(last.cells.name) === "masked";
  const { cells } = dots[0],
    expAt = exps ? pass.named(attention, exps.band.array, exps.cells.index(0, 0)) : [],
    weightAt = weights ? numbersOf(weights) : [],
    movableAt = numbersOf(movable),
    leftover = weights?.leftover;
  const rows = Array.from({ length: n }, (_, key) => {
    const index = cells.index(0, key),
      set = { name: movable.cells.name, index: movable.cells.index(0, key) },
      isHidden = Boolean(isMasked) && pass.isUnseen(cells.name, index);
    return {
      key,
      label: cells.columns.labels[key],
      isHidden,
      terms: chainOf(pass.terms(cells.name, index)?.lines ?? []),
      value: isHidden ? movableAt[key] : values[key],
      set,
      change: changeAt(pass, set.name, set.index),
      before: paint.before(set.name, set.index),
      exp: expAt[key] ?? 0,
      weight: weightAt[key] ?? 0,
    };
  });
  const factor = factorOf(pass, ofScores[1], scores),
    ends = rows.flatMap(({ terms, key }) => [scores[key], ...endsIn(terms)]),
    isSoftmax = lines.some(line => ofAttention(line) && line.band.array);
  return {
    pass,
    rows,
    stage: last.cells.name,
    isScaled: dots.length > 1 || Boolean(exps),
    isMovable: isSoftmax && dots.includes(movable) && !isPaper,
    phase: weights ? 2 : exps ? 1 : 0,
    title: titleOf(dots, pass.stages, factor),
    numbers: { ends, later: later.flat(), factor },
    sink: leftover && { name: leftover.stage.one, weight: pass.number(leftover.name, leftover.index(0, 0)) },
    attention,
    attentionAt: key => pass.indexAt(attention, { ...selection, key }),
    query: pass.wordsAt(where.step).query[selection.query],
    words: [selection.query, selection.head, attention, ...cells.columns.labels].join(" "),
  };
}

// What scaling multiplies a score by.
function factorOf(pass, line, scores) {
  if (!line || baseOf(line.cells.name) !== "scaled") return 1;
  const { name, index } = line.cells,
    made = [...scores.keys()].filter(key => !pass.isOverridden(name, index(0, key))),
    surest = made.reduce((one, key) => (Math.abs(scores[key]) > Math.abs(scores[one]) ? key : one), made[0]);
  return scores[surest] ? pass.number(name, index(0, surest)) / scores[surest] : 1;
}

export const endsIn = terms => terms.map((_, nth) => added(terms.slice(0, nth + 1).map(({ value }) => value)));

// "score ÷ √4 − bias": what has been done to the scores.
function titleOf([, ...later], stages, factor) {
  const isNamed = ({ cells }) => factor !== 1 || baseOf(cells.name) !== "scaled", // A's may be as they were, beside B's
    named = later.filter(isNamed),
    done = named.map(({ band, cells }) => (band.label === stages.get(cells.name).title ? "" : band.label));
  return ["score", ...done.filter(Boolean)].join(" ");
}

/** A moment of the motion: positions and widths, in numbers. */
export function momentOf({ rows, isScaled, phase, numbers }, width, row) {
  const [before, after] = axesOf(numbers, width);
  return {
    axis: isScaled ? after : before,
    chain: 1,
    fade: isScaled || phase ? 0.25 : 1,
    exp: Number(phase > 0),
    norm: Number(phase > 1),
    row,
    rows: rows.map(({ terms, value, exp, weight, isHidden }) => ({
      terms: terms.map(each => each.value),
      dot: value,
      seen: isHidden ? 0 : 1,
      exp,
      weight,
    })),
  };
}

/** Where the picture comes from as it appears: no chain yet, or the axis before it contracts, or no bars. */
export function startOf({ isScaled, phase, numbers }, target, { left, right }) {
  if (phase) return { ...target, exp: 0, norm: 0 };
  if (!isScaled) return { ...target, chain: 0 };
  const [axis] = axesOf(numbers, right - left),
    rows = target.rows.map(row => ({ ...row, dot: row.terms.length ? added(row.terms) : row.dot / numbers.factor }));
  return { ...target, axis, fade: 1, rows };
}

/** The picture's data while a dot is held: its key has the held value, and all weights follow. */
export function preview(shown, { key, value }) {
  const values = shown.rows.map(row => (row.isHidden ? -Infinity : row.key === key ? value : row.value)),
    sink = shown.sink ? sinkScoreOf(shown) : -Infinity,
    { exps, weights } = softmaxOf(values, sink);
  return {
    ...shown,
    rows: shown.rows.map((row, nth) => ({
      ...row,
      value: row.key === key ? value : row.value,
      exp: exps[nth],
      weight: weights[nth],
    })),
  };
}

// The score of the sink, from its weight beside the keys'.
function sinkScoreOf({ rows, sink }) {
  const { weight, value } = rows
    .filter(({ isHidden }) => !isHidden)
    .reduce((one, other) => (other.weight > one.weight ? other : one));
  return value + Math.log(sink.weight / weight);
}

// "−0.22 + 2.40 − 0.15", or of many terms the largest and the rest.
export function termsText(terms) {
  if (terms.length < 2) return "";
  if (terms.length <= TERMS_IN_WORDS)
    return terms
      .map(({ value }, nth) => (nth ? `${value < 0 ? "−" : "+"} ${short(Math.abs(value))}` : short(value)))
      .join(" ");
  const named = terms.filter(({ name }) => !name.startsWith(OTHERS)),
    largest = named.reduce((one, other) => (Math.abs(other.value) > Math.abs(one.value) ? other : one)),
    rest = added(terms.map(({ value }) => value)) - largest.value;
  return `${largest.name.replace("dimension", "dim")}: ${short(largest.value)}, rest ${short(rest)}`;
}
