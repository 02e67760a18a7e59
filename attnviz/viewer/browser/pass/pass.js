// Passes: what a document holds, asked by the name of a stage and an index in it.
import { flattened, isHeaded, unflattened } from "./axes.js";
import { numbersOf } from "./chunks.js";
import { derivation, given } from "./derivation.js";
import { noteOn } from "./byHand.js";
import { strengthsOf } from "./parts.js";
import { placesAt } from "./pattern.js";
import { placing } from "./places.js";
import { readRule, runOf } from "./rule.js";
import { handOf, tell } from "./story.js";

/** @param {import("../../generated/contract").Document} document @returns {Pass} */
export function readPass(document) {
  const stages = new Map(Object.entries(document.stages).map(([name, stage]) => [name, readStage(stage)]));
  const numbers = lazily(name => numbersOf(stages.get(name).values, stages.get(name).length));
  const rules = lazily(name => readRule(stages.get(name).rule, numbers));
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
    // The address of the first of the numbers that are sent together with that of a cell.
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
    // Whether the mask of a layer hides the key of a cell from its query, be it before the mask or after it.
    isUnseen: (name, index) => {
      const { hiddenBy } = stages.get(pass.stepOf(name).attention) ?? {},
        { axes } = stages.get(hiddenBy) ?? {};
      return (
        Boolean(axes) &&
        isAlong(stages.get(name).axes, axes) &&
        numbers(hiddenBy)[flatOf(hiddenBy, index)] === Number.NEGATIVE_INFINITY
      );
    },
    // Whether the selected query sees no key in the selected head, in the layer of a stage, so that all its shares are 0.
    isUnseeing: (name, selection) => {
      const { attention } = pass.stepOf(name),
        { hiddenBy: hider } = stages.get(attention);
      const isAll = (of, number) => pass.row(of, pass.indexAt(of, selection)).every(value => value === number);
      return isAll(hider, Number.NEGATIVE_INFINITY) && isAll(attention, 0);
    },
    // The id of the step that the pass shows for that id; the first for what is none.
    nearestStep: id => (Object.hasOwn(document.nearest, id) ? document.nearest[id] : document.steps[0].id),
    // The step that shows a stage.
    stepOf: name => steps.get(pass.nearestStep(stages.get(name).step)),
    // The computation of a cell; null if what decides it was not sent.
    terms: (name, index) => {
      const { rule, recipe, overriddenBy } = stages.get(name);
      if (pass.isOverridden(name, index)) return given(overriddenBy);
      if (!rule) return given(recipe);
      return derivation(
        stages,
        rules(name),
        flatOf(name, index),
        leftSide(pass, name, index),
        pass.number(name, index),
      );
    },
    cellsOf: (name, index) => pass.terms(name, index)?.lines.flatMap(({ cells }) => cells) ?? [],
    // The numbers of an array of a stage's rule ("#exp") that the lines of a cell name, one for each line.
    named: (name, array, index) => {
      const { result, slots } = rules(name);
      const slot = [...slots.values()].find(({ source, runs }) => source === array && runs);
      return runOf(slot, placesAt(result, flatOf(name, index)));
    },
    // The sentence on a cell, and a note where it leans on numbers that are set by hand.
    story: (name, index, selection) => {
      if (pass.number(name, index) === undefined) return [];
      const { stories } = stages.get(name),
        cell = { name, index };
      return [...tell(pass, stories, cell, selection), ...noteOn(pass, handOf(pass, stories, cell, selection).others)];
    },
    // The sentences of a step on the selection, by stories of the selected cell of a stage.
    selectionStory: ({ of, stories }, selection, gapAt) =>
      tell(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection, gapAt),
    selectionHand: ({ of, stories }, selection) =>
      handOf(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection),
    parts: (name, index) => strengthsOf(stages, rules, name, flatOf(name, index)),
    // The pass with other numbers in some stages, to be looked at: {stage: chunks, or all its numbers in one row}. What is
    // said of a cell, what hides it and how it was computed stay those of the pass.
    with: values => {
      const has = name => Object.hasOwn(values, name);
      const others = lazily(name => (has(name) ? otherNumbers(values[name], stages.get(name)) : numbers(name)));
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

// Two passes beside each other have one scale.
function shareScales(stages, others) {
  for (const [name, stage] of stages) {
    const other = others.get(name);
    if (other) stage.limit = other.limit = Math.max(stage.limit, other.limit);
  }
}

// The places of some runs, each given by its first and how many they are.
function among(runs) {
  return { size: runs.length, has: place => runs.some(([first, n]) => first <= place && place < first + n) };
}

// The numbers of stages; `numbers(name)` has all of one in a row, NaN where they were not sent.
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

// The left side of a cell's formula, its places counted from 1.
/** @param {Pass} pass */
function leftSide(pass, name, index) {
  const inHead = isHeaded(pass.stages.get(name));
  return `(${pass.symbol(name, index[0])})_{${index
    .slice(inHead ? 1 : 0)
    .map(place => place + 1)
    .join(", ")}}`;
}

// A function that keeps its answers.
function lazily(find) {
  const kept = new Map();
  return key => {
    if (!kept.has(key)) kept.set(key, find(key));
    return kept.get(key);
  };
}
