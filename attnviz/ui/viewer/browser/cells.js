// Cells: where an address such as scores[0,1,2] lies, and what a person calls it.
//
// `axes` are those of each stage: {stage: [{labels, coordinates: [[coordinate, length]]}]}. The coordinates of a
// selection that lie on an axis are the digits of a place on it, outermost first, and their lengths are the bases.

export function parts(cell) {
  const [, stage, index] = cell.match(/^(\w+)\[(.*)\]$/);
  return { stage, index: index.split(",").map(Number) };
}

// scores[0,1,2] is scores[head 1, cat, sat].
export function named(axes, cell) {
  const { stage, index } = parts(cell);
  return `${stage}[${index.map((place, i) => axes[stage][i].labels[place]).join(", ")}]`;
}

export function indexAt(axes, stage, selection) {
  return axes[stage].map(({ coordinates }) =>
    coordinates.reduce((place, [coordinate, length]) => place * length + selection[coordinate], 0));
}

export function cellAt(axes, stage, selection) {
  return `${stage}[${indexAt(axes, stage, selection).join(",")}]`;
}

// The selection on a cell; coordinates that its stage lacks stay.
export function selectionAt(axes, cell, selection) {
  const { stage, index } = parts(cell);
  return Object.assign({}, selection, ...index.map((place, i) => digits(axes[stage][i].coordinates, place)));
}

function digits(coordinates, place) {
  const found = {};
  let rest = place;
  for (const [coordinate, length] of [...coordinates].reverse()) {
    found[coordinate] = rest % length;
    rest = Math.floor(rest / length);
  }
  return found;
}
