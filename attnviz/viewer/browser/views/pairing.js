// Two passes beside each other: where they first differ, and by how much.
import { pairOf } from "../model/looks.js";
import { COMPARISONS } from "../model/state.js";
import { button, choice, element, h, redraw, scaleOf, svgElement, write } from "../dom/element.js";
import { whenOther } from "../dom/timing.js";

function makeJoined() {
  const lines = svgElement("svg", { "aria-hidden": "true" }),
    rows = ["A", "B"].map(side => Object.assign(element("p", "row"), { ariaLabel: side }));
  const box = h("div", { class: "joined" }, rows[0], lines, rows[1]);
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
      ...shown.flatMap((position, at) =>
        position === null ? [] : [svgElement("line", { x1: middles[0][position], y1: 1, x2: middles[1][at], y2: 19 })],
      ),
    );
  };
  new ResizeObserver(() => {
    if (shown && !box.hidden) draw();
  }).observe(box);
  return {
    element: box,
    update(pass) {
      const positions = pass.document.other.places.query ?? [],
        isSameOrder =
          positions.every((position, at) => position === at) &&
          pass.other.document.words.query.length === positions.length;
      box.hidden = isSameOrder;
      shown = isSameOrder ? null : positions;
      if (isSameOrder) return;
      write([pass.other, pass].map(each => each.document.words.query));
      draw();
    },
  };
}

const NAMES = { both: "A and B", difference: "B − A" };
const SAME_SO_FAR = "A is pinned. Change anything: what you see then is B.";

export function makePairing(tools) {
  const box = element("section", "pairing"),
    sides = element("p", "sides"),
    parted = element("p", "parted"),
    views = element("span"),
    joined = makeJoined();
  box.setAttribute("aria-label", "Two passes");
  const exchange = button("Swap", () => tools.send("exchange", true)),
    end = button("Unpin", () => tools.send("unpin", true));
  const acts = element("div", "acts"),
    first = button("", () => {}, "link");
  exchange.title = "A and B change places";
  acts.append(views, exchange, end);
  box.append(joined.element, sides, parted, acts);
  exchange.hidden = end.hidden = Boolean(tools.alone);
  const drawViews = whenOther(present =>
    redraw(views, [choice(COMPARISONS, present, compare => tools.go({ compare }), NAMES)]),
  );
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const { other } = pass.document;
    box.hidden = !other;
    if (box.hidden) return;
    joined.update(pass);
    const { between } = other,
      rows = joined.element.hidden ? between : between.filter(([name]) => name !== "Sentence");
    redraw(
      sides,
      !between.length ? [SAME_SO_FAR] : rows.length ? [sideOf("A", rows, 1), " ", sideOf("B", rows, 2)] : [],
    );
    sides.title = between.map(([name, one, now]) => `${name}: ${now} instead of ${one}`).join("; ");
    write(first, other.parted);
    first.onclick = () => tools.pick(other.first, other.at);
    const word = pass.document.words.query[where.cell.query],
      isAlone = pairOf(pass, where).isThere ? "" : ` A has no “${word}”.`;
    redraw(parted, !between.length ? [] : [other.first ? first : other.parted, isAlone]);
    drawViews(where.compare);
  };
  return { element: box, update };
}

// The announcement as a pass is pinned, or becomes another than the one beside it; "" where none is.
/** @param {Pass} pass */
export function pairingText({ document: { other } }) {
  return !other ? "" : other.between.length ? `A and B beside each other. ${other.parted}` : SAME_SO_FAR;
}

// The settings in which one of two passes differs: of A in position 1, of B in position 2.
export function sideText(
  {
    document: {
      other: { between },
    },
  },
  position,
) {
  return textOf(between, position);
}

function textOf(rows, position) {
  return rows.map(each => `${each[0]}: ${each[position]}`).join("; ");
}

function sideOf(name, rows, position) {
  return h("span", { class: `side ${name}` }, element("strong", "", name), " ", textOf(rows, position));
}
