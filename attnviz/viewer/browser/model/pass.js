// A pass: the document that the server sent, with every stage's numbers, and where each of them lies.
import { CELL } from "../../generated/where.js";
import { coordinatesAt, flattened, hasWords, isHeaded, lengthsOf, positionAt, positionNameAt } from "./axes.js";
import { sharedBy, unflattened } from "./axes.js";
import { noteOn } from "./changes.js";
import { ofHead } from "./latex.js";
import { formatted, pieces, tex } from "./numeral.js";
import { linesAt, numberAt, numbersOf, positionsAt, readRule, RUNNING, runOf, strengthsOf, variantAt } from "./rule.js";
import { handOf, renderStory } from "./story.js";
import { layerAt, readingOfTexts, wordsAt } from "./words.js";

/** Converts between selections, addresses and indices. An index has one position for each axis. @param {Stages} stages @returns {Placing} */
export function placing(stages) {
  const lengths = lengthsOf(stages.values());
  const axesOf = (/** @type {string} */ name) => stages.get(name).axes;
  return {
    indexAt: (name, selection) => axesOf(name).map(axis => positionAt(axis, selection)),
    // The selection moved to a cell. Coordinates that its stage lacks stay; of heads that share a position, so does the selected one.
    selectionAt: (name, index, selection) => {
      const moved = index.map((position, i) => {
        const axis = axesOf(name)[i];
        return sharedBy(axis) > 1 && positionAt(axis, selection) === position ? {} : coordinatesAt(axis, position);
      });
      return Object.assign({}, selection, ...moved);
    },
    // Each coordinate clamped to the longest axis that it lies on.
    within: selection => {
      const clamped = (/** @type {[string, number]} */ [name, position]) => [
        name,
        Math.min(position, (lengths[name] ?? Infinity) - 1),
      ];
      return { ...selection, ...Object.fromEntries(Object.entries(selection).map(clamped)) };
    },
    // The axis of that name, or on which that coordinate lies alone; the name takes precedence: heads that share a group are each a head.
    axisOf: (wanted, name) => {
      const isNamed = (/** @type {Axis} */ { name, coordinates }) => name === wanted && coordinates.length === 1,
        isAlong = (/** @type {Axis} */ { coordinates }) => coordinates.length === 1 && coordinates[0][0] === wanted,
        all = [...stages.values()].flatMap(({ axes }) => axes);
      return axesOf(name).find(axis => isNamed(axis) || isAlong(axis)) ?? all.find(isNamed) ?? all.find(isAlong);
    },
    address: (name, index) => `${name}[${index.join(",")}]`,
    // The cell of an address; null if the pass has no such cell.
    read: address => {
      const [, name, positions] = address.match(CELL) ?? [],
        shape = stages.get(name)?.shape ?? [],
        index = positions?.split(",").map(Number) ?? [],
        isThere =
          index.length > 0 && index.length === shape.length && index.every((position, i) => position < shape[i]);
      return isThere ? { name, index } : null;
    },
    // scores[0,1,2] is scores[head 1, cat, sat].
    nameOf: (name, index) => `${name}[${index.map((position, i) => axesOf(name)[i].labels[position]).join(", ")}]`,
    symbol: (name, head) => ofHead(stages.get(name).symbol, head),
  };
}

const MAX_SUMMANDS = 4; // in a formula; the lines always have them all

/** The derivation of a number by its stage's rule; null if the numbers that decide the variant were not sent. @param {Pass} pass
 * @param {ReadRule} rule @param {string} name @param {number[]} index @returns {Terms | null} */
function derivation(pass, rule, name, index) {
  const { stages } = pass,
    stage = stages.get(name),
    positions = positionsAt(rule.result, flattened(stage.shape, index)),
    variant = variantAt(rule, positions);
  if (!variant) return null;
  const lines = linesAt(variant, positions),
    texts = { n: String(lines.length), ...(variant.term ? { terms: termsOf(rule, variant, positions) } : {}) },
    inMatrix = index.slice(isHeaded(stage) ? 1 : 0).map(position => position + 1),
    left = `(${pass.symbol(name, index[0])})_{${inMatrix.join(", ")}}`,
    formula = variant.formula && filled(rule, variant.formula, positions, texts);
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
    formula: formula && `${left} = ${formula} = ${tex(/** @type {number} */ (pass.number(name, index)))}`,
    recipe: "",
    between: variant.lines[0].value || variant.lines[0].isExponential ? ", " : " × ",
  };
}

/** Fills a template with the numbers of a rule's slots, and with `texts`. @param {ReadRule} rule @param {string} template
 * @param {Record<string, number>} positions @param {Record<string, string>} [texts] */
function filled(rule, template, positions, texts = {}) {
  const fill = (/** @type {string} */ name, /** @type {string} */ format) => {
    const slot = rule.slots.get(name);
    if (Object.hasOwn(texts, name)) return texts[name];
    return slot && formatted(numberAt(slot, positions), format);
  };
  return pieces(template, fill).join("");
}

/** The summands of a formula; of a long sum the first two and the last. @param {ReadRule} rule @param {{ term: string }} props
 * @param {Record<string, number>} positions */
function termsOf(rule, { term }, positions) {
  const isLong = rule.running > MAX_SUMMANDS,
    shown = isLong ? [0, 1, rule.running - 1] : [...Array(rule.running).keys()],
    terms = shown.map(i => filled(rule, term, { ...positions, [RUNNING]: i }));
  if (isLong) terms.splice(2, 0, "\\dots");
  return terms.join(" + ");
}

/** The name of the position that a line stands for, as a piece of a story; undefined for a line that does not run. @param {Stages} stages
 * @param {{ line: ReadLine, places: Record<string, number> }} props @returns {Piece | undefined} */
function placeNamed(stages, { line, places }) {
  for (const { source, pattern } of line.cells) {
    const axis = stages.get(source).axes[pattern.axes.findIndex(letters => letters.join() === RUNNING)];
    if (!axis) continue;
    const position = places[RUNNING];
    return hasWords(axis) ? { text: axis.labels[position], style: "word" } : { text: positionNameAt(axis, position) };
  }
  return undefined;
}

/** @param {import("../../generated/contract").Document} document @returns {Pass} */
export function readPass(document) {
  const entries = Object.entries(document.stages).map(([name, stage]) => [name, readStage(stage)]),
    stages = /** @type {Stages} */ (/** @type {unknown} */ (new Map(/** @type {[string, Stage][]} */ (entries))));
  const numbers = memo(name => numbersOf(stages.get(name).values, stages.get(name).length));
  const rules = memo(name => readRule(/** @type {Rule} */ (stages.get(name).rule), numbers));
  const steps = Object.fromEntries(document.steps.map(step => [step.id, step]));
  const flatOf = (/** @type {string} */ name, /** @type {number[]} */ index) =>
    flattened(stages.get(name).shape, index);
  const base = { ...placing(stages), ...numbering(stages, numbers) },
    texts = readingOfTexts(document, stages, base) ?? {
      carried: cell => cell,
      canSelect: () => true,
      indexOfSame: (_name, index) => index,
    };
  const other = document.other ? readPass(document.other.document) : null;
  if (other) shareScales(stages, other.stages);
  /** @type {Pass} */
  const pass = {
    document,
    stages,
    other, // another pass, or null
    ...base,
    ...texts,
    wordsAt: id => wordsAt(document, pass.nearestStep(id)),
    layerAt: id => layerAt(document, pass.nearestStep(id)),
    // The address of the first number of the chunk in which a cell's number is sent.
    firstSentWith: (name, index) => {
      const { shape, length, values } = stages.get(name),
        size = length / values.length,
        first = Math.floor(flatOf(name, index) / size) * size;
      return pass.address(name, unflattened(shape, first));
    },
    isChanged: [...stages.values()].some(({ overridden }) => overridden.size > 0),
    isOverridden: (name, index) => stages.get(name).overridden.has(flatOf(name, index)),
    isHidden: (name, index) => {
      const { hiddenBy } = stages.get(name);
      return hiddenBy !== "" && numbers(hiddenBy)[flatOf(hiddenBy, index)] === -Infinity;
    },
    // Whether the layer's mask hides a cell's key from its query, for stages before the mask too.
    isUnseen: (name, index) => {
      const hiddenBy = stages.get(pass.stepOf(name).attention)?.hiddenBy ?? "",
        axesOf = (/** @type {string} */ stage) => String(stages.get(stage)?.axes.map(axis => axis.name));
      return axesOf(hiddenBy) === axesOf(name) && numbers(hiddenBy)[flatOf(hiddenBy, index)] === -Infinity;
    },
    // Whether the selected query sees no key in the selected head of a stage's layer, so that its attention weights are all 0.
    isUnseeing: (name, selection) => {
      const { attention } = pass.stepOf(name),
        isAll = (/** @type {string} */ stage, /** @type {number} */ number) =>
          pass.row(stage, pass.indexAt(stage, selection)).every(value => value === number);
      return isAll(stages.get(attention).hiddenBy, -Infinity) && isAll(attention, 0);
    },
    // The step to show for a step's id; the first for an unknown one.
    nearestStep: id => (Object.hasOwn(document.nearest, id) ? document.nearest[id] : document.steps[0].id),
    stepOf: name => steps[pass.nearestStep(stages.get(name).step)],
    // How a cell is computed; null if the numbers that decide it were not sent.
    terms: (name, index) => {
      const { rule, recipe, overriddenBy } = stages.get(name);
      if (rule && !pass.isOverridden(name, index)) return derivation(pass, rules(name), name, index);
      // a number that was given or set by hand
      return {
        lines: [],
        conclusion: "",
        formula: "",
        recipe: pass.isOverridden(name, index) ? overriddenBy : recipe,
        between: "",
      };
    },
    cellsOf: (name, index) => pass.terms(name, index)?.lines.flatMap(({ cells }) => cells) ?? [],
    // The numbers of one of the rule's own arrays ("#exp"), one for each line of a cell's computation.
    named: (name, array, index) => {
      const { result, slots } = rules(name);
      const slot = /** @type {RuleSlot} */ ([...slots.values()].find(({ source, runs }) => source === array && runs));
      return runOf(slot, positionsAt(result, flatOf(name, index)));
    },
    // The sentence about a cell, with a note where it depends on numbers set by hand.
    story: (name, index, selection) => {
      if (pass.number(name, index) === undefined) return [];
      const story = /** @type {const} */ ([pass, stages.get(name).stories, { name, index }, selection]);
      return [...renderStory(...story), ...noteOn(pass, handOf(...story).others)];
    },
    // A step's sentences about the selected cell of a stage.
    selectionStory: ({ of, stories }, selection, gapAt = () => null) =>
      renderStory(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection, gapAt),
    selectionHand: ({ of, stories }, selection) =>
      handOf(pass, stories, { name: of, index: pass.indexAt(of, selection) }, selection),
    parts: (name, index) => strengthsOf(stages, rules, name, flatOf(name, index)),
    // A copy of the pass with other numbers in some stages, for display. Stories, masks and computations stay those of the pass.
    with: values => {
      /** @type {(name: string) => Float64Array} */
      const replaced = memo(name => {
        const given = /** @type {any} */ (Object.hasOwn(values, name) ? values[name] : numbers(name));
        return Array.isArray(given) ? numbersOf(given, stages.get(name).length) : given;
      });
      return { ...pass, ...numbering(stages, replaced) };
    },
  };
  return pass;
}

/** @param {ContractStage} stage @returns {Stage} */
function readStage(stage) {
  const shape = stage.axes.map(({ labels }) => labels.length),
    runs = stage.overridden, // of positions: the first and how many they are
    isIn = (/** @type {number} */ position) => runs.some(([first, n]) => first <= position && position < first + n);
  return {
    ...stage,
    shape,
    length: shape.reduce((n, length) => n * length, 1),
    overridden: { size: runs.length, has: isIn },
  };
}

/** Two compared passes share each stage's scale. @param {Stages} stages @param {Stages} others */
function shareScales(stages, others) {
  for (const [name, stage] of stages) {
    const other = others.get(name);
    if (other) stage.limit = other.limit = Math.max(stage.limit, other.limit);
  }
}

/** Lookups over flat numbers; `numbers(name)` has all of a stage's, NaN where they were not sent. @param {Stages} stages
 * @param {(name: string) => Float64Array} numbers @returns {Pick<Pass, "numbers" | "number" | "row">} */
const numbering = (stages, numbers) => ({
  numbers,
  number: (name, index) => {
    const value = numbers(name)[flattened(stages.get(name).shape, index)];
    return Number.isNaN(value) ? undefined : value;
  },
  row: (name, index) => {
    const { shape } = stages.get(name);
    const start = flattened(shape, [...index.slice(0, -1), 0]);
    return numbers(name).subarray(start, start + shape[shape.length - 1]);
  },
});

/** @template T @param {(name: string) => T} find @returns {(name: string) => T} */
function memo(find) {
  const known = new Map();
  return key => {
    if (!known.has(key)) known.set(key, find(key));
    return known.get(key);
  };
}
