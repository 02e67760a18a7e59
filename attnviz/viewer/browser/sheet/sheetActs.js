// The sheet's acts: what its cells and words do when they are clicked, besides what the tools of all pictures do.
import { sourceAt } from "../scene/state.js";

// now() gives {pass, where}; edit(cell, at) sets a number by hand where it stands; open(key) opens or closes a part.
export function makeSheetActs(tools, now, { edit, open }) {
  return {
    ...tools,
    edit,
    open,
    // In one sentence a word asks, and with Shift it is asked, as in the line of words.
    select: (axis, place, isShifted) => {
      const { pass, where } = now(),
        role = axis === "key" && pass.document.words.shared && !isShifted ? "query" : axis;
      tools.go({ cell: { ...where.cell, [role]: place }, trail: [] });
    },
    // The sheet of the word that a key or value of a later layer is from: what the layer before made of it.
    follow: layer => {
      const { pass, where } = now(),
        step = pass.document.steps.findLast(({ page, bands }) => page === `words-${layer}` && bands.length);
      tools.go({ step: step.id, reveal: null, cell: { ...where.cell, query: where.cell.key }, trail: [] });
    },
    trace: from => {
      const { pass, where } = now(),
        source = sourceAt(pass, { ...where, from });
      tools.go({ from, trail: [], ...(source && { picked: source.bands.at(-1).cells.stage }) });
    },
  };
}
