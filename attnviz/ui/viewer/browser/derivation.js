// Derivations: how one cell was computed, in its own numbers.
import { hasWords, unflattened } from "./axes.js";
import { tex } from "./numeral.js";
import { placesAt, RUNNING } from "./pattern.js";
import { linesAt, numberAt, variantAt } from "./rule.js";
import { pieces, written } from "./template.js";

const SHOWN_AT_MOST = 4; // summands in a formula; the lines always have them all

// A number that was given, or set by hand: `recipe` says where it is from.
export function given(recipe) {
  return { lines: [], conclusion: "", formula: "", recipe, between: "" };
}

// By a stage's rule; null if what decides how it was computed was not sent.
export function derivation(stages, rule, flat, left, value) {
  const places = placesAt(rule.result, flat);
  const variant = variantAt(rule, places);
  if (!variant) return null;
  const lines = linesAt(variant, places);
  const fill = (template, at, more = {}) => pieces(template, (name, format) => {
    if (Object.hasOwn(more, name)) return more[name];
    return rule.slots.has(name) ? written(numberAt(rule.slots.get(name), at), format) : undefined;
  }).join("");
  const counts = { n: String(lines.length) };
  return {
    lines: lines.map(({ line, places: at, flats, value: result }) => ({
      cells: line.cells.map(({ source }, place) => ({ name: source, index: unflattened(stages.get(source).shape, flats[place]) })),
      text: fill(line.text, at),
      value: result,
      place: placeOf(stages, line, at),
    })),
    conclusion: fill(variant.conclusion, places, counts),
    formula: variant.formula ? `${left} = ${fill(variant.formula, places, { ...counts, terms: termsOf(variant) })} = ${tex(value)}` : "",
    recipe: "",
    between: variant.lines[0].value ? ", " : " × ",
  };

  function termsOf({ term }) {
    const terms = Array.from({ length: rule.running }, (_, i) => fill(term, { ...places, [RUNNING]: i }));
    return (terms.length > SHOWN_AT_MOST ? [...terms.slice(0, 2), "\\dots", terms.at(-1)] : terms).join(" + ");
  }
}

// What a line is called: the place it stands for among those that run, or the stage that it reads.
function placeOf(stages, { cells, runs }, places) {
  for (const { source, pattern } of runs ? cells : []) {
    const axis = stages.get(source).axes[pattern.axes.findIndex((letters) => letters.join() === RUNNING)];
    if (!axis) continue;
    const label = axis.labels[places[RUNNING]];
    return hasWords(axis) ? { text: label, isWord: true } : { text: `place ${label}`, isWord: false };
  }
  const { title } = stages.get(cells[0].source);
  return { text: `the ${title[0].toLowerCase()}${title.slice(1)}`, isWord: false };
}
