// Slots: one place of a picture as rows and columns. One axis of its stage may be its rows, one its columns; the places on the
// others are fixed, or those of the selection.
import { isOfHeads } from "../pass/axes.js";
import { ofHead, transposed } from "../pass/latex.js";

const NO_AXIS = { name: "", title: "", labels: [""], coordinates: [] };

// Words stand in the `order` that is given for their role, as beside those of another pass; else as they are counted.
export function makeSlot(pass, given, selection, order = {}) {
  const { stage: name, rows, columns } = given;
  const stage = pass.stages.get(name), { axes } = stage;
  const held = pass.indexAt(name, selection);
  for (const [axis, place] of Object.entries(given.fixed)) held[axis] = place;
  const others = axes.map((_, axis) => axis).filter((axis) => axis !== rows && axis !== columns);
  const headed = others.find((axis) => isOfHeads(axes[axis]));
  const of = others.find((axis) => axis !== headed);
  const across = { ...NO_AXIS, labels: [of === undefined ? "" : axes[of].labels[held[of]]] };
  const orders = [rows, columns].map((axis) => order[axes[axis]?.coordinates[0][0]]);
  const slot = {
    name, given, stage,
    rows: ordered(axes[rows] ?? across, orders[0]),
    columns: ordered(axes[columns] ?? across, orders[1]),
    symbol: symbolOf(stage.symbol, axes, headed === undefined ? null : held[headed], rows !== null && rows > columns),
    index(row, column) {
      const index = [...held];
      if (rows !== null) index[rows] = orders[0]?.[row] ?? row;
      if (columns !== null) index[columns] = orders[1]?.[column] ?? column;
      return index;
    },
    // Where the number of that index lies: [row, column], or null if it is not in this slot.
    placeOf(index) {
      const placed = (axis, order) => (order ? order.indexOf(index[axis]) : index[axis] ?? 0);
      return others.every((axis) => index[axis] === held[axis]) ? [placed(rows, orders[0]), placed(columns, orders[1])] : null;
    },
  };
  slot.size = [slot.rows.labels.length, slot.columns.labels.length];
  return slot;
}

function ordered(axis, order) {
  return order ? { ...axis, labels: order.map((place) => axis.labels[place]) } : axis;
}

// All slots of pictures {grid}, row by row.
export function slotsIn(pictures) {
  return pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);
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
