// Derivations: how one cell was computed, in its own numbers.
import { hasWords, placeNameAt, unflattened } from "./axes.js";
import { tex } from "./numeral.js";
import { placesAt, RUNNING } from "./pattern.js";
import { linesAt, numberAt, variantAt } from "./rule.js";
import { pieces, formatted } from "./template.js";

const SHOWN_AT_MOST = 4; // summands in a formula; the lines always have them all

// Of a number that was given, or set by hand: `recipe` says where it is from.
export function given(recipe) {
  return { lines: [], conclusion: "", formula: "", recipe, between: "" };
}

// Of a number that its stage's rule computes; null if what decides how was not sent. `left` is the formula's left side.
export function derivation(stages, rule, flat, left, value) {
  const places = placesAt(rule.result, flat);
  const variant = variantAt(rule, places);
  if (!variant) return null;
  const lines = linesAt(variant, places);
  const texts = { n: String(lines.length) };
  if (variant.term) texts.terms = termsOf(rule, variant, places);
  return {
    lines: lines.map(each => ({
      cells: each.line.cells.map(({ source: name }, i) => ({
        name,
        index: unflattened(stages.get(name).shape, each.flats[i]),
      })),
      text: filled(rule, each.line.text, each.places),
      value: each.value,
      place: placeNamed(stages, each),
    })),
    conclusion: filled(rule, variant.conclusion, places, texts),
    formula: variant.formula && `${left} = ${filled(rule, variant.formula, places, texts)} = ${tex(value)}`,
    recipe: "",
    between: variant.lines[0].value || variant.lines[0].isExponential ? ", " : " × ",
  };
}

// A template with the numbers of a rule's slots, and with `texts`.
function filled(rule, template, places, texts = {}) {
  const fill = (name, format) => {
    if (Object.hasOwn(texts, name)) return texts[name];
    return rule.slots.has(name) ? formatted(numberAt(rule.slots.get(name), places), format) : undefined;
  };
  return pieces(template, fill).join("");
}

// The summands of a formula, the middle left out where they are many.
function termsOf(rule, { term }, places) {
  const isLong = rule.running > SHOWN_AT_MOST;
  const shown = isLong ? [0, 1, rule.running - 1] : Array.from({ length: rule.running }, (_, i) => i);
  const terms = shown.map(i => filled(rule, term, { ...places, [RUNNING]: i }));
  if (isLong) terms.splice(2, 0, "\\dots");
  return terms.join(" + ");
}

// The name of the place that a line stands for, as a piece of a story; nothing of a line that does not run.
function placeNamed(stages, { line, places }) {
  for (const { source, pattern } of line.cells) {
    const axis = stages.get(source).axes[pattern.axes.findIndex(letters => letters.join() === RUNNING)];
    if (!axis) continue;
    const place = places[RUNNING];
    return hasWords(axis) ? { text: axis.labels[place], style: "word" } : { text: placeNameAt(axis, place) };
  }
  return undefined;
}
