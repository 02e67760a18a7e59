// Axes: where a selection lies on the axes of a stage, and what a position on them is called.
//
// The coordinates of a selection that lie on an axis, outermost first, are the digits of a position on it, and their lengths
// are the bases: on [["head", 2], ["feature", 4]] head 1 and feature 3 are position 7. A selection may be of a longer axis than
// this one, as layers may differ in their d_k: it lies at the end of this one then. Where these are more positions than the
// axis has, neighbours share one: on two groups, [["head", 4]], heads 0 and 1 are position 0.

export function positionAt(/** @type {Axis} */ axis, /** @type {Partial<Selected>} */ selection) {
  const position = axis.coordinates.reduce(
    (before, [coordinate, length]) =>
      before * length + Math.min(selection[/** @type {keyof Selected} */ (coordinate)] ?? 0, length - 1),
    0,
  );
  return Math.floor(position / sharedBy(axis));
}

/** The number of positions of the coordinates that share one of the axis. @param {Axis} axis */
export const sharedBy = ({ coordinates, labels }) =>
  coordinates.reduce((product, [, length]) => product * length, 1) / labels.length;

/** The coordinates of a position, the first of those that share it. @returns {Record<string, number>} */
export function coordinatesAt(/** @type {Axis} */ axis, /** @type {number} */ position) {
  const positions = /** @type {Record<string, number>} */ ({});
  let rest = position * sharedBy(axis);
  for (const [coordinate, length] of [...axis.coordinates].reverse()) {
    positions[coordinate] = rest % length;
    rest = Math.floor(rest / length);
  }
  return positions;
}

// Identifies an axis: the same for all stages that have it.
export const axisName = (
  /** @type {{ coordinates: [string, number][], text?: string }} */ { coordinates, text = "" },
) => coordinates.map(([name]) => name).join(".") + text;

// Whether the positions of an axis are heads, and whether a stage has one array for each head, along its first axis.
export const isOfHeads = (/** @type {{ name: string }} */ { name }) => name === "head";
export const isHeaded = (/** @type {{ axes: Axis[] }} */ { axes }) => isOfHeads(axes[0]);

// Whether the positions of an axis are words: a person's, or those that a model answers with.
export const hasWords = (/** @type {{ coordinates: [string, number][] }} */ { coordinates }) =>
  coordinates.length === 1 && ["query", "key", "answer"].includes(coordinates[0][0]);

/** The name of a position that is no word, in full and where there is little room. @param {Axis} axis @param {number} position */
export const positionNameAt = (axis, position) =>
  `${axis.name === "neuron" ? "neuron" : "dimension"} ${axis.labels[position]}`;

export function shortNameAt(/** @type {Axis} */ axis, /** @type {number} */ position) {
  const { head, feature } = coordinatesAt(axis, position);
  if (axis.coordinates.length > 1) return `head ${head + 1}, ${feature + 1}`;
  return positionNameAt(axis, position).replace("dimension", "dim");
}

/** The number of positions along each coordinate: the longest axis counts. @param {Iterable<{ axes: Axis[] }>} stages */
export function lengthsOf(stages) {
  const lengths = /** @type {Record<string, number>} */ ({});
  for (const { axes } of stages) {
    for (const [coordinate, length] of axes.flatMap(axis => axis.coordinates)) {
      lengths[coordinate] = Math.max(length, lengths[coordinate] ?? length);
    }
  }
  return lengths;
}

/** The position of an index in an array that is one row, and back. @param {number[]} shape @param {number[]} index */
export const flattened = (shape, index) => shape.reduce((flat, length, axis) => flat * length + index[axis], 0);

export function unflattened(/** @type {number[]} */ shape, /** @type {number} */ flat) {
  const index = [];
  let rest = flat;
  for (const length of [...shape].reverse()) {
    index.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return index;
}
