// Documents of passes, made by hand: loops compute the numbers, and nothing of the viewer is used.

const WORDS = ["the", "cat", "sat", "on", "the (2)", "mat"];
const COORDINATES = {
  ...{ head: "head", query: "query", token: "query", key: "key" },
  ...{ d_k: "feature", d_v: "feature", d_model: "dimension" },
};
const TITLES = { head: "heads", query: "queries", key: "keys", token: "tokens" };
const each = (n, of) => Array.from({ length: n }, (_, i) => of(i));
const sum = numbers => numbers.reduce((total, value) => total + value, 0);
const wordsOf = n => each(n, i => WORDS[i] ?? `word${i + 1}`);

// Numbers between -1 and 1 that look drawn.
function drawn(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 1073741824 - 1;
  };
}

// Nested lists in C order; `shape` is the lengths, `of` the number at an index.
export function filled(shape, of, index = []) {
  return shape.length === index.length
    ? of(...index)
    : each(shape[index.length], i => filled(shape, of, [...index, i]));
}

export function encoded(values, { perHead }) {
  const chunks = perHead ? values : [values];
  return chunks.map(chunk => Buffer.from(Float64Array.from(chunk.flat(Infinity)).buffer).toString("base64"));
}

// The arrays of a pass, nested. `sees(query, key)` says which keys are visible, `enters` what is projected.
export function arraysOf({ nWords = 6, dModel = 8, nHeads = 2, sees = () => true, seed = 7, enters } = {}) {
  const width = dModel / nHeads,
    next = drawn(seed);
  const tokens = [nWords, dModel],
    pairs = [nHeads, nWords, nWords],
    bands = [nHeads, nWords, width];
  const embeddings = filled(tokens, next),
    positions = filled(tokens, next);
  const x = enters ?? filled(tokens, (t, d) => embeddings[t][d] + positions[t][d]);
  const [w_q, w_k, w_v] = each(3, () => filled([nHeads, dModel, width], next));
  const b_q = filled([nHeads, width], next);
  const projected = (w, b) =>
    filled(bands, (h, t, f) => sum(each(dModel, d => x[t][d] * w[h][d][f])) + (b ? b[h][f] : 0));
  const q = projected(w_q, b_q),
    k = projected(w_k),
    v = projected(w_v);
  const scores = filled(pairs, (h, i, j) => sum(each(width, f => q[h][i][f] * k[h][j][f])));
  const scaled = filled(pairs, (h, i, j) => scores[h][i][j] / Math.sqrt(width));
  const mask = filled([nWords, nWords], (i, j) => (sees(i, j) ? 1 : 0));
  const masked = filled(pairs, (h, i, j) => (sees(i, j) ? scaled[h][i][j] : -Infinity));
  const max = filled([nHeads, nWords], (h, i) => Math.max(-Number.MAX_VALUE, ...masked[h][i]));
  const exp = filled(pairs, (h, i, j) => Math.exp(masked[h][i][j] - max[h][i]));
  const total = filled([nHeads, nWords], (h, i) => sum(exp[h][i]));
  const unseeing = filled([nHeads, nWords], (h, i) => (total[h][i] ? 0 : 1));
  const attention = filled(pairs, (h, i, j) => exp[h][i][j] / (total[h][i] || 1));
  const heads = filled(bands, (h, i, f) => sum(each(nWords, j => attention[h][i][j] * v[h][j][f])));
  const concat = filled(tokens, (i, c) => heads[Math.floor(c / width)][i][c % width]);
  const w_o = filled([dModel, dModel], next);
  const contributions = filled([nHeads, nWords, dModel], (h, i, c) =>
    sum(each(width, f => heads[h][i][f] * w_o[h * width + f][c])),
  );
  const output = filled(tokens, (i, c) => sum(each(dModel, d => concat[i][d] * w_o[d][c])));
  return {
    ...{ embeddings, positions, x, w_q, b_q, w_k, w_v, q, k, v, scores, scaled, mask, masked, max, exp, total },
    ...{ unseeing, attention, heads, concat, w_o, contributions, output },
  };
}

function axis(name, n, { nHeads }) {
  const isOfWords = ["query", "key", "token"].includes(name),
    labelOf = i => (name === "head" ? `head ${i + 1}` : String(i + 1)),
    isOfHeads = name === "heads * d_v";
  const coordinates = isOfHeads ? Object.entries({ head: nHeads, feature: n / nHeads }) : [[COORDINATES[name], n]];
  return {
    name,
    title: TITLES[name] ?? name.replace("*", "·"),
    labels: isOfWords ? wordsOf(n) : each(n, labelOf),
    coordinates,
  };
}

function rule(result, sizes, slots, variants, more = {}) {
  return { result, sizes, slots, variants, arrays: {}, case: null, ...more };
}

function variant(lines, formula = "", term = "", conclusion = "") {
  return { lines, formula, term, conclusion };
}

const UNROUNDED = "the sum of {n}, added up unrounded";

function products(result, a, b, sizes, c = null) {
  const lines = [{ cells: ["a", "b"], text: "{a} × {b}", value: "" }];
  if (c) lines.push({ cells: ["c"], text: "{c}", value: "" });
  const formula = c ? "{terms} + {c:bt}" : "{terms}";
  return rule(result, sizes, c ? { a, b, c } : { a, b }, [variant(lines, formula, "{a:bt} \\cdot {b:bt}", UNROUNDED)]);
}

function rulesOf(arrays, { nWords: n = 6, dModel: d = 8, nHeads: h = 2 }) {
  const f = d / h,
    pairs = { h, q: n, k: n },
    own = (name, perHead = true) => ({ values: encoded(arrays[name], { perHead }) });
  const projection = (name, rows, bias) =>
    products(`h ${rows} f`, ["x", `${rows} i`], [`w_${name}`, "h i f"], { h, [rows]: n, f, i: d }, bias);
  const one = (text, formula, cells = ["a"]) => variant([{ cells, text, value: "r" }], formula);
  const exponents = [{ cells: ["z"], text: "exp({z} − {max:b})", value: "e" }],
    summands = ["a", "b"].map(name => ({ cells: [name], text: `{${name}}`, value: "" }));
  const ofMask = { arrays: { "#case": own("mask", false) }, case: ["#case", "q k"] },
    ofSoftmax = {
      arrays: { "#exp": own("exp"), "#max": own("max"), "#sum": own("total"), "#unseeing": own("unseeing") },
      case: ["#unseeing", "h q"],
    };
  return {
    x: rule("t d", { t: n, d }, { a: ["embeddings", "t d"], b: ["positions", "t d"] }, [
      variant(summands, "{a:bt} + {b:bt}", "", UNROUNDED),
    ]),
    q: projection("q", "q", ["b_q", "h f"]),
    k: projection("k", "k"),
    v: projection("v", "k"),
    scores: products("h q k", ["q", "h q i"], ["k", "h k i"], { ...pairs, i: f }),
    scaled: rule(
      "h q k",
      pairs,
      { a: ["scores", "h q k"], by: ["#by", ""], r: ["scaled", "h q k"] },
      [one("{a} ÷ {by}", "\\frac{{a:t}}{{by:t}}")],
      { arrays: { "#by": { values: encoded([Math.sqrt(f)], { perHead: false }) } } },
    ),
    masked: rule(
      "h q k",
      pairs,
      { a: ["scaled", "h q k"], m: ["mask", "q k"], r: ["masked", "h q k"] },
      [
        one("hidden, so −∞", "\\text{hidden}", ["a", "m"]),
        one("visible, so {a} stays", "{a:t} \\text{ (visible)}", ["a", "m"]),
      ],
      ofMask,
    ),
    attention: rule(
      "h q k",
      { ...pairs, i: n },
      {
        ...{ z: ["masked", "h q i"], e: ["#exp", "h q i"], own: ["masked", "h q k"], own_e: ["#exp", "h q k"] },
        ...{ max: ["#max", "h q"], sum: ["#sum", "h q"] },
      },
      [
        variant(
          exponents,
          "\\frac{e^{{own:t} - {max:bt}}}{{terms}}",
          "{e:t}",
          "{own_e} ÷ {sum}, the sum of the terms above",
        ),
        variant(exponents, "0 \\quad\\text{ (no key is visible)}", "", "no key is visible, so the share is 0"),
      ],
      ofSoftmax,
    ),
    heads: products("h q f", ["attention", "h q i"], ["v", "h i f"], { h, q: n, f, i: n }),
    concat: rule("q (h f)", { h, q: n, f }, { a: ["heads", "h q f"] }, [
      variant([{ cells: ["a"], text: "the same number", value: "a" }]),
    ]),
    contributions: products("h q c", ["heads", "h q i"], ["w_o", "(h i) c"], { h, q: n, c: d, i: f }),
    output: products("q c", ["concat", "q i"], ["w_o", "i c"], { q: n, c: d, i: d }),
  };
}

// [symbol, title, role, scale, kind, step, axes]
const KINDS = {
  embeddings: ["E", "Embeddings", "", "signed", "input", "tokens", ["token", "d_model"]],
  positions: ["P", "Positions", "", "signed", "input", "positions", ["token", "d_model"]],
  x: ["X", "Input", "", "signed", "computed", "positions", ["token", "d_model"]],
  w_q: ["W^Q_i", "Query parameters", "q", "signed", "parameter", "qkv", ["head", "d_model", "d_k"]],
  b_q: ["b^Q_i", "Query bias", "q", "signed", "parameter", "qkv", ["head", "d_k"]],
  w_k: ["W^K_i", "Key parameters", "k", "signed", "parameter", "qkv", ["head", "d_model", "d_k"]],
  w_v: ["W^V_i", "Value parameters", "v", "signed", "parameter", "qkv", ["head", "d_model", "d_v"]],
  q: ["Q_i", "Queries", "q", "signed", "computed", "qkv", ["head", "query", "d_k"]],
  k: ["K_i", "Keys", "k", "signed", "computed", "qkv", ["head", "key", "d_k"]],
  v: ["V_i", "Values", "v", "signed", "computed", "qkv", ["head", "key", "d_v"]],
  scores: ["S_i", "Scores", "", "signed", "computed", "scores", ["head", "query", "key"]],
  scaled: ["Z_i", "Scaled scores", "", "signed", "computed", "scaling", ["head", "query", "key"]],
  mask: ["M", "Mask", "", "flag", "input", "mask", ["query", "key"]],
  masked: ["M_i", "Masked scores", "", "signed", "computed", "mask", ["head", "query", "key"]],
  attention: ["A_i", "Attention", "", "share", "computed", "softmax", ["head", "query", "key"]],
  heads: ["H_i", "Head outputs", "v", "signed", "computed", "weighted-sum", ["head", "query", "d_v"]],
  concat: ["H", "Concatenation", "v", "signed", "computed", "concatenation", ["query", "heads * d_v"]],
  w_o: ["W^O", "Output parameters", "output", "signed", "parameter", "output", ["heads * d_v", "d_model"]],
  contributions: ["C_i", "Contributions", "output", "signed", "computed", "output", ["head", "query", "d_model"]],
  output: ["O", "Output", "output", "signed", "computed", "output", ["query", "d_model"]],
};

const STORIES = {
  attention: [
    ["hidden", "{query} does not see {key}."],
    [
      "",
      "{query} gives {key} {value:percent}: its score {masked} is {masked:rank} of {masked:count}; {scores:part} of it comes from {scores:part.place}, {scores:part.sum}.",
    ],
  ],
  heads: [
    ["unseeing", "{query} sees no key in {head}."],
    ["", "{value} of {query} in {head}: {value:part} comes from {value:part.place}, {value:part.sum}."],
  ],
};

function stagesOf(arrays, options) {
  const rules = rulesOf(arrays, options);
  return Object.fromEntries(
    Object.entries(KINDS).map(([name, [symbol, title, role, scale, kind, step, axisNames]]) => {
      const shape = axisNames.map((_, depth) => lengthAt(arrays[name], depth));
      const sizes = arrays[name].flat(Infinity).filter(Number.isFinite).map(Math.abs);
      return [
        name,
        {
          symbol,
          title,
          meaning: `what ${title} hold`,
          role,
          scale,
          kind,
          step,
          axes: axisNames.map((each, i) => axis(each, shape[i], options)),
          limit: scale === "signed" ? Math.max(...sizes) : 1,
          values: encoded(arrays[name], { perHead: axisNames[0] === "head" }),
          overridden: [],
          hiddenBy: ["attention", "masked"].includes(name) ? "masked" : "",
          recipe: rules[name] ? "" : "drawn for the tests",
          rule: rules[name] ?? null,
          stories: STORIES[name] ?? [
            ["given", "{value} is given."],
            ["", `{value} is the number of ${title} at {row}, {column}.`],
          ],
        },
      ];
    }),
  );
}

function lengthAt(values, depth) {
  return depth ? lengthAt(values[0], depth - 1) : values.length;
}

function slot(stage, rows, columns, more = {}) {
  return { stage, rows, columns, fixed: {}, sign: "", after: "", result: false, sums: false, ...more };
}

const RESULT = { result: true },
  EQUALS = { sign: "=", ...RESULT };
const row = (...slots) => ({ grid: [slots], turns: true }),
  product = (...grid) => ({ grid, turns: false });
const PICTURES = {
  tokens: row(slot("embeddings", 0, 1, RESULT)),
  positions: row(slot("embeddings", 0, 1), slot("positions", 0, 1, { sign: "+" }), slot("x", 0, 1, EQUALS)),
  qkv: product(
    [null, slot("w_q", 1, 2), slot("w_k", 1, 2), slot("w_v", 1, 2)],
    [null, slot("b_q", null, 1, { sign: "+" }), null, null],
    [slot("x", 0, 1), slot("q", 1, 2, RESULT), slot("k", 1, 2, RESULT), slot("v", 1, 2, RESULT)],
  ),
  scores: product([null, slot("k", 2, 1)], [slot("q", 1, 2), slot("scores", 1, 2, RESULT)]),
  scaling: row(slot("scores", 1, 2, { after: "÷ √d_k" }), slot("scaled", 1, 2, EQUALS)),
  mask: row(slot("scaled", 1, 2), slot("mask", 0, 1, { sign: "where" }), slot("masked", 1, 2, EQUALS)),
  softmax: row(slot("masked", 1, 2, { sign: "softmax" }), slot("attention", 1, 2, { sums: true, ...EQUALS })),
  "weighted-sum": product(
    [null, slot("v", 1, 2)],
    [slot("attention", 1, 2, { sums: true }), slot("heads", 1, 2, RESULT)],
  ),
  concatenation: row(slot("concat", 0, 1, RESULT)),
  output: product([null, slot("w_o", 0, 1)], [slot("concat", 0, 1), slot("output", 0, 1, RESULT)]),
};

const band = (cells, parts = {}) => ({
  sentence: [["", "What is said."]],
  label: cells.stage,
  cells,
  array: "",
  left: null,
  right: null,
  factors: false,
  ...parts,
});
const BANDS = {
  qkv: [band(slot("k", 2, 1), { left: slot("q", 2, null) })],
  scores: [band(slot("scores", null, 2), { factors: true })],
  scaling: [band(slot("scaled", null, 2))],
  mask: [band(slot("masked", null, 2))],
  softmax: [
    band(slot("attention", null, 2, { sums: true }), { array: "#exp" }),
    band(slot("attention", null, 2, { sums: true })),
  ],
  "weighted-sum": [band(slot("v", 2, 1), { right: slot("heads", 2, null) })],
  concatenation: [band(slot("attention", 0, 2), { right: slot("heads", 0, 2) })],
  output: [
    band(slot("w_o", 0, 1), { left: slot("concat", 1, null) }),
    band(slot("output", null, 1), { factors: true }),
  ],
};
const WORDS_PAGE = ["qkv", "scores", "scaling", "mask", "softmax", "weighted-sum"];

// [id, title, heading]
const STEPS = [
  ["question", "Start", "What does cat take from the others?"],
  ["tokens", "Tokens", "Words become vectors"],
  ["positions", "Positions", "Positions become vectors too"],
  ["qkv", "Q, K, V", "What each token looks for, offers and passes on"],
  ["scores", "Scores", "How well does each key match each query?"],
  ["scaling", "Scaling", "Keep the scores small"],
  ["mask", "Mask", "Which keys may a query see?"],
  ["softmax", "Softmax", "Scores become attention weights"],
  ["weighted-sum", "Weighted sum", "Collect the values, with those weights"],
  ["concatenation", "Concatenation", "Put the heads side by side"],
  ["output", "Output", "The last matrix mixes the heads"],
  ["whole-pass", "Whole pass", "Everything at once"],
];
const WITH_ARCS = ["question", "softmax", "weighted-sum", "concatenation", "output", "whole-pass"];

const STORIES_OF_TEXT = ["{query} took most from {attention:best}.", "{query} saw no key."].map(text => [
  "",
  ` ${text}`,
]);
const TEXT = [
  ["", "Every "],
  ["q", "query"],
  ["", " meets every key in a "],
  ["strong", "dot product"],
  ["math", "Q_i{K_i}^{\\top}"],
  ["story", { of: "attention", stories: STORIES_OF_TEXT }],
];

// A whole document; `options` as for `arraysOf`, whose arrays it holds.
export function documentOf(options = {}, arrays = arraysOf(options)) {
  const sized = { nWords: 6, dModel: 8, nHeads: 2, ...options };
  const stages = stagesOf(arrays, sized);
  const names = step => Object.keys(KINDS).filter(name => stages[name].step === step);
  const bars = { softmax: ["masked ", "attention #exp", "attention "].map(each => each.split(" ")) };
  const steps = STEPS.map(([id, title, heading]) => ({
    id,
    title,
    layer: 0,
    heading: [["", heading]],
    formulas: [],
    text: TEXT,
    notes: [],
    stages: names(id),
    subject: { question: "attention", "whole-pass": "output" }[id] ?? names(id).at(-1),
    pictures: PICTURES[id] ? [PICTURES[id]] : [],
    page: WORDS_PAGE.includes(id) ? "words-1" : "join-1",
    bands: BANDS[id] ?? [],
    sources: [],
    arcs: WITH_ARCS.includes(id),
    bars: bars[id] ?? [],
    attention: "attention",
    heads: "heads",
  }));
  const arrows = Object.entries(stages).flatMap(([name, { rule }]) =>
    [...new Set(Object.values(rule?.slots ?? {}).map(([source]) => source))]
      .filter(source => stages[source] && source !== name)
      .map(source => [source, name]),
  );
  const last = sized.nWords - 1;
  const start = {
    head: 0,
    query: Math.min(1, last),
    key: Math.min(2, last),
    feature: 0,
    dimension: 0,
    answer: 0,
    neuron: 0,
  };
  const looks = { picked: "", trail: [], ask: "", order: "", view: "matrices", present: false, reveal: null };
  return {
    stages,
    steps,
    layers: [{ attention: "attention", mask: "mask", purpose: "", title: "", words: wordsOfPass(sized.nWords) }],
    nearest: Object.fromEntries(STEPS.map(([id]) => [id, id])),
    map: {
      columns: steps.map(({ id, title, layer, stages: there }) => ({ step: id, title, layer, stages: there })),
      arrows,
    },
    words: wordsOfPass(sized.nWords),
    where: { step: "question", cell: start, ...looks, compare: "both" },
    starts: [start],
    ...{
      arrival: 0,
      changes: [],
      moved: [],
      before: {},
      slopes: null,
      pairs: [],
      other: null,
      next: null,
      flips: null,
    },
  };
}

const wordsOfPass = n => ({ query: wordsOf(n), key: wordsOf(n), shared: true, unit: "word", sides: [] });

/** A document of other words. */
export const withWords = (document, words) => ({
  ...document,
  words,
  layers: document.layers.map(layer => ({ ...layer, words })),
});

// Passes of several layers: a pass for each layer, whose input is the output of the one before.
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
    layers: layers.map((_, i) => ({ ...last.layers[0], attention: `attention_${i + 1}` })),
    nearest: Object.assign({}, ...layers.map(({ nearest }) => nearest), layers[0].nearest),
    map: {
      columns: steps.map(({ id, title, layer, stages }) => ({ step: id, title, layer, stages })),
      arrows: layers.flatMap(({ map }) => map.arrows),
    },
  };
}

// The document of a pass with the names that its stages and steps have as layer n.
function inLayer({ stages, steps, map, nearest, ...rest }, n) {
  const named = name => layered(name, n),
    slotNamed = slot => slot && { ...slot, stage: named(slot.stage) },
    stepNamed = id => ([...BEFORE, ...AFTER].includes(id) ? id : `${id}-${n}`),
    isOwn = name => n === 1 || !SHARED.includes(name),
    mapped = (object, change) => Object.fromEntries(Object.entries(object).map(change));
  const slotsNamed = text =>
      text.replace(/\{(\w+)(?=[:}])/g, (slot, name) => (stages[name] ? `{${named(name)}` : slot)),
    storiesNamed = stories => stories.map(([when, text]) => [when, slotsNamed(text)]);
  const runNamed = ([style, text]) =>
    style === "story" ? [style, { of: named(text.of), stories: storiesNamed(text.stories) }] : [style, text];
  const sourceNamed = ([slot, [source, pattern]]) => [slot, [named(source), pattern]],
    ruleNamed = rule => rule && { ...rule, slots: mapped(rule.slots, sourceNamed) };
  const stageNamed = ([name, stage]) => {
    const parts = { hiddenBy: stage.hiddenBy && named(stage.hiddenBy), rule: ruleNamed(stage.rule) };
    return [named(name), { ...stage, ...parts, step: stepNamed(stage.step), stories: storiesNamed(stage.stories) }];
  };
  const bandNamed = ({ cells, left, right, ...band }) => {
    return { ...band, cells: slotNamed(cells), left: slotNamed(left), right: slotNamed(right) };
  };
  return {
    ...rest,
    stages: Object.fromEntries(Object.entries(stages).flatMap(each => (isOwn(each[0]) ? [stageNamed(each)] : []))),
    steps: steps.map(step => ({
      ...step,
      id: stepNamed(step.id),
      layer: stepNamed(step.id) === step.id ? 0 : n,
      text: step.text.map(runNamed),
      stages: step.stages.filter(isOwn).map(named),
      subject: named(step.subject),
      pictures: step.pictures.map(picture => ({ ...picture, grid: picture.grid.map(row => row.map(slotNamed)) })),
      page: step.page.replace("1", n),
      bands: step.bands.map(bandNamed),
      bars: step.bars.map(([name, array]) => [named(name), array]),
      attention: named("attention"),
      heads: named("heads"),
    })),
    map: { arrows: map.arrows.filter(([, to]) => isOwn(to)).map(arrow => arrow.map(named)) },
    nearest: Object.fromEntries(
      Object.keys(nearest).flatMap(id => [id, stepNamed(id)].map(each => [each, stepNamed(id)])),
    ),
  };
}
