// Numbers set by hand: the note on them in a sentence, and the heads and neurons that they mute.

const SET = "set by hand"; // where a stage's numbers are from a file its `overriddenBy` says that instead

/** The hand-set numbers among some cells and their sources. Followed back are a copy or a row's maximum, to the number it repeats, and a number
 * computed only from those at its own position, as a scaled score from its score. @param {Pass} pass @param {Cell[]} cells @returns {Cell[]} */
export function setByHand(pass, cells) {
  const setCells = new Map();
  const add = (/** @type {Cell} */ { name, index }) => {
    if (pass.isOverridden(name, index)) {
      if (pass.stages.get(name).overriddenBy === SET) setCells.set(pass.address(name, index), { name, index });
      return;
    }
    const sources = pass.cellsOf(name, index);
    const isMade = sources.length === 1 || sources.every(source => isAtPlace(source.index, index)),
      isSame = (/** @type {Cell} */ source) => pass.number(source.name, source.index) === pass.number(name, index);
    sources.filter(source => isMade || isSame(source)).forEach(add);
  };
  if (pass.isChanged) cells.forEach(add);
  return [...setCells.values()];
}

/** The numbers of a slot that are set by hand. @param {Pass} pass @param {Slice} slice */
export function setInSlot(pass, { name, stage, size: [rows, columns], index }) {
  if (!stage.overridden.size) return [];
  const indices = Array.from({ length: rows * columns }, (_, nth) => index(Math.floor(nth / columns), nth % columns)),
    overridden = indices.filter(each => pass.isOverridden(name, each)).map(each => ({ name, index: each }));
  return setByHand(pass, overridden);
}

/** The note on numbers that are set by hand, as pieces {text, cell}; without one it is empty. @returns {Piece[]} */
export function noteOn(/** @type {Pass} */ pass, /** @type {Cell[]} */ cells) {
  if (!cells.length) return [];
  if (cells.length > 1) return [{ text: ` ${cells.length} numbers here are ${SET}.` }];
  const [cell] = cells;
  return [{ text: " " }, { text: pass.nameOf(cell.name, cell.index), cell }, { text: ` is ${SET}.` }];
}

/** Whether `index` is a suffix of `other`: a mask shared by all heads has no position for the head. @param {number[]} index
 * @param {number[]} other */
const isAtPlace = (index, other) => index.every((position, at) => position === other[other.length - index.length + at]);

/** Which change set all numbers at a partial index; -1 if none did. @param {Pass} pass @param {string} stage @param {(number | null)[]} index */
export const changeAt = ({ document: { changes } }, stage, index) =>
  changes.findIndex(each => each.stage === stage && String(each.index) === String(index));

// Whether a head's result is muted: the head itself, or everything that its layer adds.
export function isMuted(/** @type {Pass} */ pass, /** @type {string} */ attention, /** @type {number} */ head) {
  const { heads } = pass.stepOf(attention),
    output = heads.replace("heads", "output");
  return [changeAt(pass, heads, [head]), changeAt(pass, heads, [null]), changeAt(pass, output, [null])].some(
    nth => nth >= 0,
  );
}
