// The strip: where the selected word looks, as arcs above the words of the sheet.
import { svgElement } from "../elements/element.js";
import { isMuted } from "../pass/muting.js";
import { arcsOf, drawArcs } from "../picture/arcs.js";

// update(content, header, height): the header of the words that arcs stand over; a strip of no height is hidden. Its room is
// there before shares were computed.
export function makeStrip(tools) {
  const svg = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
  return {
    element: svg,
    update({ pass, where: { cell }, look, attention }, header, height) {
      svg.toggleAttribute("hidden", !height);
      const words = height ? header.middles(svg) : [],
        at = part => pass.indexAt(attention, { ...cell, ...part });
      drawArcs(
        svg,
        {
          from: words,
          to: words,
          height,
          side: "above",
          most: pass.stages.get(attention).limit,
          isMuted: isMuted(pass, attention, cell.head),
        },
        height ? arcsOf(pass, look, attention, cell) : [],
        {
          pick: ({ key }) => tools.pick(attention, at({ key })),
          point: arc => tools.point(attention, arc && at(arc)),
        },
      );
    },
  };
}
