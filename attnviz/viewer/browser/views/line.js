// The sentence as a line of words, and the attention weights at a glance as arcs over it.
import { isMuted } from "../model/changes.js";
import { percent, PERCENTS } from "../model/numeral.js";
import { withHead } from "../model/state.js";
import { element, h, roomy, scaleOf, svgElement, write } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { arcsOf, drawArcs } from "./arcs.js";

const SAID = 4.7; // letters of a word as wide as "under 1 %", which stands below it

// Calls pick(line, position, isShifted) for a click on a word, inspect(position) for one on its attention weight.
export function makeLine(name, { pick, inspect }) {
  const list = h("div", { class: "words", role: "listbox", "aria-label": name, "aria-multiselectable": "true" });
  let words = [],
    sided = [""];
  const line = {
    element: list,
    // Of two passes each share says which it is of: `sides` are "B " and "A ".
    write(texts, unit, sides = [""]) {
      list.ariaDescription = `Enter asks about a ${unit}, Shift and Enter about its share`;
      sided = sides;
      words = texts.map((text, position) => {
        const word = element("button");
        word.type = "button";
        word.setAttribute("role", "option");
        word.append(
          element("span", "text", text),
          ...sides.map((side, nth) => makeText(side, nth ? "said in-a" : "said")),
        );
        word.onclick = ({ target, shiftKey }) =>
          target.closest(".said") ? inspect(position) : pick(line, position, shiftKey);
        return word;
      });
      list.replaceChildren(...words);
      list.style.setProperty(
        "--letters",
        texts.reduce((sum, text) => sum + 0.5 + 0.55 * [...text].length, 0),
      );
      list.style.setProperty(
        "--in-line",
        texts.reduce((sum, text) => sum + 0.95 + 0.5 * [...text].length, SAID),
      );
      list.style.setProperty(
        "--ems",
        texts.reduce((sum, text) => sum + 1.1 + 0.55 * Math.max([...text].length, SAID), 0),
      );
    },
    // `held` is the key that is selected, whichever one points at: what is said beside it moves no word as one does. said(position,
    // nth) is of the so many-th side.
    light({ query, key, held }, textAt) {
      words.forEach((word, position) => {
        word.classList.toggle("held", position === held);
        word.classList.toggle("query", position === query);
        word.classList.toggle("key", position === key);
        word.setAttribute("aria-selected", position === query || position === key);
        word.ariaDescription = [...(position === query ? ["query"] : []), ...(position === key ? ["key"] : [])].join(
          " and ",
        );
        for (const [nth, each] of [...word.querySelectorAll(".said")].entries())
          writeText(each, sided[nth], textAt(position, nth));
      });
      setTabStop(words, words[query ?? key]);
    },
    // The middle of each word.
    middles(origin) {
      const { left } = origin.getBoundingClientRect(),
        scale = scaleOf(origin);
      return words.map(word => {
        const at = word.getBoundingClientRect();
        return { x: (at.left - left + at.width / 2) / scale };
      });
    },
    show(position, scroller) {
      const word = words[position];
      if (!word || scroller.scrollWidth <= scroller.clientWidth) return;
      scroller.scrollLeft = word.offsetLeft + word.offsetWidth / 2 - scroller.clientWidth / 2;
    },
  };
  rovingFocus(list, () => [words]);
  return line;
}

// The text under a word, in the room of a percentage; of one of two passes it says first of which.
function makeText(side, className) {
  const made = roomy(
    "span",
    className,
    "",
    PERCENTS.map(share => side + share),
  );
  const line = h("span", {}, element("span", "of"), "");
  made.append(line);
  return made;
}

function writeText({ firstChild: { firstChild: of, lastChild } }, side, text) {
  write(of, text && side);
  if (lastChild.data !== text) lastChild.data = text;
}

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
      const positions = words.map((_, position) => ({ x: ((position + 0.5) * width) / words.length }));
      button.setAttribute("aria-pressed", head === cell.head);
      write(label, `${heads.length > 1 ? `Head ${head + 1}: ` : ""}${mostOf(shares, words, pass.document.words.unit)}`);
      drawArcs(
        arcs,
        {
          from: positions,
          to: positions,
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
        ...positions.map(({ x }, position) =>
          svgElement("rect", {
            x: x - (0.4 * width) / words.length,
            width: (0.8 * width) / words.length,
            y: height - LINE_PX,
            height: LINE_PX,
            class: position === cell.query ? "query" : position === cell.key ? "key" : "word",
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

// The word with the largest attention weight, and the weight.
function mostOf(shares, words, unit) {
  const most = Math.max(...shares);
  if (Number.isNaN(most)) return "click to load it";
  return most > 0 ? `“${words[shares.indexOf(most)]}” ${percent(most)}` : `sees no ${unit}`;
}
