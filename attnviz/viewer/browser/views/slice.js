// A slice: the stage, head and axes that one matrix of a picture shows, and how its cells look.
import { axisName, hasWords, isOfHeads } from "../model/axes.js";
import { ofHead, transposed } from "../model/latex.js";
import { short } from "../model/numeral.js";
import { background, css, textOn } from "../dom/colour.js";

const NO_AXIS = { name: "", title: "", labels: [""], coordinates: [] };

/** Positions stand in the `order` for the name of their axis, if there is one, as words do beside those of a second pass; those that
 * it leaves out are not shown. Otherwise they stand in their own order. @param {Pass} pass @param {Selected} selection */
export function makeSlice(pass, spec, selection, order = {}) {
  const { stage: name, rows, columns } = spec,
    stage = pass.stages.get(name),
    { axes } = stage,
    fixed = pass.indexAt(name, selection);
  for (const [axis, position] of Object.entries(spec.fixed)) fixed[axis] = position;
  const others = [...axes.keys()].filter(axis => axis !== rows && axis !== columns),
    headAxis = others.find(axis => isOfHeads(axes[axis])),
    otherAxis = others.find(axis => axis !== headAxis),
    label = otherAxis === undefined ? "" : axes[otherAxis].labels[fixed[otherAxis]],
    [rowOrder, columnOrder] = [rows, columns].map(axis => axes[axis] && order[axisName(axes[axis])]),
    across = { ...NO_AXIS, labels: [label] };
  const slice = {
    name,
    spec,
    stage,
    word: otherAxis !== undefined && hasWords(axes[otherAxis]) ? label : "", // that all its numbers are of
    rows: ordered(name === "positions" && axes[rows] ? ofPlaces(axes[rows]) : (axes[rows] ?? across), rowOrder),
    columns: ordered(axes[columns] ?? across, columnOrder),
    symbol: symbolOf(
      stage.symbol,
      axes,
      headAxis === undefined ? null : fixed[headAxis],
      rows !== null && rows > columns,
    ),
    index(row, column) {
      const index = [...fixed];
      if (rows !== null) index[rows] = rowOrder?.[row] ?? row;
      if (columns !== null) index[columns] = columnOrder?.[column] ?? column;
      return index;
    },
    // Where the number of that index lies: [row, column], or null if it is not in this slice.
    positionOf(index) {
      const placed = (axis, order) => (order ? order.indexOf(index[axis]) : (index[axis] ?? 0)),
        position = [placed(rows, rowOrder), placed(columns, columnOrder)];
      return others.every(axis => index[axis] === fixed[axis]) && !position.includes(-1) ? position : null;
    },
  };
  return { ...slice, size: [slice.rows.labels.length, slice.columns.labels.length] };
}

// A row of positions belongs to a place, whatever stands there.
const ofPlaces = axis => ({ ...axis, labels: axis.labels.map((_, nth) => `place ${nth + 1}`) });

// An axis with some positions left out has no bands.
function ordered(axis, order) {
  if (!order) return axis;
  const coordinates = axis.coordinates.length > 1 ? [[axisName(axis), 0]] : axis.coordinates;
  return { ...axis, labels: order.map(position => axis.labels[position]), coordinates };
}

export const slicesIn = pictures => pictures.flatMap(({ grid }) => grid.flat()).filter(Boolean);

// {lengths, counted, some}: how long its axes are, what they count, and how many of each are shown, if some are left out.
export function shapeOf({ size, spec, stage, rows, columns }) {
  const counted = [rows.title, columns.title].filter(Boolean).join(" × "),
    whole = [spec.rows, spec.columns].map(axis => (axis === null ? 1 : stage.shape[axis])),
    isWhole = whole.every((length, axis) => size[axis] >= length),
    some = size.map((length, axis) => (length < whole[axis] ? `${length} of ${whole[axis]}` : length)).join(" × ");
  return { lengths: (isWhole ? size : whole).join(" × "), counted, some: isWhole ? "" : some };
}

// The width of the band of one head where heads lie side by side on an axis, else 0.
export const bandOf = ({ coordinates }) => (coordinates.length > 1 ? coordinates.at(-1)[1] : 0);

// The symbol of one head; of the whole stage, if its heads lie side by side; with `_i`, if each has a row of its own.
function symbolOf(latex, axes, head, isTransposed) {
  const symbol = head !== null ? ofHead(latex, head) : axes.some(isOfHeads) ? latex : latex.replace("_i", "");
  return isTransposed ? transposed(symbol) : symbol;
}

/** How a cell looks. `paint` is {pass, look, limit, colours, isApart}: the pass, what is shown of it, on what page, and which of its
 * numbers stand out beside a second pass, if there is one.
 * @returns {{kind: string, text: string, marked?: boolean, apart?: boolean, colour?: string, ink?: string}} */
export function faceAt(slice, paint, row, column) {
  const { name } = slice,
    index = slice.index(row, column);
  if (!paint.look.shown(name, index)) return { kind: "to-come", text: "" };
  const value = paint.look.pass.number(name, index),
    scale = scaleOf(slice, paint),
    isFlag = scale.scale === "flag",
    text = value === undefined ? "" : isFlag ? String(value) : short(value),
    face = { text, marked: paint.pass.isOverridden(name, index), apart: Boolean(paint.isApart?.(name, index)) };
  if (isHidden(slice, paint.pass, index)) return { kind: "hidden", ...face };
  if (value === undefined) return { kind: "waiting", text: "" };
  if (isFlag) return { kind: "flag", ...face };
  const colour = background(value, scale, paint.colours);
  return { kind: "number", ...face, colour: css(colour), ink: css(textOn(colour)) };
}

// A key is hidden in the scores, in the attention weights, and in the mask itself.
export const isHidden = ({ name, stage }, pass, index) =>
  stage.scale === "flag" ? pass.number(name, index) === 0 : pass.isHidden(name, index);

// The scale of a slice's colours: slopes, and differences, share one.
export const scaleOf = ({ name, stage }, { look, limit }) => (look.titleOf(name) ? { scale: "signed", limit } : stage);

// The end of the scale that slopes or differences share: the largest of those that are shown.
export function sharedLimit(slices, { pass, titleOf }) {
  let limit = 0;
  for (const slice of slices.filter(({ name }) => titleOf(name))) {
    for (const index of indicesOf(slice)) {
      const size = Math.abs(pass.number(slice.name, index) ?? 0);
      if (size < Infinity) limit = Math.max(limit, size);
    }
  }
  return limit || 1;
}

export const indicesOf = ({ size: [rows, columns], index }) =>
  Array.from({ length: rows * columns }, (_, nth) => index(Math.floor(nth / columns), nth % columns));
