// The path to a number: back through the largest terms of each number on it, to what was given.

export const LEAST_PART = 0.2; // of the largest: what contributes less is off the path

/** @typedef {{ from: Cell, to: Cell }} PathStep */

/** The steps of the path among some stages, from the number back: of each stage that a number is computed from, its largest term.
 * @param {Pass} pass @param {Cell} cell @param {Set<string>} stages @returns {PathStep[]} */
export function pathTo(pass, cell, stages) {
  const steps = /** @type {PathStep[]} */ ([]),
    cells = new Map([[pass.address(cell.name, cell.index), cell]]);
  for (const to of cells.values()) {
    for (const from of sourcesOf(pass, to, stages)) {
      steps.push({ from, to });
      cells.set(pass.address(from.name, from.index), from); // visited in turn, once
    }
  }
  return steps;
}

/** The cells of its largest terms; stages that aren't among `stages`, such as a mask that hides nothing, are passed through. @param {Pass} pass @param {Cell} cell
 * @param {Set<string>} stages @returns {Cell[]} */
function sourcesOf(pass, { name, index }, stages) {
  const lines = (pass.terms(name, index)?.lines ?? []).filter(({ value }) => !Number.isNaN(value)),
    sizeOf = (/** @type {{ value: number }} */ { value }) => Math.abs(value),
    largest = Math.max(...lines.map(sizeOf)),
    sources = /** @type {Map<string, Cell>} */ (new Map());
  for (const line of lines.sort((one, other) => sizeOf(other) - sizeOf(one))) {
    if (sizeOf(line) < LEAST_PART * largest) break;
    for (const from of line.cells) if (!sources.has(from.name)) sources.set(from.name, from);
  }
  return [...sources.values()].flatMap(from => (stages.has(from.name) ? [from] : sourcesOf(pass, from, stages)));
}
