// The answers of a class in few groups: a candidate each, or numbers in ranges of round width.
import { answerText, isRightAnswer } from "../lesson/question.js";

const MOST_VALUES = 8; // numbers that have a group each
const MOST_RIGHT = 3; // numbers beside the right one that count as right and have a group each
const RANGES = 6; // about, of numbers
const FIFTHS = 5; // of a share
const TAIL = 0.05; // of numbers at either end that share the outermost range

/** @typedef {{ label: string, isRight: boolean }} Group */

// Groups of `values` in order, and groupOf(value), the index of a value's group. Right answers are marked, and apart, once isShown.
/** @returns {{ groups: Group[], groupOf(value: number): number }} */
export function groupAnswers(question, values, isShown) {
  const isRight = value => isShown && isRightAnswer(question, value);
  return question.kind === "fill"
    ? groupNumbers(question, values, isRight)
    : groupBy(values, isRight, value => [value, question.candidates[value].label]);
}

function groupNumbers(question, values, isRight) {
  const { isShare, text, right } = question,
    write = value => (value === right ? text : answerText({ isShare, unit: "" }, value)),
    nameOfRight = rightNames(question, values.filter(isRight), write),
    others = [...new Set(values.filter(value => !isRight(value)))].sort((one, other) => one - other),
    rangeOf = isShare ? shareRange : others.length > MOST_VALUES ? rangesOf(others) : value => [value, value, value];
  return groupBy(values, isRight, value => {
    if (isRight(value)) return nameOfRight(value);
    const [low, high, edge] = rangeOf(value);
    if (low === high) return [low, write(low)];
    if (edge) return [low, edge === "under" ? `under ${write(high)}` : `${write(low)} or more`];
    return [low, `${isShare ? Math.round(100 * low) : write(low)} to ${write(high)}`];
  });
}

// Right answers stand at their own values, unless they are many or shares: then together, as near the right one.
function rightNames({ right, isShare, text, tolerance }, values, write) {
  const isText = value => plain(write(value)) === plain(text),
    near = new Set(values.filter(value => !isText(value)).map(write)),
    off = isShare ? Math.round(100 * tolerance) : write(tolerance),
    together = near.size && (isShare || near.size > MOST_RIGHT) ? `${text} ± ${off}` : "";
  return value => (together || isText(value) ? [right, together || text] : [value, write(value)]);
}

const plain = text => text.replace(/\s/g, " ");

// nameOf(value) gives where a group stands among the others, and its label.
function groupBy(values, isRight, nameOf) {
  const found = new Map();
  for (const value of values) {
    const [at, label] = nameOf(value),
      key = isRight(value) ? `✓ ${label}` : label;
    found.set(key, { key, at, label, isRight: isRight(value) });
  }
  const groups = [...found.values()].sort((one, other) => one.at - other.at || one.key.localeCompare(other.key)),
    indices = new Map(groups.map(({ key }, index) => [key, index]));
  return {
    groups: groups.map(({ label, isRight: is }) => ({ label, isRight: is })),
    groupOf: value => indices.get(`${isRight(value) ? "✓ " : ""}${nameOf(value)[1]}`) ?? -1,
  };
}

function shareRange(value) {
  const fifth = Math.min(Math.floor(value * FIFTHS + 1e-9), FIFTHS - 1);
  return [fifth / FIFTHS, (fifth + 1) / FIFTHS, ""];
}

// Ranges of a round width, of which the first and the last hold what lies far out.
function rangesOf(sorted) {
  const [low, high] = [TAIL, 1 - TAIL].map(part => sorted[Math.round(part * (sorted.length - 1))]),
    step = roundStep((high - low) / RANGES),
    [first, last] = [Math.floor(low / step), Math.floor(high / step)];
  return value => {
    const nth = Math.floor(value / step);
    if (nth < first) return [Number.NEGATIVE_INFINITY, first * step, "under"];
    return nth > last ? [(last + 1) * step, Number.POSITIVE_INFINITY, "over"] : [nth * step, (nth + 1) * step, ""];
  };
}

function roundStep(least) {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find(each => each * power >= least * (1 - 1e-12)) ?? 10);
}
