// A pass: the document that the server sent, with every stage's numbers, and where each of them lies.
import { CELL } from "../../generated/where.js";
import {
  coordinatesAt,
  flattened,
  hasWords,
  isHeaded,
  lengthsOf,
  placeAt,
  placeNameAt,
  sharedBy,
  unflattened,
} from "./axes.js";
import { noteOn } from "./changes.js";
import { ofHead } from "./latex.js";
import { formatted, pieces, tex } from "./numeral.js";
import { linesAt, numberAt, numbersOf, placesAt, readRule, RUNNING, runOf, strengthsOf, variantAt } from "./rule.js";
import { handOf, renderStory } from "./story.js";

// Converts between selections, addresses and indices. An index has one position for each axis of its stage.
export function placing(stages) {
  const lengths = lengthsOf(stages.values());
  const axesOf = name => stages.get(name).axes;
  return {
    indexAt: (name, selection) => axesOf(name).map(axis => placeAt(axis, selection)),
    // The selection moved to a cell. Coordinates that its stage lacks stay; of heads that share a position, so does the selected one.
    selectionAt: (name, index, selection) => {
      const moved = index.map((position, i) => {
        const axis = axesOf(name)[i];
        return sharedBy(axis) > 1 && placeAt(axis, selection) === position ? {} : coordinatesAt(axis, position);
      });
      return Object.assign({}, selection, ...moved);
    },
    // Each coordinate clamped to the longest axis that it lies on.
    /** @type {(selection: Selected) => Selected} */
    within: selection => {
      const inside = ([name, position]) => [name, Math.min(position, (lengths[name] ?? Infinity) - 1)];
      return { ...selection, ...Object.fromEntries(Object.entries(selection).map(inside)) };
    },
    // The axis of that name, or on which that coordinate lies alone: of the stage, or of the first that has one. Elsewhere
    // one of that name goes before: heads that share a group are each a head.
    axisOf: (wanted, name) => {
      const isNamed = axis => axis.name === wanted && axis.coordinates.length === 1,
        isAlong = axis => axis.coordinates.length === 1 && axis.coordinates[0][0] === wanted;
      const all = [...stages.values()].flatMap(({ axes }) => axes);
      return axesOf(name).find(axis => isNamed(axis) || isAlong(axis)) ?? all.find(isNamed) ?? all.find(isAlong);
    },
    address: (name, index) => `${name}[${index.join(",")}]`,
    // The cell of an address; null if the pass has no such cell.
    read: address => {
      const [, name, positions] = address.match(CELL) ?? [];
      const shape = stages.get(name)?.shape ?? [];
      const index = positions?.split(",").map(Number) ?? [];
      const isThere =
        shape.length > 0 && index.length === shape.length && index.every((position, i) => position < shape[i]);
      return isThere ? { name, index } : null;
    },
    // scores[0,1,2] is scores[head 1, cat, sat].
    nameOf: (name, index) => `${name}[${index.map((position, i) => axesOf(name)[i].labels[position]).join(", ")}]`,
    // The symbol of a stage in one head, as LaTeX.
    symbol: (name, head) => ofHead(stages.get(name).symbol, head),
  };
}

const SHOWN_AT_MOST = 4; // summands in a formula; the lines always have them all

// The derivation of a number that was given or set by hand: `recipe` says where it is from.
function withoutLines(recipe) {
  return { lines: [], conclusion: "", formula: "", recipe, between: "" };
}

// The derivation of a number by its stage's rule; null if the numbers that decide the variant were not sent. `left` is the formula's
// left side.
function derivation(stages, rule, flat, left, value) {
  const positions = placesAt(rule.result, flat);
  const variant = variantAt(rule, positions);
  if (!variant) return null;
  const lines = linesAt(variant, positions);
  const texts = { n: String(lines.length) };
  if (variant.term) texts.terms = termsOf(rule, variant, positions);
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
    conclusion: filled(rule, variant.conclusion, positions, texts),
    formula: variant.formula && `${left} = ${filled(rule, variant.formula, positions, texts)} = ${tex(value)}`,
    recipe: "",
    between: variant.lines[0].value || variant.lines[0].isExponential ? ", " : " × ",
  };
}

// Fills a template with the numbers of a rule's slots, and with `texts`.
function filled(rule, template, positions, texts = {}) {
  const fill = (name, format) => {
    if (Object.hasOwn(texts, name)) return texts[name];
    return rule.slots.has(name) ? formatted(numberAt(rule.slots.get(name), positions), format) : undefined;
  };
  return pieces(template, fill).join("");
}

// The summands of a formula; of a long sum the first two and the last.
function termsOf(rule, { term }, positions) {
  const isLong = rule.running > SHOWN_AT_MOST;
  const shown = isLong ? [0, 1, rule.running - 1] : Array.from({ length: rule.running }, (_, i) => i);
  const terms = shown.map(i => filled(rule, term, { ...positions, [RUNNING]: i }));
  if (isLong) terms.splice(2, 0, "\\dots");
  return terms.join(" + ");
}

// The name of the position that a line stands for, as a piece of a story; nothing of a line that does not run.
function placeNamed(stages, { line, places }) {
  for (const { source, pattern } of line.cells) {
    const axis = stages.get(source).axes[pattern.axes.findIndex(letters => letters.join() === RUNNING)];
    if (!axis) continue;
    const position = places[RUNNING];
    return hasWords(axis) ? { text: axis.labels[position], style: "word" } : { text: placeNameAt(axis, position) };
  }
  return undefined;
}

/** @param {import("../../generated/contract").Document} document @returns {Pass} */
export function readPass(document) {
  const stages = new Map(Object.entries(document.stages).map(([name, stage]) => [name, readStage(stage)]));
  const numbers = memo(name => numbersOf(stages.get(name).values, stages.get(name).length));
  const rules = memo(name => readRule(stages.get(name).rule, numbers));
  const steps = new Map(document.steps.map(step => [step.id, step]));
  const flatOf = (name, index) => flattened(stages.get(name).shape, index);
  const other = document.other ? readPass(document.other.document) : null;
  if (other) shareScales(stages, other.stages);
  const pass = {
    document,
    stages,
    other, // another pass, or null
    ...placing(stages),
    ...numbering(stages, numbers),
    // The address of the first number of the chunk in which a cell's number is sent.
    firstSentWith: (name, index) => {
      const { shape, length, values } = stages.get(name),
        size = length / values.length;
      const first = Math.floor(flattened(shape, index) / size) * size;
      return pass.address(name, unflattened(shape, first));
    },
    isChanged: [...stages.values()].some(({ overridden }) => overridden.size > 0),
    isOverridden: (name, index) => stages.get(name).overridden.has(flatOf(name, index)),
    isHidden: (name, index) => {
      const { hiddenBy } = stages.get(name);
      return hiddenBy !== "" && numbers(hiddenBy)[flatOf(hiddenBy, index)] === Number.NEGATIVE_INFINITY;
    },
    // Whether the layer's mask hides a cell's key from its query, for stages before the mask too.
    isUnseen: (name, index) => {
      const { hiddenBy } = stages.get(pass.stepOf(name).attention) ?? {},
        { axes } = stages.get(hiddenBy) ?? {};
      return (
        Boolean(axes) &&
        isAlong(stages.get(name).axes, axes) &&
        numbers(hiddenBy)[flatOf(hiddenBy, index)] === Number.NEGATIVE_INFINITY
      );
    },
    // Whether the selected query sees no key in the selected head of a stage's layer, so that its attention weights are all 0.
    isUnseeing: (name, selection) => {
      const { attention } = pass.stepOf(name),
        { hiddenBy: hider } = stages.get(attention);
      const isAll = (of, number) => pass.row(of, pass.indexAt(of, selection)).every(value => value === number);
      return isAll(hider, Number.NEGATIVE_INFINITY) && isAll(attention, 0);
    },
    // The step to show for a step's id; the first for an unknown one.
    nearestStep: id => (Object.hasOwn(document.nearest, id) ? document.nearest[id] : document.steps[0].id),
    // The step that shows a stage.
    stepOf: name => steps.get(pass.nearestStep(stages.get(name).step)),
    // How a cell is computed; null if the numbers that decide it were not sent.
    terms: (name, index) => {
      const { rule, recipe, overriddenBy } = stages.get(name);
      if (pass.isOverridden(name, index)) return withoutLines(overriddenBy);
      if (!rule) return withoutLines(recipe);
      return derivation(
        stages,
        rules(name),
        flatOf(name, index),
        leftSide(pass, name, index),
        pass.number(name, index),
      );
    },
    cellsOf: (name, index) => pass.terms(name, index)?.lines.flatMap(({ cells }) => cells) ?? [],
    // The numbers of one of the rule's own arrays ("#exp"), one for each line of a cell's computation.
    named: (name, array, index) => {
      const { result, slots } = rules(name);
      const slot = [...slots.values()].find(({ source, runs }) => source === array && runs);
      return runOf(slot, placesAt(result, flatOf(name, index)));
    },
    // The sentence about a cell, with a note where it depends on numbers set by hand.
    story: (name, index, selection) => {
      if (pass.number(name, index) === undefined) return [];
      const { stories } = stages.get(name),
        cell = { name, index };
      return [
        ...renderStory(pass, stories, cell, selection),
        ...noteOn(pass, handOf(pass, stories, cell, selection).others),
      ];
    },
    // A step's sentences about the selected cell of a stage.
    selectionStory: ({ of, stories }, selection, gapAt) =>
      renderStory(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection, gapAt),
    selectionHand: ({ of, stories }, selection) =>
      handOf(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection),
    parts: (name, index) => strengthsOf(stages, rules, name, flatOf(name, index)),
    // A copy of the pass with other numbers in some stages, {stage: chunks or flat numbers}, for display. Stories, masks and
    // computations stay those of the pass.
    with: values => {
      const has = name => Object.hasOwn(values, name);
      const others = memo(name => (has(name) ? otherNumbers(values[name], stages.get(name)) : numbers(name)));
      return { ...pass, ...numbering(stages, others) };
    },
  };
  return pass;
}

// Whether two stages have the same axes.
function isAlong(axes, others) {
  return axes.length === others.length && axes.every(({ name }, at) => name === others[at].name);
}

function readStage(stage) {
  const shape = stage.axes.map(({ labels }) => labels.length);
  return { ...stage, shape, length: shape.reduce((n, length) => n * length, 1), overridden: among(stage.overridden) };
}

// Two compared passes share each stage's scale.
function shareScales(stages, others) {
  for (const [name, stage] of stages) {
    const other = others.get(name);
    if (other) stage.limit = other.limit = Math.max(stage.limit, other.limit);
  }
}

// The positions of some runs, each given by its first and how many they are.
function among(runs) {
  return { size: runs.length, has: position => runs.some(([first, n]) => first <= position && position < first + n) };
}

// Lookups over flat numbers; `numbers(name)` has all of a stage's, NaN where they were not sent.
function numbering(stages, numbers) {
  return {
    numbers,
    number: (name, index) => {
      const value = numbers(name)[flattened(stages.get(name).shape, index)];
      return Number.isNaN(value) ? undefined : value;
    },
    // The numbers along the last axis.
    row: (name, index) => {
      const { shape } = stages.get(name);
      const start = flattened(shape, [...index.slice(0, -1), 0]);
      return numbers(name).subarray(start, start + shape.at(-1));
    },
  };
}

function otherNumbers(values, { length }) {
  return Array.isArray(values) ? numbersOf(values, length) : values;
}

// The left side of a cell's formula, its positions counted from 1.
/** @param {Pass} pass */
function leftSide(pass, name, index) {
  const inHead = isHeaded(pass.stages.get(name));
  return `(${pass.symbol(name, index[0])})_{${index
    .slice(inHead ? 1 : 0)
    .map(position => position + 1)
    .join(", ")}}`;
}

function memo(find) {
  const known = new Map();
  return key => {
    if (!known.has(key)) known.set(key, find(key));
    return known.get(key);
  };
}
