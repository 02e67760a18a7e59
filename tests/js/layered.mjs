// Documents of passes of several layers, made by hand: a pass for each layer, whose input is the output of the one before.
import { arraysOf, documentOf } from "./passes.mjs";

const BEFORE = ["question", "tokens", "positions"],
  AFTER = ["whole-pass"];
const SHARED = ["embeddings", "positions", "x", "mask"];

// The name that a stage of layer n has in the whole pass; what enters it is the output of the layer before.
export function layered(name, n) {
  if (name === "x" && n > 1) return `output_${n - 1}`;
  return SHARED.includes(name) || name.startsWith("#") ? name : `${name}_${n}`;
}

export function layeredArraysOf(options = {}, nLayers = 2) {
  const layers = [];
  for (let n = 1; n <= nLayers; n += 1)
    layers.push(arraysOf({ ...options, seed: 6 + n, enters: layers.at(-1)?.output }));
  return layers;
}

export function layeredDocumentOf(options = {}, nLayers = 2) {
  const layers = layeredArraysOf(options, nLayers).map((arrays, i) => inLayer(documentOf(options, arrays), i + 1));
  const last = layers.at(-1);
  const steps = [
    ...layers[0].steps
      .filter(({ id }) => BEFORE.includes(id))
      .map(step => ({ ...step, attention: `attention_${nLayers}`, heads: `heads_${nLayers}` })),
    ...layers.flatMap(each => each.steps.filter(({ layer }) => layer > 0)),
    ...last.steps.filter(({ id }) => AFTER.includes(id)),
  ];
  const [start] = last.starts;
  return {
    ...last,
    starts: [start, ...layers.map((_, i) => ({ ...start, query: i, key: i + 1 }))],
    stages: Object.assign({}, ...layers.map(({ stages }) => stages)),
    steps,
    nearest: Object.assign({}, ...layers.map(({ nearest }) => nearest), layers[0].nearest),
    map: {
      columns: steps.map(({ id, title, layer, stages }) => ({ step: id, title, layer, stages })),
      arrows: layers.flatMap(({ map }) => map.arrows),
    },
  };
}

// The document of a pass with the names that its stages and steps have as layer n.
function inLayer({ stages, steps, map, nearest, ...rest }, n) {
  const named = name => layered(name, n);
  const slotNamed = slot => slot && { ...slot, stage: named(slot.stage) };
  const stepNamed = id => ([...BEFORE, ...AFTER].includes(id) ? id : `${id}-${n}`);
  const filled = text =>
    text.replace(/\{(\w+)(?=[:}])/g, (slot, name) => (Object.hasOwn(stages, name) ? `{${named(name)}` : slot));
  const told = stories => stories.map(([when, text]) => [when, filled(text)]);
  const symbol = (latex, name) =>
    SHARED.includes(name)
      ? latex
      : latex.replace(/^(\w)(?:\^(\w))?/, (_, letter, above = "") => `${letter}^{${above}(${n})}`);
  const runs = all =>
    all.map(([style, text]) =>
      style === "story" ? [style, { of: named(text.of), stories: told(text.stories) }] : [style, text],
    );
  const ruled = rule =>
    rule && {
      ...rule,
      slots: Object.fromEntries(
        Object.entries(rule.slots).map(([slot, [source, pattern]]) => [slot, [named(source), pattern]]),
      ),
    };
  const isOwn = name => n === 1 || !SHARED.includes(name);
  return {
    ...rest,
    stages: Object.fromEntries(
      Object.entries(stages)
        .filter(([name]) => isOwn(name))
        .map(([name, stage]) => [
          named(name),
          {
            ...stage,
            symbol: symbol(stage.symbol, name),
            step: stepNamed(stage.step),
            hiddenBy: stage.hiddenBy && named(stage.hiddenBy),
            rule: ruled(stage.rule),
            stories: told(stage.stories),
          },
        ]),
    ),
    steps: steps.map(step => ({
      ...step,
      id: stepNamed(step.id),
      layer: stepNamed(step.id) === step.id ? 0 : n,
      text: runs(step.text),
      stages: step.stages.filter(isOwn).map(named),
      subject: named(step.subject),
      pictures: step.pictures.map(picture => ({ ...picture, grid: picture.grid.map(row => row.map(slotNamed)) })),
      page: step.page.replace("1", n),
      bands: step.bands.map(band => ({
        ...band,
        cells: slotNamed(band.cells),
        left: slotNamed(band.left),
        right: slotNamed(band.right),
      })),
      bars: step.bars.map(([name, array]) => [named(name), array]),
      attention: named("attention"),
      heads: named("heads"),
    })),
    map: { arrows: map.arrows.filter(([, to]) => isOwn(to)).map(arrow => arrow.map(named)) },
    nearest: Object.fromEntries(
      Object.keys(nearest).flatMap(id => [
        [id, stepNamed(id)],
        [stepNamed(id), stepNamed(id)],
      ]),
    ),
  };
}
