// A glance: where the selected word of a long sentence looks, in every head, as arcs over words that are too many to be named.
import { arcsOf, drawArcs } from "../picture/arcs.js";
import { element, svgElement, write } from "../elements/element.js";
import { isMuted } from "../pass/muting.js";
import { percent } from "../pass/numeral.js";
import { withHead } from "../scene/state.js";

const LINE_PX = 3; // of the words, below the arcs

export function makeGlance(tools) {
  const box = element("div", "glance");
  let heads = [],
    shown = null;
  const draw = () => {
    const {
        pass,
        where: { cell },
        look,
        attention,
      } = shown,
      { limit, axes } = pass.stages.get(attention),
      words = axes[2].labels;
    heads.forEach(({ button, label, svg, arcs, line }, head) => {
      const here = { ...cell, head },
        { clientWidth: width, clientHeight: height } = svg,
        shares = pass.row(attention, pass.indexAt(attention, here));
      const places = words.map((_, place) => ({ x: ((place + 0.5) * width) / words.length }));
      button.setAttribute("aria-pressed", head === cell.head);
      write(label, `${heads.length > 1 ? `Head ${head + 1}: ` : ""}${mostOf(shares, words, pass.document.words.unit)}`);
      drawArcs(
        arcs,
        {
          from: places,
          to: places,
          height: height - LINE_PX,
          side: "above",
          most: limit,
          isMuted: isMuted(pass, attention, head),
        },
        arcsOf(pass, look, attention, here),
        {
          pick: ({ key }) => tools.inspect(attention, pass.indexAt(attention, { ...here, key })),
          point: arc => tools.point(attention, arc && pass.indexAt(attention, { ...here, ...arc })),
        },
      );
      line.replaceChildren(
        ...places.map(({ x }, place) =>
          svgElement("rect", {
            x: x - (0.4 * width) / words.length,
            width: (0.8 * width) / words.length,
            y: height - LINE_PX,
            height: LINE_PX,
            class: place === cell.query ? "query" : place === cell.key ? "key" : "word",
          }),
        ),
      );
    });
  };
  const build = count => {
    heads = Array.from({ length: count }, (_, head) => {
      const item = element("div", "head"),
        button = element("button"),
        label = element("span"),
        svg = svgElement("svg", { class: "arcs", "aria-hidden": "true" });
      const arcs = svgElement("g"),
        line = svgElement("g");
      button.type = "button";
      svg.append(arcs, line);
      button.append(label);
      button.onclick = () => tools.go(withHead(shown.where, head));
      item.append(button, svg);
      return { item, button, label, svg, arcs, line };
    });
    box.replaceChildren(...heads.map(({ item }) => item));
  };
  const observer = new ResizeObserver(() => {
    if (shown) draw();
  });
  observer.observe(box);
  return {
    element: box,
    // Of the stage `attention`; nothing where it is null.
    update(pass, where, look, attention) {
      box.hidden = attention === null;
      shown = box.hidden ? null : { pass, where, look, attention };
      if (!shown) return;
      const {
        shape: [count],
      } = pass.stages.get(attention);
      if (count !== heads.length) build(count);
      draw();
    },
  };
}

// The word with the largest share, and how large that is.
function mostOf(shares, words, unit) {
  const most = Math.max(...shares);
  if (Number.isNaN(most)) return "click to load it";
  return most > 0 ? `“${words[shares.indexOf(most)]}” ${percent(most)}` : `sees no ${unit}`;
}
