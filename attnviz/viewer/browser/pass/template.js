// Templates: texts with slots, such as "{a} × {b:t}". Braces that hold no slot, as in LaTeX, stay.
import { bracketed, digits, short, tex } from "./numeral.js";

const SLOT = /\{(\w+)(?::([\w.]+))?\}/g;

// The pieces of a text in order; `fill(name, format)` gives what stands in a slot, undefined if there is no such slot.
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

// A number in a format: four decimals, "s" two, "t" LaTeX, with "b" in brackets if it is negative.
export function formatted(value, format) {
  const writing = format.includes("t") ? tex : format.includes("s") ? short : digits;
  return format.includes("b") ? bracketed(value, writing) : writing(value);
}
