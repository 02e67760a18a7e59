// Sides: the pictures of a step for two passes beside each other: what the step computes, as A has it and as B has it.
import { makeSlot } from "./slot.js";
import { slotsOf } from "../scene/state.js";

// The places of A for those of B that an `order` leaves.
function inA(order, words) {
  const both = Object.keys(order)
    .filter(name => words[name])
    .map(name => [name, order[name].map(place => words[name][place])]);
  return { ...order, ...words, ...Object.fromEntries(both) };
}

// Each slot knows its `side`, and whether it stands in A.
export function sidesOf(step, pass, where, pair, order = {}) {
  const results = [
    ...new Map(
      slotsOf(step)
        .filter(({ result }) => result)
        .map(given => [JSON.stringify([given.stage, given.rows, given.columns]), { ...given, sign: "", after: "" }]),
    ).values(),
  ];
  return results.map(given => {
    const b = { ...makeSlot(pass, given, where.cell, order), side: "B" };
    const isThere = pair.pass.stages.get(given.stage)?.axes.length === pass.stages.get(given.stage).axes.length;
    const a = isThere ? [{ ...makeSlot(pair.pass, given, pair.where.cell, inA(order, pair.order)), side: "A" }] : [];
    return { turns: true, grid: [[...a, b]] };
  });
}
