// Faces: what one cell of a slot shows: its digits, and the colours they stand in.
import { background, css, textOn } from "../elements/colour.js";
import { short } from "../pass/numeral.js";

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
