// All heads of a recording: their patterns, packed in 8 bits, and their statistics, by which they are sorted and chosen (viewer/overview.py).

/** @typedef {{ layer: number, head: number, weights: Uint8Array, scale: number, shape: [number, number], statistics: Record<string, number | null> }} Head
 * @typedef {{ path: string, note: string, queries: string[], keys: string[], heads: Head[] }} Layer */

/** What each statistic is called, what it says, and its unit. */
export const STATISTICS = /** @type {Record<string, { name: string, about: string, unit: string }>} */ ({
  effect: { name: "effect", about: "the change without this head, by head_effects", unit: "" },
  entropy: { name: "entropy", about: "mean over queries", unit: "bits" },
  spread: { name: "spread", about: "entropy over the largest for the visible keys", unit: "%" },
  itself: { name: "token itself", about: "mean weight", unit: "%" },
  previous: { name: "previous token", about: "mean weight", unit: "%" },
  first: { name: "first token", about: "mean weight", unit: "%" },
  last: { name: "last token", about: "mean weight", unit: "%" },
  separator: { name: "separator", about: "mean weight on tokens such as [SEP]", unit: "%" },
  distance: { name: "distance", about: "mean, weighted by attention", unit: "tokens" },
});

/** The bytes of a deflated text in base64. @param {string} packed */
export async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0)),
    stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The layers with their heads. @param {any} data @returns {Promise<Layer[]>} */
export async function readLayers({ layers, texts, patterns }) {
  const bytes = await unpacked(patterns);
  let start = 0;
  return layers.map(
    (/** @type {any} */ { path, note, n, shape, scales, queries, keys, statistics }, /** @type {number} */ layer) => ({
      path,
      note,
      queries: texts[queries] ?? [],
      keys: texts[keys] ?? [],
      heads: Array.from({ length: n }, (_, head) => {
        const weights = bytes.subarray(start, start + shape[0] * shape[1]),
          ofHead = Object.entries(statistics).map(([name, values]) => [name, /** @type {any} */ (values)[head]]);
        start += weights.length;
        return { layer, head, weights, scale: scales[head], shape, statistics: Object.fromEntries(ofHead) };
      }),
    }),
  );
}

/** The statistics that some head has. @param {Head[]} heads */
export const namesIn = heads =>
  Object.keys(STATISTICS).filter(name => heads.some(({ statistics }) => Number.isFinite(statistics[name])));

/** Heads by a statistic, the highest or the lowest first; those without it are left out. @param {Head[]} heads @param {string} name
 * @param {boolean} isHighFirst */
export function sortedHeads(heads, name, isHighFirst) {
  const of = (/** @type {Head} */ head) => Number(head.statistics[name]),
    sign = isHighFirst ? -1 : 1;
  return heads
    .filter(({ statistics }) => isNumber(statistics[name]))
    .sort((one, other) => sign * (of(one) - of(other)));
}

const isNumber = (/** @type {unknown} */ value) => typeof value === "number";

/** The lowest and the highest value of a statistic. @param {Head[]} heads @param {string} name @returns {[number, number]} */
export function rangeOf(heads, name) {
  const values = heads.flatMap(({ statistics }) => statistics[name] ?? []);
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
}

/** Whether a statistic is at least the limit, or at most. @param {Head} head @param {string} name @param {number} limit @param {boolean} isAtLeast */
export function isWithin({ statistics }, name, limit, isAtLeast) {
  const value = statistics[name];
  return isNumber(value) && (isAtLeast ? Number(value) >= limit : Number(value) <= limit);
}

/** A statistic as a text with its unit. @param {string} name @param {number | null | undefined} value */
export function valueText(name, value) {
  if (!isNumber(value)) return "–";
  const number = Number(value),
    { unit } = STATISTICS[name];
  if (unit === "%") return `${(100 * number).toFixed(number < 0.1 ? 1 : 0)} %`;
  if (unit) return `${number.toFixed(number < 10 ? 2 : 1)} ${unit}`;
  return minus(Math.abs(number) < 0.001 && number ? number.toExponential(1) : number.toPrecision(3));
}

const minus = (/** @type {string} */ text) => text.replaceAll("-", "−");

/** The weight at a cell. @param {Head} head @param {number} query @param {number} key */
export const weightAt = ({ weights, scale, shape }, query, key) => (weights[query * shape[1] + key] / 255) * scale;

/** A weight of a head as a text, with as many digits as 8 bits tell. @param {Head} head @param {number} weight */
export const weightText = (head, weight) => weight.toFixed(digitsOf(head));

/** By how much a weight may be off. @param {Head} head */
const roundingText = head => `± ${(head.scale / 510).toFixed(digitsOf(head))}`;

const digitsOf = (/** @type {Head} */ { scale }) => Math.min(Math.max(Math.ceil(-Math.log10(scale / 510)), 3), 7);

/** What a query gives a key, in words. @param {Layer} layer @param {Head} head @param {number} query @param {number} key */
export function cellText({ queries, keys }, head, query, key) {
  const weight = weightText(head, weightAt(head, query, key));
  return `“${queries[query]}” gives “${keys[key]}” ${weight} ${roundingText(head)}`;
}

/** The keys with the largest weights of a query, at most `most`. @param {Head} head @param {number} query @param {number} most
 * @returns {{ key: number, weight: number }[]} */
export function topKeys(head, query, most) {
  const row = Array.from({ length: head.shape[1] }, (_, key) => ({ key, weight: weightAt(head, query, key) }));
  return row
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, most);
}

/** Layer and head, counted from 0 as in Python. @param {Head} head */
export const nameOf = ({ layer, head }) => `Layer ${layer}, head ${head}`;
