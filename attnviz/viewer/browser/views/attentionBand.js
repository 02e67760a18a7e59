// The attention of one word to the others as a band of arcs, which all leave it side by side: thicker for more.
import { LITTLE, littleLine, percent } from "../model/numeral.js";
import { button, h, memoLast, middlesOf, rovingFocus, scaleOf, setTabStop, svgElement, write } from "../dom/element.js";

/** How the arcs leave the asking word, from left to right: each group of words with its farthest outermost, so that none cross. */
export const fannedOut = (count, asking) => [
  asking,
  ...Array.from({ length: asking }, (_, nth) => asking - 1 - nth),
  ...Array.from({ length: count - asking - 1 }, (_, nth) => count - 1 - nth),
];

/** The words, and from the asking one a band of arcs that is as wide as all of its attention. pick(query) is called for a click on a word,
 * inspect(key) for one on an arc or its percentage. */
export function makeAttentionBand({ pick, inspect }) {
  const svg = svgElement("svg", { class: "band", "aria-hidden": "true" }),
    line = h("div", { class: "words", role: "group" }),
    little = h("p", { class: "little digits" }),
    box = h("div", { class: "band-of" }, svg, line, little);
  let words = /** @type {any[]} */ ([]),
    names = /** @type {string[]} */ ([]),
    arcs = [],
    asking = 0,
    layout = /** @type {any} */ (null);
  rovingFocus(line, () => [words]);
  const writeWords = memoLast(([texts, now, unit]) => {
    const hasFocus = line.contains(line.getRootNode().activeElement);
    line.setAttribute("aria-label", `The ${unit}s, and what “${texts[now]}” takes from each`);
    line.ariaDescription = `Enter asks about a ${unit}, Shift and Enter about its weight`;
    asking = now;
    names = texts;
    words = texts.map((text, place) => {
      const share = h("span", { class: "share digits" }),
        word = button("", ({ target, shiftKey }) => (target === share || shiftKey ? inspect(place) : pick(place)));
      word.append(h("span", { class: "text" }, text), share);
      word.classList.toggle("asking", place === now);
      return word;
    });
    arcs = texts.map(() => svgElement("path", { class: "arc" }));
    svg.replaceChildren(...arcs);
    line.replaceChildren(...words);
    line.style.setProperty(
      "--ems",
      String(texts.reduce((sum, text) => sum + Math.max(0.55 * text.length, 1.9) + 0.5, 0)),
    );
    setTabStop(words, words[now]);
    if (hasFocus) words[now].focus({ preventScroll: true });
  });
  for (const [kind, isOn] of Object.entries({ pointerover: true, pointerout: false }))
    svg.addEventListener(kind, ({ target }) => words[arcs.indexOf(target)]?.classList.toggle("lit", isOn));
  svg.addEventListener("click", ({ target }) => arcs.includes(target) && inspect(arcs.indexOf(target)));
  return {
    element: box,
    writeWords,
    lay(isColumn) {
      box.classList.toggle("column", isColumn);
      const scale = scaleOf(box),
        [{ height, width }, { top }] = [svg, box].map(each => each.getBoundingClientRect()),
        middles = isColumn
          ? words.map(word => word.getBoundingClientRect()).map(each => (each.top - top + each.height / 2) / scale)
          : middlesOf(words, svg).map(({ x }) => x),
        room = (isColumn ? width : height) / scale,
        whole = (isColumn ? 0.08 : Math.min(0.17, (0.065 * width) / height)) * room;
      layout = {
        isColumn,
        middles,
        room,
        whole,
        longest: Math.max(...middles.map(each => Math.abs(each - middles[asking]))),
      };
      svg.setAttribute("viewBox", `0 0 ${width / scale} ${height / scale}`);
    },
    draw(weights) {
      const { isColumn, middles, room, whole, longest } = layout,
        point = (along, out) => (isColumn ? [out, along] : [along, room - out]).map(each => each.toFixed(2)).join(" ");
      let start = middles[asking] - whole / 2;
      for (const key of fannedOut(weights.length, asking)) {
        const thick = weights[key] * whole,
          from = start + thick / 2,
          to = key === asking ? middles[asking] - 0.75 * whole : middles[key],
          far = (Math.abs(to - from) / Math.max(longest, 1)) ** 0.75,
          out = ((0.09 + 0.81 * far) * (room - whole / 2) * 4) / 3;
        arcs[key].setAttribute("d", `M${point(from, 0)}C${point(from, out)} ${point(to, out)} ${point(to, 0)}`);
        arcs[key].setAttribute("stroke-width", thick.toFixed(2));
        arcs[key].style.display = weights[key] < LITTLE ? "none" : "";
        start += thick;
      }
    },
    print(weights) {
      for (const [key, word] of words.entries())
        write(word.lastChild, weights[key] < LITTLE ? "" : percent(weights[key]));
      write(little, littleLine(names.filter((_, key) => weights[key] > 0 && weights[key] < LITTLE)));
    },
  };
}
