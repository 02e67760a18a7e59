// Faces: what a cell of the sheet shows: its digits and their colours, the cell of the pass that it opens, and how it is heard.
import { background, css, mixed, textOn } from "../elements/colour.js";
import { digits, short } from "../pass/numeral.js";
import { faceAt } from "../picture/face.js";
import { factorsAt, sumOfProducts } from "./bandParts.js";

const FAINTEST = 0.12; // of a value's colour, where its share is nothing
export const TO_COME = { kind: "to-come", text: "" };
export const NOTHING = { kind: "blank", text: "" };

export function cellAt(part, paint, row, column) {
  if (!part.isThere) return TO_COME;
  if (part.band.array) return arrayAt(part, paint, column);
  const face = numberAt(part.cells, paint, row, column);
  return part.right?.columns.name === "" && face.kind === "number" ? { ...face, ...faded(part, paint, row, column) } : face;
}

// A number of the pass, and what it was before others were set by hand.
export function numberAt(slot, paint, row, column) {
  const { name } = slot, index = slot.index(row, column), old = paint.before(name, index);
  const value = paint.pass.number(name, index), face = faceAt(slot, paint, row, column);
  return { ...face, cell: { name, index }, label: `${paint.pass.nameOf(name, index)} = ${digits(value ?? 0)}`, was: old !== undefined && old !== value ? short(old) : "" };
}

// A number that the stage's rule holds and no stage: it opens as the share that it becomes.
function arrayAt({ cells, band: { array, label } }, { pass, colours }, column) {
  const index = cells.index(0, column), value = pass.named(cells.name, array, index)[column];
  const colour = background(value, { scale: "share" }, colours);
  return { kind: "number", text: short(value), colour: css(colour), ink: css(textOn(colour)), array, cell: { name: cells.name, index }, label: `${label} = ${digits(value)}` };
}

// A value is as strong as its share.
function faded(part, { pass, look, colours }, row, column) {
  const [share] = factorsAt(pass, part, row, column), { stage } = part.cells;
  const most = Math.max(...Array.from({ length: part.cells.size[1] }, (_, at) => factorsAt(pass, part, row, at)[0])) || 1;
  const own = background(look.pass.number(part.cells.name, part.cells.index(row, column)), stage, colours);
  const colour = mixed(own, colours.page, FAINTEST + (1 - FAINTEST) * Math.max(0, share / most));
  return { colour: css(colour), ink: css(textOn(colour)) };
}

// The products of all rows that stand together.
export function togetherAt(part, { pass }, column) {
  if (!part.isThere || !part.left) return NOTHING;
  const sum = sumOfProducts(pass, part, part.others, column);
  return { kind: "together", text: short(sum), label: `${part.others.length} other products together = ${digits(sum)}` };
}
