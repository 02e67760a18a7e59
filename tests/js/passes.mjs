// Documents of passes, made by hand: loops compute the numbers, and nothing of the viewer is used.

const WORDS = ["the", "cat", "sat", "on", "the (2)", "mat"];
const COORDINATES = {
  head: "head",
  query: "query",
  token: "query",
  key: "key",
  d_k: "feature",
  d_v: "feature",
  d_model: "dimension",
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
    embeddings,
    positions,
    x,
    w_q,
    b_q,
    w_k,
    w_v,
    q,
    k,
    v,
    scores,
    scaled,
    mask,
    masked,
    max,
    exp,
    total,
    unseeing,
    attention,
    heads,
    concat,
    w_o,
    contributions,
    output,
  };
}

function axis(name, n, options) {
  const labels =
    name === "head"
      ? each(n, i => `head ${i + 1}`)
      : ["query", "key", "token"].includes(name)
        ? wordsOf(n)
        : each(n, i => String(i + 1));
  const coordinates =
    name === "heads * d_v"
      ? [
          ["head", options.nHeads],
          ["feature", n / options.nHeads],
        ]
      : [[COORDINATES[name], n]];
  return { name, title: TITLES[name] ?? name.replace("*", "·"), labels, coordinates };
}

function products(result, a, b, sizes, bias = null) {
  const slots = { a, b, ...(bias ? { c: bias } : {}) };
  return {
    result,
    sizes,
    slots,
    arrays: {},
    case: null,
    variants: [
      {
        lines: [
          { cells: ["a", "b"], text: "{a} × {b}", value: "" },
          ...(bias ? [{ cells: ["c"], text: "{c}", value: "" }] : []),
        ],
        term: "{a:bt} \\cdot {b:bt}",
        formula: bias ? "{terms} + {c:bt}" : "{terms}",
        conclusion: "the sum of {n}, added up unrounded",
      },
    ],
  };
}

function copied(result, slot, sizes) {
  const lines = [{ cells: ["a"], text: "the same number", value: "a" }];
  return {
    result,
    sizes,
    slots: { a: slot },
    arrays: {},
    case: null,
    variants: [{ lines, term: "", formula: "", conclusion: "" }],
  };
}

function rulesOf(arrays, { nWords: n = 6, dModel: d = 8, nHeads: h = 2 }) {
  const f = d / h,
    own = (name, perHead = true) => ({ values: encoded(arrays[name], { perHead }) });
  const projection = (name, rows, bias) =>
    products(`h ${rows} f`, ["x", `${rows} i`], [`w_${name}`, "h i f"], { h, [rows]: n, f, i: d }, bias);
  const pairs = { h, q: n, k: n };
  const one = (text, formula, extra = {}) => [
    {
      lines: [{ cells: ["a", ...(extra.cells ?? [])], text, value: extra.value ?? "r" }],
      term: "",
      formula,
      conclusion: "",
    },
  ];
  const shares = { cells: ["z"], text: "exp({z} − {max:b})", value: "e" };
  return {
    x: {
      result: "t d",
      sizes: { t: n, d },
      slots: { a: ["embeddings", "t d"], b: ["positions", "t d"] },
      arrays: {},
      case: null,
      variants: [
        {
          lines: [
            { cells: ["a"], text: "{a}", value: "" },
            { cells: ["b"], text: "{b}", value: "" },
          ],
          term: "",
          formula: "{a:bt} + {b:bt}",
          conclusion: "the sum of {n}, added up unrounded",
        },
      ],
    },
    q: projection("q", "q", ["b_q", "h f"]),
    k: projection("k", "k"),
    v: projection("v", "k"),
    scores: products("h q k", ["q", "h q i"], ["k", "h k i"], { ...pairs, i: f }),
    scaled: {
      result: "h q k",
      sizes: pairs,
      slots: { a: ["scores", "h q k"], by: ["#by", ""], r: ["scaled", "h q k"] },
      arrays: { "#by": { values: encoded([Math.sqrt(f)], { perHead: false }) } },
      case: null,
      variants: one("{a} ÷ {by}", "\\frac{{a:t}}{{by:t}}"),
    },
    masked: {
      result: "h q k",
      sizes: pairs,
      slots: { a: ["scaled", "h q k"], m: ["mask", "q k"], r: ["masked", "h q k"] },
      arrays: { "#case": own("mask", false) },
      case: ["#case", "q k"],
      variants: [
        ...one("hidden, so −∞", "\\text{hidden}", { cells: ["m"] }),
        ...one("visible, so {a} stays", "{a:t} \\text{ (visible)}", { cells: ["m"] }),
      ],
    },
    attention: {
      result: "h q k",
      sizes: { ...pairs, i: n },
      case: ["#unseeing", "h q"],
      slots: {
        z: ["masked", "h q i"],
        e: ["#exp", "h q i"],
        own: ["masked", "h q k"],
        own_e: ["#exp", "h q k"],
        max: ["#max", "h q"],
        sum: ["#sum", "h q"],
      },
      arrays: { "#exp": own("exp"), "#max": own("max"), "#sum": own("total"), "#unseeing": own("unseeing") },
      variants: [
        {
          lines: [shares],
          term: "{e:t}",
          formula: "\\frac{e^{{own:t} - {max:bt}}}{{terms}}",
          conclusion: "{own_e} ÷ {sum}, the sum of {n}",
        },
        {
          lines: [shares],
          term: "",
          formula: "0 \\quad\\text{ (no key is visible)}",
          conclusion: "no key is visible, so the share is 0",
        },
      ],
    },
    heads: products("h q f", ["attention", "h q i"], ["v", "h i f"], { h, q: n, f, i: n }),
    concat: copied("q (h f)", ["heads", "h q f"], { h, q: n, f }),
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

const RESULT = { result: true };
const PICTURES = {
  tokens: { grid: [[slot("embeddings", 0, 1, RESULT)]], turns: true },
  positions: {
    grid: [
      [slot("embeddings", 0, 1), slot("positions", 0, 1, { sign: "+" }), slot("x", 0, 1, { sign: "=", ...RESULT })],
    ],
    turns: true,
  },
  qkv: {
    grid: [
      [null, slot("w_q", 1, 2), slot("w_k", 1, 2), slot("w_v", 1, 2)],
      [null, slot("b_q", null, 1, { sign: "+" }), null, null],
      [slot("x", 0, 1), slot("q", 1, 2, RESULT), slot("k", 1, 2, RESULT), slot("v", 1, 2, RESULT)],
    ],
    turns: false,
  },
  scores: {
    grid: [
      [null, slot("k", 2, 1)],
      [slot("q", 1, 2), slot("scores", 1, 2, RESULT)],
    ],
    turns: false,
  },
  scaling: {
    grid: [[slot("scores", 1, 2, { after: "÷ √d_k" }), slot("scaled", 1, 2, { sign: "=", ...RESULT })]],
    turns: true,
  },
  mask: {
    grid: [
      [slot("scaled", 1, 2), slot("mask", 0, 1, { sign: "where" }), slot("masked", 1, 2, { sign: "=", ...RESULT })],
    ],
    turns: true,
  },
  softmax: {
    grid: [[slot("masked", 1, 2, { sign: "softmax" }), slot("attention", 1, 2, { sign: "=", sums: true, ...RESULT })]],
    turns: true,
  },
  "weighted-sum": {
    grid: [
      [null, slot("v", 1, 2)],
      [slot("attention", 1, 2, { sums: true }), slot("heads", 1, 2, RESULT)],
    ],
    turns: false,
  },
  concatenation: { grid: [[slot("concat", 0, 1, RESULT)]], turns: true },
  output: {
    grid: [
      [null, slot("w_o", 0, 1)],
      [slot("concat", 0, 1), slot("output", 0, 1, RESULT)],
    ],
    turns: false,
  },
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

// [id, title, heading, formulas]
const STEPS = [
  ["question", "Start", "What does cat take from the others?", []],
  ["tokens", "Tokens", "Words become vectors", []],
  ["positions", "Positions", "Places become vectors too", ["X = E + P"]],
  [
    "qkv",
    "Q, K, V",
    "What each token looks for, offers and passes on",
    ["Q_i = X\\,W^Q_i + b^Q_i", "K_i = X\\,W^K_i", "V_i = X\\,W^V_i"],
  ],
  ["scores", "Scores", "How well does each key match each query?", ["S_i = Q_i\\,{K_i}^{\\top}"]],
  ["scaling", "Scaling", "Keep the scores small", ["Z_i = \\frac{S_i}{\\sqrt{d_k}}"]],
  ["mask", "Mask", "Which keys may a query see?", ["M_i = Z_i \\text{ where } M \\text{, else } -\\infty"]],
  ["softmax", "Softmax", "Scores become shares", ["A_i = \\mathrm{softmax}(M_i)"]],
  ["weighted-sum", "Weighted sum", "Collect the values, in those shares", ["H_i = A_i\\,V_i"]],
  ["concatenation", "Concatenation", "Put the heads side by side", ["H = [H_1 \\;\\cdots\\; H_h]"]],
  ["output", "Output", "The last matrix mixes the heads", ["O = H\\,W^O"]],
  ["whole-pass", "Whole pass", "Everything at once", []],
];
const WITH_ARCS = ["question", "softmax", "weighted-sum", "concatenation", "output", "whole-pass"];

// A whole document; `options` as for `arraysOf`, whose arrays it holds.
export function documentOf(options = {}, arrays = arraysOf(options)) {
  const sized = { nWords: 6, dModel: 8, nHeads: 2, ...options };
  const stages = stagesOf(arrays, sized);
  const names = step => Object.keys(KINDS).filter(name => stages[name].step === step);
  const steps = STEPS.map(([id, title, heading, formulas]) => ({
    id,
    title,
    layer: 0,
    heading: [["", heading]],
    formulas,
    text: [
      ["", "Every "],
      ["q", "query"],
      ["", " meets every "],
      ["k", "key"],
      ["", " in a "],
      ["strong", "dot product"],
      ["", ": $"],
      ["math", "Q_i{K_i}^{\\top}"],
      ["", "."],
      [
        "story",
        {
          of: "attention",
          stories: [
            ["", " {query} took most from {attention:best}."],
            ["", " {query} saw no key."],
          ],
        },
      ],
    ],
    notes: [],
    stages: names(id),
    subject: { question: "attention", "whole-pass": "output" }[id] ?? names(id).at(-1),
    pictures: PICTURES[id] ? [PICTURES[id]] : [],
    page: WORDS_PAGE.includes(id) ? "words-1" : "join-1",
    bands: BANDS[id] ?? [],
    sources: [],
    numpy: ["scores = q @ k.swapaxes(-1, -2)"],
    arcs: WITH_ARCS.includes(id),
    bars:
      id === "softmax"
        ? [
            ["masked", ""],
            ["attention", "#exp"],
            ["attention", ""],
          ]
        : [],
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
  return {
    stages,
    steps,
    layers: [{ attention: "attention", purpose: "" }],
    nearest: Object.fromEntries(STEPS.map(([id]) => [id, id])),
    map: {
      columns: steps.map(({ id, title, layer, stages: there }) => ({ step: id, title, layer, stages: there })),
      arrows,
    },
    words: { query: wordsOf(sized.nWords), key: wordsOf(sized.nWords), shared: true },
    palette: { negative: [0, 114, 178], positive: [213, 94, 0], share: [111, 53, 170] },
    where: {
      step: "question",
      cell: start,
      picked: "",
      trail: [],
      ask: "",
      order: "",
      view: "matrices",
      present: false,
      reveal: null,
      compare: "both",
    },
    starts: [start],
    arrival: 0,
    changes: [],
    moved: [],
    before: {},
    slopes: null,
    pairs: [],
    other: null,
    next: null,
    flips: null,
  };
}
