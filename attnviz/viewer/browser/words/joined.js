// Joined: two sentences of the same words, one above the other, with lines between the same words.
import { element, scaleOf, svgElement } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";

export function makeJoined() {
  const box = element("div", "joined"),
    lines = svgElement("svg", { "aria-hidden": "true" }),
    rows = ["A", "B"].map(side => Object.assign(element("p", "row"), { ariaLabel: side }));
  box.append(rows[0], lines, rows[1]);
  const write = whenOther(sentences => {
    for (const [at, words] of sentences.entries())
      rows[at].replaceChildren(
        element("strong", "side", rows[at].ariaLabel),
        ...words.map(word => element("span", "word", word)),
      );
  });
  let shown = null;
  const draw = () => {
    const { left, width: drawn } = box.getBoundingClientRect(),
      scale = scaleOf(box),
      width = drawn / scale;
    const middles = rows.map(row =>
      [...row.querySelectorAll(".word")].map(word => {
        const at = word.getBoundingClientRect();
        return (at.left - left + at.width / 2) / scale;
      }),
    );
    lines.setAttribute("viewBox", `0 0 ${Math.max(width, 1)} 20`);
    lines.setAttribute("width", width);
    lines.replaceChildren(
      ...shown.flatMap((place, at) =>
        place === null ? [] : [svgElement("line", { x1: middles[0][place], y1: 1, x2: middles[1][at], y2: 19 })],
      ),
    );
  };
  new ResizeObserver(() => {
    if (shown && !box.hidden) draw();
  }).observe(box);
  return {
    element: box,
    update(pass) {
      const places = pass.document.other.places.query ?? [],
        isSameOrder =
          places.every((place, at) => place === at) && pass.other.document.words.query.length === places.length;
      box.hidden = isSameOrder;
      shown = isSameOrder ? null : places;
      if (isSameOrder) return;
      write([pass.other, pass].map(each => each.document.words.query));
      draw();
    },
  };
}
