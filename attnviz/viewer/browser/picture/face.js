// Faces: what one cell of a sheet shows: its digits, and the colours they stand in.
import { background, css, textOn } from "../elements/colour.js";
import { short } from "../pass/numeral.js";

// `paint` is {pass, look, colours}: the pass itself, what is shown of it, and on what page.
export function faceAt(sheet, paint, row, column) {
  const { name } = sheet;
  const index = sheet.index(row, column);
  if (!paint.look.shown(name, index)) return { kind: "to-come", text: "" };
  const value = paint.look.pass.number(name, index);
  const marked = paint.pass.isOverridden(name, index);
  if (isHidden(sheet, paint.pass, index)) return { kind: "hidden", text: written(value, sheet, paint), marked };
  if (value === undefined) return { kind: "waiting", text: "" };
  if (scaleOf(sheet, paint).scale === "flag") return { kind: "flag", text: written(value, sheet, paint), marked };
  const colour = background(value, scaleOf(sheet, paint), paint.colours);
  return { kind: "number", text: written(value, sheet, paint), colour: css(colour), ink: css(textOn(colour)), marked };
}

// A key is hidden in the scores, in the attention, and in the mask itself.
export function isHidden({ name, stage }, pass, index) {
  return stage.scale === "flag" ? pass.number(name, index) === 0 : pass.isHidden(name, index);
}

// How the numbers of a sheet are coloured. Slopes, and differences, share a scale of their own.
export function scaleOf({ name, stage }, { look, limit }) {
  return look.titleOf(name) ? { scale: "signed", limit } : stage;
}

function written(value, sheet, paint) {
  if (value === undefined) return "";
  return scaleOf(sheet, paint).scale === "flag" ? String(value) : short(value);
}

// The end of the scale that slopes or differences share: the largest of those that are shown.
export function sharedLimit(sheets, { pass, titleOf }) {
  let limit = 0;
  for (const sheet of sheets.filter(({ name }) => titleOf(name))) {
    for (let row = 0; row < sheet.size[0]; row += 1) {
      for (let column = 0; column < sheet.size[1]; column += 1) {
        const size = Math.abs(pass.number(sheet.name, sheet.index(row, column)) ?? 0);
        if (size < Infinity) limit = Math.max(limit, size);
      }
    }
  }
  return limit || 1;
}
