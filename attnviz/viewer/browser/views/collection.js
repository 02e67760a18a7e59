// What a head collects, as a picture's data: a strip of cells for each word's value, as high as its attention weight, whose columns
// add up. At the output the strips are the heads' parts, or for one head the rows of W_O times its numbers. Pure functions, and moments
// for dom/motion.js.
import { isOfHeads, shortNameAt } from "../model/axes.js";
import { LITTLE } from "../model/numeral.js";
import { background } from "../dom/colour.js";
import { added } from "./oneWordParts.js";

const LONG = 16, // words: a longer sentence stands in lines of its own, and leaves less space
  MOST_ROWS = { usual: 12, beside: 5 };
export const MOST_COLUMNS = 8; // of more dimensions those with the largest values
const LONGEST_NAME = 20; // letters, of which a layout thinks
const SAME = 1e-6;

const VALUES = ["values", "times weight", "stack", "stir"];
const PARTS = ["parts", "stack"];
const PRODUCTS = ["rows", "times numbers", "stack"]; // numbers may be below zero, so that no height can show them

const upTo = length => Array.from({ length }, (_, position) => position);
const baseOf = ({ cells }) => cells.name.replace(/_\d+$/, "");

/** The strips of the step's weighted sum, of the heads' parts of the output or of W_O's rows; null where the table says more: two passes, slopes, a
 * number that is covered, not sent yet or set so that the columns don't add up. `previews` are the addresses of weights muted here alone. */
export function collectionOf(content, previews, most = MOST_COLUMNS) {
  const { where, look, other, source, slots } = content,
    ofStep = slots.filter(({ step }) => step.id === where.step);
  if (other || source || look.kind !== "numbers" || look.isWorksheet) return null;
  return (
    valuesOf(content, ofStep, previews, most) ??
    partsOfHeads(content, ofStep, most) ??
    productsOfHead(content, ofStep, most)
  );
}

function valuesOf({ pass, look, attention, selection, slots, paint }, ofStep, previews, most) {
  const slot = ofStep.find(({ right, cells, isThere }) => isThere && right?.columns.name === "" && isOfKeys(cells)),
    beside = slots.filter(({ cells, band }) => cells.name === attention && !band.array);
  if (!slot || !beside.length) return null;
  const { cells, right } = slot,
    indexOf = key => pass.indexAt(attention, { ...selection, key }),
    keys = upTo(cells.size[1]),
    dims = upTo(cells.size[0]);
  if (!look.shown(attention, indexOf(0)) || !look.shown(cells.name, cells.index(0, 0))) return null;
  const valueAt = (dim, key) => pass.number(cells.name, cells.index(dim, key)),
    weights = keys.map(key => pass.number(attention, indexOf(key))),
    sums = dims.map(dim => pass.number(right.name, right.index(dim, 0)));
  const isSum = dim => Math.abs(added(keys.map(key => weights[key] * valueAt(dim, key))) - sums[dim]) <= SAME;
  if (!weights.every(weight => weight >= 0) || !dims.every(isSum)) return null; // NaN too
  const rows = keys.map(key => {
    const index = indexOf(key),
      isSet = weights[key] === 0 && pass.isOverridden(attention, index),
      isPreview = previews.has(pass.address(attention, index));
    return {
      name: cells.columns.labels[key],
      key,
      cell: { name: attention, index },
      weight: isSet ? (paint.before(attention, index) ?? 0) : weights[key],
      isSet,
      isMuted: isSet || isPreview,
    };
  });
  const mostRows = keys.length > LONG ? MOST_ROWS.beside : MOST_ROWS.usual,
    shown = new Set(largest(rows.filter(({ weight }) => weight >= LITTLE)).slice(0, mostRows));
  if (rows.length - shown.size === 1) for (const row of rows) shown.add(row); // one word needs no strip for others
  const selected = cells.positionOf(pass.indexAt(cells.name, selection))?.[0],
    sizeOf = dim => Math.max(...keys.map(key => Math.abs(valueAt(dim, key)))),
    columns = columnsOf(dims, sizeOf, selected, most);
  const strips = rows
    .filter(row => shown.has(row))
    .map(row => ({
      ...row,
      factor: row.weight,
      values: columns.map(dim => valueAt(dim, row.key)),
      products: columns.map(dim => row.weight * valueAt(dim, row.key)),
      cells: columns.map(dim => ({ name: cells.name, index: cells.index(dim, row.key) })),
    }));
  const others = rows.filter(row => !shown.has(row)),
    muted = rows.filter(({ isMuted, isSet }) => isMuted && !isSet); // whose parts the pass still has
  return {
    kind: "values",
    phases: VALUES,
    beside,
    part: slot,
    first: slot,
    rows: others.length ? [...strips, together(others, columns, valueAt)] : strips,
    columns: columns.map(dim => cells.rows.labels[dim]),
    more: dims.length - columns.length,
    sums: columns.map(dim => sums[dim] - added(muted.map(({ key, weight }) => weight * valueAt(dim, key)))),
    sumCells: columns.map(dim => ({ name: right.name, index: right.index(dim, 0) })),
    isSumShown: look.shown(right.name, right.index(0, 0)),
    isPreview: muted.length > 0,
    scale: cells.stage,
  };
}

const isOfKeys = ({ columns }) => columns.name === "key";

// The words without a strip as one: their weights added up, and the mean of their values, weighted.
function together(others, columns, valueAt) {
  const weight = added(others.map(each => each.weight)),
    sumIn = dim => added(others.map(each => each.weight * valueAt(dim, each.key)));
  return {
    name: `${others.length} others`,
    key: null,
    isOthers: true,
    weight,
    isMuted: false,
    factor: weight,
    values: columns.map(dim => (weight ? sumIn(dim) / weight : 0)),
    products: columns.map(sumIn),
    cells: null,
  };
}

const stripsOf = ({ cells, band }) =>
  upTo(cells.size[0]).map(row => ({ cells, row, name: isOfHeads(cells.rows) ? cells.rows.labels[row] : band.label }));

function partsOfHeads({ pass, where, look, slots }, ofStep, most) {
  const [parts, bias, output] = ["contributions", "b_o", "output"].map(name =>
    ofStep.find(each => baseOf(each) === name && !each.left),
  );
  if (!parts?.isThere || !output || !isOfHeads(parts.cells.rows)) return null;
  if (pass.wordsAt(where.step).query.length > LONG && parts.cells.size[0] > MOST_ROWS.beside) return null; // no space
  const beside = slots.filter(each => each !== parts && each !== bias && each !== output),
    made = outputOf(pass, look, output, {
      first: parts,
      strips: [parts, bias].filter(Boolean).flatMap(stripsOf),
      most,
    });
  return beside.length ? made && { ...made, kind: "parts", phases: PARTS, beside } : null;
}

// The numbers of the only head, each times its row of W_O.
function productsOfHead({ pass, look, slots }, ofStep, most) {
  const product = ofStep.find(each => each.left && baseOf(each) === "w_o"),
    output = ofStep.find(each => baseOf(each) === "output" && !each.left);
  if (!product?.isThere || !output || product.cells.size[0] > MOST_ROWS.usual) return null;
  const { left, cells } = product;
  if (!look.shown(left.name, left.index(0, 0))) return null;
  const strips = upTo(cells.size[0]).map(row => ({
    cells,
    row,
    name: shortNameAt(cells.rows, row),
    factor: pass.number(left.name, left.index(row, 0)),
  }));
  const beside = slots.filter(each => each.isThere && each !== product && each !== output),
    made = outputOf(pass, look, output, { first: product, strips, most });
  return made && { ...made, kind: "products", phases: PRODUCTS, beside };
}

// Strips, some times a `factor`, that add up to the output; null if they don't.
function outputOf(pass, look, output, { first, strips, most }) {
  const { name } = output.cells,
    dims = upTo(output.cells.size[1]),
    numberOf = (cells, row, dim) => pass.number(cells.name, cells.index(row, dim)),
    partOf = ({ cells, row, factor = 1 }, dim) => factor * numberOf(cells, row, dim),
    sumIn = dim => numberOf(output.cells, 0, dim);
  const isSum = dim => Math.abs(added(strips.map(strip => partOf(strip, dim))) - sumIn(dim)) <= SAME;
  if (!dims.every(isSum) || !look.shown(first.cells.name, first.cells.index(0, 0))) return null;
  const selected = output.cells.positionOf(pass.indexAt(name, output.selection))?.[1],
    sizeOf = dim => Math.max(...strips.map(strip => Math.abs(partOf(strip, dim)))),
    columns = columnsOf(dims, sizeOf, selected, most);
  return {
    part: output.isThere ? output : first,
    first,
    rows: strips.map(strip => ({
      name: strip.name,
      key: null,
      weight: 1 / strips.length,
      factor: strip.factor,
      isMuted: false,
      values: columns.map(dim => numberOf(strip.cells, strip.row, dim)),
      products: strip.factor === undefined ? null : columns.map(dim => partOf(strip, dim)),
      cells: columns.map(dim => ({ name: strip.cells.name, index: strip.cells.index(strip.row, dim) })),
    })),
    columns: columns.map(dim => output.cells.columns.labels[dim]),
    more: dims.length - columns.length,
    sums: columns.map(sumIn),
    sumCells: columns.map(dim => ({ name, index: output.cells.index(0, dim) })),
    isSumShown: output.isThere && look.shown(name, output.cells.index(0, 0)),
    isPreview: false,
    scale: { scale: "signed", limit: Math.max(first.cells.stage.limit, output.cells.stage.limit) },
  };
}

const UNWEIGHED = ["values", "rows"]; // the phases before anything is multiplied

/** The numbers in a strip's cells in the phase of that name. */
export const numbersIn = ({ values, products }, name) => (products && !UNWEIGHED.includes(name) ? products : values);

const largest = rows => [...rows].sort((one, other) => other.weight - one.weight);

/** Which dimensions have a column: all, or the largest of many, and the selected one. */
export function columnsOf(dims, sizeOf, selected, most) {
  if (dims.length <= most) return dims;
  const rank = dim => (dim === selected ? Number.POSITIVE_INFINITY : sizeOf(dim));
  return [...dims]
    .sort((one, other) => rank(other) - rank(one))
    .slice(0, most)
    .sort((one, other) => one - other);
}

/** Where a picture of this many pixels has its rows and its stack, in letters of that size; without a height it takes what it needs. Where
 * it is narrow, names stand above their strips and the stack below all. */
export function layoutOf({ rows, columns }, { width, height, letter, leastDigits }) {
  const isWide = width > 46 * letter,
    lengths = rows.map(({ name, isOthers }) => (isOthers ? 0.48 : 0.58) * Math.min(name.length, LONGEST_NAME)),
    ofWords = lengths.filter((_, nth) => !rows[nth].isOthers),
    left = (isWide ? Math.max(3, ...lengths) + 6.1 : 0.8) * letter,
    between = (Math.max(3, ...ofWords) + 1.4) * letter,
    cell = isWide
      ? Math.min(6 * letter, (width - left - between) / 2 / columns.length)
      : (width - left) / columns.length;
  const above = isWide ? 0 : 1.6 * letter, // a strip, where its name stands
    least = isWide ? 1.3 * letter : 0.4 * letter,
    gap = 0.3 * letter,
    top = 1.7 * letter,
    foot = 2.4 * letter;
  const below = isWide ? 0 : 1.8 * letter + foot, // and as much as the stack is high
    space = Math.max(rows.length * (above + least + gap) + 4 * letter, (height ?? Number.POSITIVE_INFINITY) - top);
  const ofRowsIn = tall => added(rows.map(({ weight }) => above + Math.max(least, weight * tall) + gap)),
    heightIn = tall => ofRowsIn(tall) + (isWide ? 0 : tall + below);
  let tall = Math.min((isWide ? 17 : 12) * letter, space - foot);
  while (heightIn(tall) > space && tall > 4 * letter) tall *= 0.95;
  const stackIn = isWide ? 0 : tall + below,
    even = Math.max(least, Math.min(2.6 * letter, (space - stackIn) / rows.length - above - gap)),
    ofRows = Math.max(ofRowsIn(tall), rows.length * (above + even + gap)),
    stackY = isWide ? top : top + ofRows + 1.8 * letter,
    stackX = isWide ? left + columns.length * cell + between : left;
  const bottom = Math.max(stackY + tall + foot, isWide ? top + ofRows : 0);
  const label = isWide ? left - 6 * letter : width - 6.5 * letter, // as wide as a name
    weightX = isWide ? left - letter : width,
    small = Math.max(0.84 * letter, leastDigits);
  return {
    letter,
    small,
    leastDigits,
    isWide,
    label,
    weightX,
    left,
    cell,
    above,
    least,
    gap,
    top,
    tall,
    even,
    stackX,
    stackY,
    height: bottom,
  };
}

/** A moment of a phase, as plain numbers: each row's middle, its space (`y`, `height`), where its strip is (`x`, `at`, `piece`), whether it
 * is there, and its cells' colours. A strip is as high as its weight's part of `tall`, or `even` where all are equal. */
export function momentOf({ kind, rows, phases, sums, scale }, phase, layout, colours) {
  const { tall, even, above, least, gap, top, left, stackX, stackY } = layout,
    name = phases[phase],
    isEven = name === "values" || kind !== "values",
    isStacked = name === "stack" || name === "stir",
    whole = Math.max(1, added(rows.map(({ weight }) => weight))),
    kept = added(rows.map(({ weight, isMuted }) => (isMuted ? 0 : weight)));
  const colourOf = value => background(value, scale, colours),
    stirred = name === "stir" ? sums.map(colourOf) : null;
  let y = top,
    piled = stackY;
  const strips = rows.map(row => {
    const { weight, isMuted } = row,
      own = (weight * tall) / whole,
      height = isEven ? even : own,
      space = isEven ? even : Math.max(least, own),
      there = isMuted ? 0 : 1,
      piece = stirred && kept ? (own * there * whole) / kept : own;
    const start = y + above + (space - height) / 2;
    const strip = {
      middle: above ? y + above / 2 : y + space / 2,
      y: start,
      height,
      x: (isStacked ? stackX : left) + (1 - there) * 3 * layout.letter,
      at: isStacked ? piled : start,
      piece: isStacked ? piece : height,
      there,
      // a value keeps its colour: its strip's height is the weight
      fills: (kind === "values" ? row.values : numbersIn(row, name)).map(
        (value, nth) => stirred?.[nth] ?? colourOf(value),
      ),
    };
    y += above + space + gap;
    piled += piece * there;
    return strip;
  });
  return { strips, stackY, tall, stacked: Number(isStacked), weighed: Number(!isEven) };
}
