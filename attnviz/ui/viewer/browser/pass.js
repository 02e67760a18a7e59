// Passes: what a document holds, asked by the name of a stage and an index, which has a place for each of its axes.
import { coordinatesAt, flattened, lengthsOf, placeAt } from "./axes.js";
import { numbersOf } from "./chunks.js";
import { derivation, given } from "./derivation.js";
import { strengthsOf } from "./parts.js";
import { readRule } from "./rule.js";
import { tell } from "./story.js";

const CELL = /^([a-z_]{1,32})\[(\d{1,4}(?:,\d{1,4}){0,3})\]$/; // as attnviz/core/terms.py has it

export function readPass(document) {
  const numbers = lazily((name) => numbersOf(document.stages[name].values, stages.get(name).length));
  const rules = lazily((name) => readRule(document.stages[name].rule, numbers));
  const stages = new Map(Object.entries(document.stages).map(([name, stage]) => [name, readStage(stage)]));
  const hider = [...stages.values()].map(({ hiddenBy }) => hiddenBy).find(Boolean);
  const lengths = lengthsOf(stages.values());
  const flatOf = (name, index) => flattened(stages.get(name).shape, index);
  const isOverridden = (name, index) => stages.get(name).overridden.has(flatOf(name, index));
  const isHidden = (name, index) => {
    const { hiddenBy } = stages.get(name);
    return hiddenBy !== "" && numbers(hiddenBy)[flatOf(hiddenBy, index)] === Number.NEGATIVE_INFINITY;
  };
  const indexAt = (name, selection) => stages.get(name).axes.map((axis) => placeAt(axis, selection));
  const symbol = (name, head) => stages.get(name).symbol.replaceAll("_i", head < 9 ? `_${head + 1}` : `_{${head + 1}}`);

  const terms = (name, index) => {
    const stage = stages.get(name);
    if (isOverridden(name, index)) return given("set by hand");
    if (!stage.rule) return given(stage.recipe);
    const inHead = stage.axes[0].name === "head";
    const places = index.slice(inHead ? 1 : 0).map((place) => place + 1).join(", ");
    const left = `(${symbol(name, index[0])})_{${places}}`;
    const flat = flatOf(name, index);
    return derivation(stages, rules(name), flat, left, numbers(name)[flat]);
  };

  const pass = {
    document,
    stages,
    ...numbered(numbers),
    isHidden,
    isOverridden,
    indexAt,
    symbol,
    terms,
    selectionAt: (name, index, selection) =>
      Object.assign({}, selection, ...index.map((place, i) => coordinatesAt(stages.get(name).axes[i], place))),
    within: (selection) =>
      Object.fromEntries(Object.entries(selection).map(([each, place]) => [each, Math.min(place, (lengths[each] ?? Infinity) - 1)])),
    nearestStep: (id) => {
      const there = new Set(document.steps.map((step) => step.id));
      return document.order.slice(Math.max(document.order.indexOf(id), 0)).find((each) => there.has(each));
    },
    // The axis of a coordinate alone or of that name: of the stage, or of the first that has it.
    axisOf: (name, stage) =>
      [stages.get(stage), ...stages.values()].flatMap(({ axes }) => axes).find(({ name: own, coordinates }) =>
        coordinates.length === 1 && (own === name || coordinates[0][0] === name)),
    isUnseeing: (selection) => rowOf(numbers, hider, indexAt(hider, selection)).every((value) => value === Number.NEGATIVE_INFINITY),
    address: (name, index) => `${name}[${index.join(",")}]`,
    read: (address) => {
      const [, name, places] = address.match(CELL) ?? [];
      if (!stages.has(name)) return null;
      const index = places.split(",").map(Number), { shape } = stages.get(name);
      return index.length === shape.length && index.every((place, i) => place < shape[i]) ? { name, index } : null;
    },
    nameOf: (name, index) => `${name}[${index.map((place, i) => stages.get(name).axes[i].labels[place]).join(", ")}]`,
    cellsOf: (name, index) => terms(name, index)?.lines.flatMap(({ cells }) => cells) ?? [],
    story: (name, index, selection) => tell(pass, stages.get(name).stories, { name, index }, selection),
    parts: (name, index) => {
      const walked = [...stages].map(([each, { length, overridden, rule }]) =>
        [each, { length, rule: rule && rules(each), isOverridden: (flat) => overridden.has(flat) }]);
      return strengthsOf(walked, name, flatOf(name, index));
    },
    // The pass with other numbers in some stages, to be looked at: {stage: chunks, or all its numbers in one row}. What is
    // said of a cell, what hides it and how it was computed stay those of the pass.
    with: (values) => {
      const others = lazily((name) => (Object.hasOwn(values, name) ? otherNumbers(values[name], stages.get(name)) : numbers(name)));
      return { ...pass, ...numbered(others) };
    },
  };
  return pass;

  function numbered(of) {
    return {
      // All numbers of a stage in one row; NaN where they were not sent.
      numbers: of,
      number: (name, index) => {
        const value = of(name)[flatOf(name, index)];
        return Number.isNaN(value) ? undefined : value;
      },
      row: (name, index) => rowOf(of, name, index),
    };
  }

  function rowOf(of, name, index) {
    const length = stages.get(name).shape.at(-1);
    const start = flatOf(name, [...index.slice(0, -1), 0]);
    return of(name).subarray(start, start + length);
  }
}

function readStage(stage) {
  const shape = stage.axes.map(({ labels }) => labels.length);
  return { ...stage, shape, length: shape.reduce((n, length) => n * length, 1), overridden: new Set(stage.overridden) };
}

function otherNumbers(values, { length }) {
  return Array.isArray(values) ? numbersOf(values, length) : values;
}

// A function that keeps its answers.
function lazily(find) {
  const kept = new Map();
  return (key) => {
    if (!kept.has(key)) kept.set(key, find(key));
    return kept.get(key);
  };
}
