// What a head looks at, on average over the rows of its attention weights.

/** The names of the statistics, in full and where there is little room. */
export const STATISTICS = /** @type {const} */ ({
  previous: { name: "previous token", short: "previous", kind: "mostly at the token before" },
  itself: { name: "token itself", short: "itself", kind: "mostly at itself" },
  first: { name: "first token", short: "first", kind: "mostly at the first token" },
  spread: { name: "spread of attention", short: "spread", kind: "almost evenly at all" },
});
const MOSTLY = 0.5, // of the attention
  EVENLY = 0.9;

/** @typedef {keyof typeof STATISTICS} StatisticName
 * @typedef {{ row: number, key: number | null, value: number }} Part a row's number; of a spread it has no key
 * @typedef {{ name: StatisticName, value: number | null, parts: Part[] }} Statistic */

/** The statistics of a head, each the mean of its parts; null where no row has one. Without words on both sides no key is the query itself.
 * @param {ArrayLike<number>[]} rows @param {{ isShared: boolean, isHidden(row: number, key: number): boolean }} props @returns {Statistic[]} */
export function headStatistics(rows, { isShared, isHidden }) {
  const all = rows.map((weights, row) => ({ weights, row, seen: seenBy(weights, key => isHidden(row, key)) })),
    seeing = all.filter(({ seen }) => seen.length > 0);
  const at = (/** @type {(row: number) => number} */ keyOf) =>
      seeing.flatMap(({ weights, row }) => {
        const key = keyOf(row);
        return key >= 0 && key < weights.length ? [{ row, key, value: weights[key] }] : [];
      }),
    spreads = seeing.map(({ row, seen }) => ({ row, key: null, value: spreadOf(seen) }));
  const parts = {
    ...(isShared && { previous: at(row => row - 1), itself: at(row => row) }),
    first: at(() => 0),
    spread: spreads.filter(({ value }) => !Number.isNaN(value)),
  };
  return Object.entries(parts).map(([name, each]) => ({
    name: /** @type {StatisticName} */ (name),
    value: each.length ? each.reduce((sum, { value }) => sum + value, 0) / each.length : null,
    parts: each,
  }));
}

/** The attention weights of the keys that are not hidden. @param {ArrayLike<number>} weights @param {(key: number) => boolean} isHidden */
export const seenBy = (weights, isHidden) => Array.from(weights).filter((_, key) => !isHidden(key));

/** The entropy of a row of attention weights over that of an even one: 0 is one key alone, 1 all alike. Of weights that are no shares, NaN.
 * @param {number[]} seen */
function spreadOf(seen) {
  const sum = seen.reduce((total, weight) => total + weight, 0);
  if (sum <= 0 || seen.some(weight => weight < 0)) return Number.NaN;
  const shares = seen.map(weight => weight / sum).filter(share => share > 0),
    entropy = shares.reduce((total, share) => total - share * Math.log(share), 0);
  return seen.length > 1 ? entropy / Math.log(seen.length) : 0;
}

/** The statistic that says what a head mostly does: {name, value}; null where nothing stands out. @param {Statistic[]} statistics */
export function habitOf(statistics) {
  const places = statistics.filter(({ name }) => name !== "spread"),
    spread = statistics.filter(({ name }) => name === "spread"),
    best = places.reduce((one, other) => (Number(other.value) > Number(one.value) ? other : one)),
    stands = [best, ...spread].find(({ name, value }) => Number(value) >= (name === "spread" ? EVENLY : MOSTLY));
  return stands ? { name: stands.name, value: Number(stands.value) } : null;
}
