// Numbers as text, plain or as LaTeX, and texts with slots for them.
import { ORDINALS } from "../../generated/numerals.js";

const MORE = 40; // decimals: a double that is not half-way between two shorter numbers differs from one that is before that
const NO_SHARE = 1e4; // set by hand; its hundredths may be beyond a double
const HALF = 0.5 + 1e-9; // 100 * 0.145 is a little less than 14.5
export const LITTLE = 0.01; // a smaller share is written as "under 1 %", and has no arc
const MOST_NAMED = 16; // words in the line of those under 1 %
const MOST_BELOW = 99,
  SAME = 1e-9; // of two numbers, beside which two fractions with such denominators are far apart
const SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/** @type {Partial<Record<Intl.LDMLPluralRule, string>>} */
const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };
const GROUPED = new Intl.NumberFormat("en"); // made once, as to make one takes longer than all it writes
const PLURALS = new Intl.PluralRules("en", { type: "ordinal" });

/** @param {number} value @param {string} text */
const signed = (value, text) => (value < 0 && Number(text) !== 0 ? `−${text}` : text);

/** `digits` and `tex` agree with attnviz/core/numerals.py, `percent` with attnviz/explain/wording.py. @param {number} value */
export function short(value) {
  const size = Math.abs(value);
  return signed(value, size >= 1e4 ? scientific(size, 1) : fixed(size, size >= 1000 ? 0 : size >= 100 ? 1 : 2));
}

export function digits(/** @type {number} */ value) {
  const size = Math.abs(value);
  return signed(value, size !== 0 && (size < 1e-3 || size >= 1e6) ? scientific(size, 2) : fixed(size, 4));
}

/** A number as LaTeX: a minus that is one, a power of ten that is not the number e. @param {number} value */
export function tex(value) {
  const [mantissa, exponent] = digits(value).replaceAll("−", "-").replace("∞", "\\infty").split("e");
  return exponent ? `${mantissa} \\cdot 10^{${exponent}}` : mantissa;
}

/** A whole number as an exponent. @param {number} power */
export const raised = power =>
  String(power)
    .replace("-", "⁻")
    .replace(/[0-9]/g, digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);

/** A number to stand behind an operator: in brackets, if it has a minus of its own. @param {number} value
 * @param {(value: number) => string} written */
export const bracketed = (value, written) => (value < 0 ? `(${written(value)})` : written(value));

/** A share as whole percents, halves rounded away from 0; one that is nearly nothing or nearly all is not said to be so. @param {number} share */
export function percent(share) {
  const size = Math.abs(share);
  if (share > 0 && share < LITTLE) return "under 1\u00a0%";
  if (share > 0.99 && share < 1) return "over 99\u00a0%";
  if (size >= NO_SHARE) return digits(share);
  return `${signed(share, String(Math.floor(100 * size + HALF)))}\u00a0%`;
}

// The fraction that a number is, as 3/7, if its denominator has at most two digits; empty where it is whole, or no such one.
export function fraction(/** @type {number} */ value) {
  for (let below = 1; below <= MOST_BELOW; below += 1) {
    const above = Math.round(value * below);
    if (Math.abs(value * below - above) < SAME)
      return below === 1 ? "" : `${signed(above, String(Math.abs(above)))}/${below}`;
  }
  return "";
}

// The widest text that percent writes.
export const PERCENTS = [0.001, 0.999, 1].map(percent);

export const grouped = (/** @type {number} */ n) => GROUPED.format(n);
export const counted = (/** @type {number} */ n) => SMALL[n] ?? String(n);
export const ordinal = (/** @type {number} */ n) => ORDINALS[n - 1] ?? `${n}${ENDINGS[PLURALS.select(n)]}`;

/** Parts of a sentence, each a list of pieces, joined by commas and "and". @param {any[][]} parts @returns {any[]} */
export const listed = parts =>
  parts.flatMap((part, i) => [...(i === 0 ? [] : [i < parts.length - 1 ? ", " : " and "]), ...part]);

function fixed(/** @type {number} */ size, /** @type {number} */ decimals) {
  if (size === Infinity) return "∞";
  const rounded = size.toFixed(decimals);
  const mayBeHalfWay = Number.isInteger(size * 2 * 10 ** decimals); // which costs less than the many decimals
  return mayBeHalfWay ? toEven(size.toFixed(decimals + MORE), rounded) : rounded;
}

function scientific(/** @type {number} */ size, /** @type {number} */ decimals) {
  if (size === Infinity) return "∞";
  const [exact, exponent] = size.toExponential(decimals + MORE).split("e");
  const [rounded, itsExponent] = size.toExponential(decimals).split("e");
  const mantissa = toEven(exact, rounded);
  return `${mantissa}e${(mantissa === rounded ? itsExponent : exponent).replace("+", "").replace("-", "−")}`;
}

/** JavaScript rounds a number that is half-way up, Python to the even digit. @param {string} exact @param {string} rounded */
function toEven(exact, rounded) {
  const kept = exact.slice(0, -MORE),
    dropped = exact.slice(-MORE);
  return /^50*$/.test(dropped) && /[02468]\.?$/.test(kept) ? kept.replace(/\.$/, "") : rounded;
}

const SLOT = /\{(\w+)(?::([\w.]+))?\}/g;

/** The pieces of a text with slots, such as "{a} × {b:t}". fill(name, format) returns undefined for braces that are no slot, as in LaTeX.
 * @param {string} template @param {(name: string, format: string) => any} fill @returns {any[]} */
export function pieces(template, fill) {
  const parts = [];
  let end = 0;
  for (const { 0: whole, 1: name, 2: format = "", index } of template.matchAll(SLOT)) {
    const filled = fill(name, format);
    if (filled === undefined) continue;
    if (index > end) parts.push(template.slice(end, index));
    parts.push(filled);
    end = index + whole.length;
  }
  return end < template.length ? [...parts, template.slice(end)] : parts;
}

/** A number in a format: four decimals, "s" two, "t" LaTeX, with "b" in brackets if it is negative. @param {number} value @param {string} format */
export function formatted(value, format) {
  const writing = format.includes("t") ? tex : format.includes("s") ? short : digits;
  return format.includes("b") ? bracketed(value, writing) : writing(value);
}

/** The line of the words whose attention weights are under 1 %; "" without any. @param {string[]} names */
export function littleLine(names) {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return names.length ? `${percent(LITTLE / 2)}: ${names.slice(0, MOST_NAMED).join(", ")}${more}` : "";
}

const TYPED = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;

/** A number as people type it: a decimal, a fraction or a percentage; null if it is none. With `isPart` 88 % means 0.88, else 88, as where per
 * cent are asked for. @param {string} text @param {boolean} isPart @returns {number | null} */
export function numberIn(text, isPart = false) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(/\s/g, ""),
    isPercentage = plain.endsWith("%"),
    numbers = (isPercentage ? plain.slice(0, -1) : plain).split("/");
  if (numbers.length > 2 || !numbers.every(each => TYPED.test(each))) return null;
  const [above, below = 1] = numbers.map(each => Number(each.replace(",", ".")));
  return below === 0 ? null : above / below / (isPercentage && isPart ? 100 : 1);
}
