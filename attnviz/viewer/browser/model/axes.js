// Axes: where a selection lies on the axes of a stage, and what a position on them is called.
//
// The coordinates of a selection that lie on an axis, outermost first, are the digits of a position on it, and their lengths
// are the bases: on [["head", 2], ["feature", 4]] head 1 and feature 3 are position 7. A selection may be of a longer axis than
// this one, as layers may differ in their d_k: it lies at the end of this one then. Where these are more positions than the
// axis has, neighbours share one: on two groups, [["head", 4]], heads 0 and 1 are position 0.

export function positionAt(axis, selection) {
  const position = axis.coordinates.reduce(
    (before, [coordinate, length]) => before * length + Math.min(selection[coordinate], length - 1),
    0,
  );
  return Math.floor(position / sharedBy(axis));
}

// The number of positions of the coordinates that share one of the axis.
export const sharedBy = ({ coordinates, labels }) =>
  coordinates.reduce((product, [, length]) => product * length, 1) / labels.length;

// The coordinates of a position, the first of those that share it.
export function coordinatesAt(axis, position) {
  const positions = {};
  let rest = position * sharedBy(axis);
  for (const [coordinate, length] of [...axis.coordinates].reverse()) {
    positions[coordinate] = rest % length;
    rest = Math.floor(rest / length);
  }
  return positions;
}

// Whether the positions of an axis are heads, and whether a stage has one array for each head, along its first axis.
export const isOfHeads = ({ name }) => name === "head";
export const isHeaded = ({ axes }) => isOfHeads(axes[0]);

// Whether the positions of an axis are words: a person's, or those that a model answers with.
export const hasWords = ({ coordinates }) =>
  coordinates.length === 1 && ["query", "key", "answer"].includes(coordinates[0][0]);

// The name of a position that is no word, in full and where there is little room.
export const positionNameAt = (axis, position) =>
  `${axis.name === "neuron" ? "neuron" : "dimension"} ${axis.labels[position]}`;

export function shortNameAt(axis, position) {
  const { head, feature } = coordinatesAt(axis, position);
  if (axis.coordinates.length > 1) return `head ${head + 1}, ${feature + 1}`;
  return positionNameAt(axis, position).replace("dimension", "dim");
}

// The number of positions along each coordinate: the longest axis counts.
export function lengthsOf(stages) {
  const lengths = {};
  for (const { axes } of stages) {
    for (const [coordinate, length] of axes.flatMap(axis => axis.coordinates)) {
      lengths[coordinate] = Math.max(length, lengths[coordinate] ?? length);
    }
  }
  return lengths;
}

// The position of an index in an array that is one row, and back.
export const flattened = (shape, index) => shape.reduce((flat, length, axis) => flat * length + index[axis], 0);

export function unflattened(shape, flat) {
  const index = [];
  let rest = flat;
  for (const length of [...shape].reverse()) {
    index.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return index;
}
