// Sheets: a slot of a picture as rows and columns. One axis of its stage may be its rows, one its columns; the places on the
// others are fixed, or those of the selection.
import { isOfHeads } from "../pass/axes.js";
import { ofHead, transposed } from "../pass/latex.js";

const NO_AXIS = { name: "", title: "", labels: [""], coordinates: [] };

export function makeSheet(pass, slot, selection) {
  const { stage: name, rows, columns } = slot;
  const stage = pass.stages.get(name), { axes } = stage;
  const held = pass.indexAt(name, selection);
  for (const [axis, place] of Object.entries(slot.fixed)) held[axis] = place;
  const others = axes.map((_, axis) => axis).filter((axis) => axis !== rows && axis !== columns);
  const headed = others.find((axis) => isOfHeads(axes[axis]));
  const of = others.find((axis) => axis !== headed);
  const across = { ...NO_AXIS, labels: [of === undefined ? "" : axes[of].labels[held[of]]] };
  const sheet = {
    name, slot, stage,
    rows: axes[rows] ?? across,
    columns: axes[columns] ?? across,
    symbol: symbolOf(stage.symbol, axes, headed === undefined ? null : held[headed], rows !== null && rows > columns),
    index(row, column) {
      const index = [...held];
      if (rows !== null) index[rows] = row;
      if (columns !== null) index[columns] = column;
      return index;
    },
    // Where the number of that index lies: [row, column], or null if it is not on this sheet.
    placeOf(index) {
      return others.every((axis) => index[axis] === held[axis]) ? [index[rows] ?? 0, index[columns] ?? 0] : null;
    },
  };
  sheet.size = [sheet.rows.labels.length, sheet.columns.labels.length];
  return sheet;
}

export function shapeOf({ size, rows, columns }) {
  const counted = [rows.title, columns.title].filter(Boolean).join(" × ");
  return { lengths: size.join(" × "), counted };
}

// How wide the band of one head is where heads lie side by side on an axis, else 0.
export function bandOf({ coordinates }) {
  return coordinates.length > 1 ? coordinates.at(-1)[1] : 0;
}

// The symbol of one head; of the whole stage, if its heads lie side by side; with `_i`, if each has a row of its own.
function symbolOf(latex, axes, head, isTransposed) {
  const symbol = head !== null ? ofHead(latex, head) : axes.some(isOfHeads) ? latex : latex.replace("_i", "");
  return isTransposed ? transposed(symbol) : symbol;
}
