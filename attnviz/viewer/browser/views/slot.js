// A slot: the stage, head and axes that one matrix of a picture shows, and how its cells look.
import { hasWords, isOfHeads } from "../model/axes.js";
import { ofHead, transposed } from "../model/latex.js";
import { short } from "../model/numeral.js";
import { background, css, textOn } from "../dom/colour.js";

const NO_AXIS = { name: "", title: "", labels: [""], coordinates: [] };

// Places stand in the `order` that is given for the name of their axis, as words do beside those of another pass; those that it
// leaves out are not there. Else they stand as they are counted.
/** @param {Pass} pass */
export function makeSlot(pass, given, selection, order = {}) {
  const { stage: name, rows, columns } = given;
  const stage = pass.stages.get(name),
    { axes } = stage;
  const held = pass.indexAt(name, selection);
  for (const [axis, position] of Object.entries(given.fixed)) held[axis] = position;
  const others = axes.map((_, axis) => axis).filter(axis => axis !== rows && axis !== columns);
  const headed = others.find(axis => isOfHeads(axes[axis]));
  const of = others.find(axis => axis !== headed);
  const heldAt = of === undefined ? "" : axes[of].labels[held[of]];
  const across = { ...NO_AXIS, labels: [heldAt] };
  const orders = [rows, columns].map(axis => axes[axis] && order[axisName(axes[axis])]);
  const slot = {
    name,
    given,
    stage,
    word: of !== undefined && hasWords(axes[of]) ? heldAt : "", // of which alone it is
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
      const placed = (axis, order) => (order ? order.indexOf(index[axis]) : (index[axis] ?? 0));
      const position = [placed(rows, orders[0]), placed(columns, orders[1])];
      return others.every(axis => index[axis] === held[axis]) && !position.includes(-1) ? position : null;
    },
  };
  slot.size = [slot.rows.labels.length, slot.columns.labels.length];
  return slot;
}

// An axis of which positions are left out has no bands.
function ordered(axis, order) {
  return order
    ? {
        ...axis,
        labels: order.map(position => axis.labels[position]),
        ...(axis.coordinates.length > 1 ? { coordinates: [[axisName(axis), 0]] } : {}),
      }
    : axis;
}

// By which an axis is told from others: the same for all stages that it stands in.
export function axisName({ coordinates }) {
  return coordinates.map(([name]) => name).join(".");
}

// All slots of pictures {grid}, row by row.
export function slotsIn(pictures) {
  return pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);
}

// {lengths, counted, some}: how long its axes are, what they count, and of how many how many are there, where some are left out.
export function shapeOf({ size, given, stage, rows, columns }) {
  const counted = [rows.title, columns.title].filter(Boolean).join(" × ");
  const whole = [given.rows, given.columns].map(axis => (axis === null ? 1 : stage.shape[axis]));
  const isWhole = whole.every((length, axis) => size[axis] >= length),
    some = size.map((length, axis) => (length < whole[axis] ? `${length} of ${whole[axis]}` : length)).join(" × ");
  return { lengths: (isWhole ? size : whole).join(" × "), counted, some: isWhole ? "" : some };
}

// The width of the band of one head where heads lie side by side on an axis, else 0.
export function bandOf({ coordinates }) {
  return coordinates.length > 1 ? coordinates.at(-1)[1] : 0;
}

// The symbol of one head; of the whole stage, if its heads lie side by side; with `_i`, if each has a row of its own.
function symbolOf(latex, axes, head, isTransposed) {
  const symbol = head !== null ? ofHead(latex, head) : axes.some(isOfHeads) ? latex : latex.replace("_i", "");
  return isTransposed ? transposed(symbol) : symbol;
}

// `paint` is {pass, look, colours, isApart}: the pass itself, what is shown of it, on what page, and which of its numbers stand
// out beside another pass, where there is one.
export function faceAt(slot, paint, row, column) {
  const { name } = slot;
  const index = slot.index(row, column);
  if (!paint.look.shown(name, index)) return { kind: "to-come", text: "" };
  const value = paint.look.pass.number(name, index);
  const marked = paint.pass.isOverridden(name, index),
    apart = Boolean(paint.isApart?.(name, index));
  if (isHidden(slot, paint.pass, index)) return { kind: "hidden", text: written(value, slot, paint), marked, apart };
  if (value === undefined) return { kind: "waiting", text: "" };
  if (scaleOf(slot, paint).scale === "flag") return { kind: "flag", text: written(value, slot, paint), marked, apart };
  const colour = background(value, scaleOf(slot, paint), paint.colours);
  return {
    kind: "number",
    text: written(value, slot, paint),
    colour: css(colour),
    ink: css(textOn(colour)),
    marked,
    apart,
  };
}

// A key is hidden in the scores, in the attention, and in the mask itself.
export function isHidden({ name, stage }, pass, index) {
  return stage.scale === "flag" ? pass.number(name, index) === 0 : pass.isHidden(name, index);
}

// The colours of the numbers of a slot. Slopes, and differences, share a scale of their own.
export function scaleOf({ name, stage }, { look, limit }) {
  return look.titleOf(name) ? { scale: "signed", limit } : stage;
}

function written(value, slot, paint) {
  if (value === undefined) return "";
  return scaleOf(slot, paint).scale === "flag" ? String(value) : short(value);
}

// The end of the scale that slopes or differences share: the largest of those that are shown.
export function sharedLimit(slots, { pass, titleOf }) {
  let limit = 0;
  for (const slot of slots.filter(({ name }) => titleOf(name))) {
    for (let row = 0; row < slot.size[0]; row += 1) {
      for (let column = 0; column < slot.size[1]; column += 1) {
        const size = Math.abs(pass.number(slot.name, slot.index(row, column)) ?? 0);
        if (size < Infinity) limit = Math.max(limit, size);
      }
    }
  }
  return limit || 1;
}
