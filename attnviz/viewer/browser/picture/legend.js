// Legends: which colours stand for which numbers, once for a picture.
import { gradient } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { scaleOf } from "./face.js";
import { typeset } from "../elements/formula.js";
import { digits, short } from "../pass/numeral.js";

// Its entries: scales, each with the symbols of its stages where there are several, and swatches.
export function legendOf(slots, paint, paintOf) {
  const scales = new Map();
  for (const slot of slots) {
    const { scale, limit } = scaleOf(slot, paintOf(slot));
    if (scale === "flag") continue;
    const ends =
      scale === "share" ? ["0", limit === 1 ? "1" : digits(limit)] : [-limit, limit].map(limit < 0.01 ? digits : short);
    const kind = paint.look.titleOf(slot.name) ? paint.look.kind : "",
      key = `${kind} ${scale} ${ends}`;
    const symbols = scales.get(key)?.symbols ?? new Set();
    scales.set(key, { kind, scale, ends, symbols: symbols.add(slot.symbol) });
  }
  return {
    scales: [...scales.values()].map(each => ({ ...each, symbols: scales.size > 1 ? [...each.symbols] : [] })),
    swatches: [
      ...(slots.some(slot => hasHidden(slot.name, paintOf(slot))) ? [["hidden", "hidden"]] : []),
      ...[...overriddenBy(slots, paintOf)].map(by => ["marked", by]),
      ...(slots.some(slot => hasApart(slot, paint)) ? [["apart", "differs"]] : []),
    ],
  };
}

export function drawLegend({ scales, swatches }, colours) {
  return [...scales.map(each => drawScale(each, colours)), ...swatches.map(each => drawSwatch(...each))];
}

function drawScale({ kind, scale, ends, symbols }, colours) {
  const line = element("span", "scale");
  const bar = element("span", `bar ${scale}`),
    ramp = element("span", "ramp");
  ramp.style.background = gradient(scale, colours);
  bar.append(element("span", "", ends[0]), ramp, element("span", "", ends[1])); // which no line breaks
  line.append(kind, ...(symbols.length ? [drawSymbols(symbols)] : []), bar);
  return line;
}

function drawSymbols(symbols) {
  const line = element("span", "symbols");
  symbols.forEach((symbol, place) => {
    line.append(...(place ? [", "] : []), typeset(symbol));
  });
  return line;
}

function drawSwatch(kind, text) {
  const line = element("span", "scale");
  line.append(element("span", `swatch ${kind}`), element("span", "", text));
  return line;
}

function hasApart({ name, side, size: [rows, columns], index }, { isApart }) {
  if (!isApart || side !== "B") return false;
  return Array.from({ length: rows * columns }, (_, place) => index(Math.floor(place / columns), place % columns)).some(
    cell => isApart(name, cell),
  );
}

// Where the overridden numbers of slots are from.
function overriddenBy(slots, paintOf) {
  const marked = slots.filter(slot => hasMarked(slot, paintOf(slot)));
  return new Set(marked.map(slot => paintOf(slot).pass.stages.get(slot.name).overriddenBy));
}

function hasMarked({ name, size: [rows, columns], index }, { pass }) {
  if (!pass.stages.get(name).overridden.size) return false;
  return Array.from({ length: rows * columns }, (_, place) => index(Math.floor(place / columns), place % columns)).some(
    cell => pass.isOverridden(name, cell),
  );
}

function hasHidden(name, { pass }) {
  const { scale, hiddenBy } = pass.stages.get(name);
  if (scale === "flag") return pass.numbers(name).includes(0);
  return hiddenBy !== "" && pass.numbers(hiddenBy).includes(-Infinity);
}
