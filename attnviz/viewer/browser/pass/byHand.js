// By hand: which of the numbers that a sentence leans on are set by hand, and the note that says so.
const SET = "set by hand"; // where a stage's numbers are from a file its `overriddenBy` says that instead

// Those of some cells that are set by hand. A copy, or the largest of a row, leans on the number that it repeats, and a number
// that is made of those at its own place alone, as a scaled score is of its score, on these.
/** @param {Pass} pass */
export function setByHand(pass, cells) {
  const found = new Map();
  const add = ({ name, index }) => {
    if (pass.isOverridden(name, index)) {
      if (pass.stages.get(name).overriddenBy === SET) found.set(pass.address(name, index), { name, index });
      return;
    }
    const sources = pass.cellsOf(name, index);
    const isMade = sources.length === 1 || sources.every(source => isAtPlace(source.index, index)),
      isSame = source => pass.number(source.name, source.index) === pass.number(name, index);
    sources.filter(source => isMade || isSame(source)).forEach(add);
  };
  if (pass.isChanged) cells.forEach(add);
  return [...found.values()];
}

// The numbers of a slot that are set by hand.
/** @param {Pass} pass */
export function setInSlot(pass, { name, stage, size: [rows, columns], index }) {
  if (!stage.overridden.size) return [];
  const cells = Array.from({ length: rows * columns }, (_, at) => ({
    name,
    index: index(Math.floor(at / columns), at % columns),
  }));
  return setByHand(
    pass,
    cells.filter(cell => pass.isOverridden(name, cell.index)),
  );
}

// The note on numbers that are set by hand, as pieces {text, cell}; without one it is empty.
/** @param {Pass} pass */
export function noteOn(pass, cells) {
  if (!cells.length) return [];
  if (cells.length > 1) return [{ text: ` ${cells.length} numbers here are ${SET}.` }];
  const [cell] = cells;
  return [{ text: " " }, { text: pass.nameOf(cell.name, cell.index), cell }, { text: ` is ${SET}.` }];
}

// Whether an index is the end of another: a mask that all heads share has no place for the head.
function isAtPlace(index, other) {
  return index.every((place, at) => place === other[other.length - index.length + at]);
}
