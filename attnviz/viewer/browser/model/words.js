// The words of each layer. Those of a translator differ: a selection is of the words of one layer, and another layer's stages are read
// at the same word where they have it, else where that layer starts.

/** The layer that a step is about, counted from 1; of one outside of layers the last. @param {ContractDocument} document @param {string} id */
export const layerAt = ({ steps, layers }, id) => steps.find(step => step.id === id)?.layer || layers.length;

/** @param {ContractDocument} document @param {string} id @returns {Words} */
export const wordsAt = (document, id) => document.layers[layerAt(document, id) - 1].words;

/** @param {string[]} one @param {string[]} other */
const areAlike = (one, other) => one.length === other.length && one.every((word, nth) => word === other[nth]);

/** @param {Words} one @param {Words} other */
export const haveSameQueries = (one, other) => areAlike(one.query, other.query);
/** @param {Words} one @param {Words} other */
export const haveSameWords = (one, other) => haveSameQueries(one, other) && areAlike(one.key, other.key);

/** Whether all layers have the same words. @param {ContractDocument} document */
export const hasOneText = ({ layers }) => layers.every(({ words }) => haveSameWords(words, layers[0].words));

/** A label without the number of a repeated word. @param {string} label */
export const withoutNumber = label => label.replace(/ \(\d+\)$/, "");

/** What a model has written: after the token that begins it, where that is not the text which was typed. @param {ContractDocument} document */
export function writtenIn(document) {
  if (hasOneText(document)) return document.link.sentence ?? "";
  return document.words.query.slice(1).map(withoutNumber).join(" ");
}

/** The layer that makes what a layer's keys are of; 0 where those are of no layer. @param {ContractDocument} document @param {number} layer */
export const layerOfKeys = ({ layers }, layer) =>
  layers.slice(0, layer - 1).findLastIndex(({ words }) => areAlike(words.query, layers[layer - 1].words.key)) + 1;

/** The name of a layer: what it is called, or its number; "" for what is in no layer. @param {ContractDocument} document @param {number} layer */
export const layerName = ({ layers }, layer) => (layer && (layers[layer - 1]?.title || `Layer ${layer}`)) || "";

/** The name with the block that the layer is of, where a model has an encoder and a decoder. @param {ContractDocument} document @param {number} layer */
export function nameInBlock(document, layer) {
  const { title = "" } = document.layers[layer - 1] ?? {};
  if (!title || hasOneText(document)) return layerName(document, layer);
  return `${layer === layerOfKeys(document, document.layers.length) ? "Encoder" : "Decoder"}: ${title}`;
}

/** The name where there is little space. @param {ContractDocument} document @param {number} layer */
export function shortLayerName(document, layer) {
  const [query, key] = document.layers[layer - 1]?.words.sides ?? [];
  return query ? `${layer} ${query} → ${key}` : layerName(document, layer);
}

/** The name in a label. @param {ContractDocument} document @param {number} layer */
export const layerLabel = ({ layers }, layer) => layers[layer - 1].title || `layer ${layer}`;

/** The name within a sentence. @param {ContractDocument} document @param {number} layer */
export const layerInText = ({ layers }, layer) =>
  layers[layer - 1].title ? `“${layers[layer - 1].title}”` : `layer ${layer}`;

/** Whether a word's row makes the word that is written after it, from what another text says. @param {Words} words */
export const isOfNext = ({ sides }) => new Set(sides).size > 1;

/** A key with the language that it is of, where a layer has two. @param {Words} words @param {number} position */
export const namedWord = (words, position) => `${isOfNext(words) ? `${words.sides[1]} ` : ""}“${words.key[position]}”`;

const TEXTS = new Set(["query", "key"]);
const ROLES = /** @type {const} */ (["query", "key"]);

/** Replaces the reading of selections in a pass whose layers have different words; null for any other. `row(name, index)` has a row's numbers.
 * @param {ContractDocument} document @param {Stages} stages @param {Pick<Pass, "row" | "within" | "indexAt" | "selectionAt">} base
 * @returns {Pick<Pass, "indexAt" | "selectionAt" | "carried" | "canSelect" | "indexOfSame"> | null} */
export function readingOfTexts(document, stages, base) {
  const { layers, starts, nearest } = document;
  if (hasOneText(document)) return null;
  const lists = layers.flatMap(({ words }) => [words.query, words.key]),
    layerOf = (/** @type {string} */ name) => layerAt(document, nearest[stages.get(name).step]),
    isText = (/** @type {Axis} */ { coordinates }) => coordinates.length === 1 && TEXTS.has(coordinates[0][0]);
  /** @type {(axis: Axis, layer: number) => "query" | "key" | undefined} */
  const roleIn = (axis, layer) => roleOf(layers[layer - 1].words, axis.labels, axis.name === "key");
  for (const { axes } of stages.values()) {
    for (const axis of axes.filter(isText)) axis.text = `#${lists.findIndex(list => areAlike(list, axis.labels))}`;
  }
  const roleOf = (/** @type {Words} */ words, /** @type {string[]} */ labels, /** @type {boolean} */ isKey) =>
    (isKey ? ROLES.toReversed() : ROLES).find(role => areAlike(words[role], labels));
  /** @type {Pass["indexAt"]} */
  const indexAt = (name, selection) => {
    const layer = layerOf(name),
      from = selection.layer ?? layer;
    return base.indexAt(name, selection).map((position, nth) => {
      const axis = stages.get(name).axes[nth];
      if (!isText(axis)) return position;
      const role = roleIn(axis, from),
        at = role ? selection[role] : starts[layer][roleIn(axis, layer) ?? "query"];
      return Math.min(at, axis.labels.length - 1);
    });
  };
  return {
    indexAt,
    // The selection moved to a cell, in the words of its layer.
    selectionAt: (name, index, selection) => {
      const layer = selection.layer ?? layerOf(name),
        moved = base.selectionAt(name, index, selection);
      for (const [nth, axis] of stages.get(name).axes.entries()) {
        if (!isText(axis)) continue;
        const [[coordinate]] = axis.coordinates,
          role = roleIn(axis, layer);
        if (role !== coordinate)
          moved[/** @type {"query"} */ (coordinate)] = selection[/** @type {"query"} */ (coordinate)];
        if (role) moved[role] = index[nth];
      }
      return moved;
    },
    // Whether each word of a stage's cell is one that a layer's selection can be at.
    canSelect: (name, layer) => {
      const roles = stages
        .get(name)
        .axes.filter(isText)
        .map(axis => roleIn(axis, layer));
      return !roles.includes(undefined) && new Set(roles).size === roles.length;
    },
    // The cell of the same words in another stage; null if that has other words.
    indexOfSame: (name, index, other) => {
      const { axes } = stages.get(name),
        moved = stages.get(other).axes.map((axis, nth) => {
          const nthOf = isText(axis) ? [nth, ...axes.keys()].find(each => axes[each]?.text === axis.text) : nth;
          return nthOf === undefined ? -1 : index[nthOf];
        });
      return moved.includes(-1) ? null : moved;
    },
    carried: (cell, layer) => {
      const { words, attention } = layers[layer - 1],
        before = layers[(cell.layer ?? layer) - 1]?.words ?? words,
        clamped = (/** @type {Selected} */ each) => ({
          ...each,
          layer,
          query: Math.min(each.query, words.query.length - 1),
          key: Math.min(each.key, words.key.length - 1),
        });
      if (haveSameWords(words, before)) return clamped(cell);
      const [query, key] = ROLES.map(role => roleOf(before, words[role], role === "key")),
        start = starts[layer];
      if (!query) return clamped({ ...cell, head: start.head, query: start.query, key: start.key });
      const at = { ...cell, head: start.head, layer, query: cell[query] };
      if (key && key !== query) return clamped({ ...at, key: cell[key] });
      const row = base.row(attention, indexAt(attention, { ...at, key: 0 })); // the word that it looks at most
      return clamped({ ...at, key: row.indexOf(Math.max(...row)) });
    },
  };
}
