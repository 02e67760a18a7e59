// Sides: the pictures of a step for two passes beside each other: what the step computes, as A has it and as B has it.
import { makeSlot } from "./slot.js";
import { slotsOf } from "../scene/state.js";

// Each slot knows its `side`, and whether it stands in A.
export function sidesOf(step, pass, where, pair) {
  const results = [...new Map(slotsOf(step).filter(({ result }) => result).map((given) => [JSON.stringify([given.stage, given.rows, given.columns]), { ...given, sign: "", after: "" }])).values()];
  return results.map((given) => {
    const b = { ...makeSlot(pass, given, where.cell), side: "B" };
    const isThere = pair.pass.stages.get(given.stage)?.axes.length === pass.stages.get(given.stage).axes.length;
    const a = isThere ? [{ ...makeSlot(pair.pass, given, pair.where.cell, pair.order), side: "A" }] : [];
    return { turns: true, grid: [[...a, b]] };
  });
}
