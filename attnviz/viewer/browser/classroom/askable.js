// Askable: which questions a class may be asked of the number that is selected. The server holds it, too.
import { visibleRow } from "../pass/row.js";

const ROWS = ["scores", "scaled", "masked", "attention"],
  SHARES = ["attention", "probabilities"];

const GIVEN = "It is given, so there is nothing to work it out from. Select a number that is computed.",
  HIDDEN = "The mask hides this pair. Select a visible one.",
  ALONE = "This word sees one word alone, which has all of its attention. Select another row.";

// {kinds, why}: of "number", "share" and "word" those that have an answer to find; without one of a number, why that is so.
/** @param {Pass} pass @param {Cell} cell */
export function askableOf(pass, { name, index }) {
  const [stage] = name.split(/_\d+$/),
    why = reasonOf(pass, { name, index }, SHARES.includes(stage)),
    ofNumber = SHARES.includes(stage) ? "share" : "number";
  return { kinds: [...(why ? [] : [ofNumber]), ...(ROWS.includes(stage) ? ["word"] : [])], why };
}

/** @param {Pass} pass @param {Cell} cell */
function reasonOf(pass, { name, index }, isShare) {
  if (!pass.stages.get(name).rule || pass.isOverridden(name, index)) return GIVEN;
  if (!Number.isFinite(pass.number(name, index)) || (isShare && pass.isUnseen(name, index))) return HIDDEN;
  return isShare && visibleRow(pass, { name, index }).length < 2 ? ALONE : "";
}
