// Two passes, A and B: the settings in which they differ, where they first differ, and by how much.
import { pairOf } from "../model/looks.js";
import { COMPARISONS } from "../model/state.js";
import { button, choice, h, memoLast, middlesOf, redraw, scaleOf, svgElement, write } from "../dom/element.js";

// The sentences of A and B, with a line from each word to the same one, where these are not in the same order.
function makeJoinedSentences() {
  const lines = svgElement("svg", { "aria-hidden": "true" }),
    rows = ["A", "B"].map(side => h("p", { class: "row", ariaLabel: side })),
    box = h("div", { class: "joined" }, rows[0], lines, rows[1]);
  const write = memoLast(sentences => {
    for (const [nth, words] of sentences.entries())
      rows[nth].replaceChildren(
        h("strong", { class: "side" }, rows[nth].ariaLabel),
        ...words.map(word => h("span", { class: "word" }, word)),
      );
  });
  let positionsInA = null;
  const draw = () => {
    const width = box.getBoundingClientRect().width / scaleOf(box),
      [a, b] = rows.map(row => middlesOf([...row.querySelectorAll(".word")], box));
    const drawn = positionsInA.flatMap((position, at) =>
      position === null ? [] : [svgElement("line", { x1: a[position].x, y1: 1, x2: b[at].x, y2: 19 })],
    );
    lines.setAttribute("viewBox", `0 0 ${Math.max(width, 1)} 20`);
    lines.setAttribute("width", String(width));
    lines.replaceChildren(...drawn);
  };
  new ResizeObserver(() => {
    if (positionsInA && !box.hidden) draw();
  }).observe(box);
  return {
    element: box,
    update(pass) {
      const positions = pass.document.other.places.query ?? [],
        isSameLength = pass.other.document.words.query.length === positions.length;
      box.hidden = isSameLength && positions.every((position, at) => position === at);
      positionsInA = box.hidden ? null : positions;
      if (box.hidden) return;
      write([pass.other, pass].map(each => each.document.words.query));
      draw();
    },
  };
}

const NAMES = { both: "A and B", difference: "B − A" };
const SAME_SO_FAR = "A is pinned. Change anything: what you see then is B.";

export function makePairing(tools) {
  const joined = makeJoinedSentences(),
    sides = h("p", { class: "sides" }),
    differs = h("p", { class: "parted" }),
    views = h("span"),
    first = button("", () => {}, "link"),
    swap = button("Swap", () => tools.send("exchange", true)),
    unpin = button("Unpin", () => tools.send("unpin", true));
  const acts = h("div", { class: "acts" }, views, swap, unpin),
    box = h("section", { class: "pairing", "aria-label": "Two passes" }, joined.element, sides, differs, acts);
  swap.title = "A and B change places";
  swap.hidden = unpin.hidden = Boolean(tools.alone);
  const drawViews = memoLast(present =>
    redraw(views, [choice(COMPARISONS, present, compare => tools.go({ compare }), NAMES)]),
  );
  /** @type {View["update"]} */
  const update = (pass, where) => {
    const { other } = pass.document;
    box.hidden = !other;
    if (!other) return;
    joined.update(pass);
    const { between } = other,
      rows = joined.element.hidden ? between : between.filter(([name]) => name !== "Sentence"),
      sideLines = rows.length ? [sideOf("A", rows, 1), " ", sideOf("B", rows, 2)] : [];
    redraw(sides, between.length ? sideLines : [SAME_SO_FAR]);
    sides.title = between.map(([name, one, now]) => `${name}: ${now} instead of ${one}`).join("; ");
    write(first, other.parted);
    first.onclick = () => tools.pick(other.first, other.at);
    const word = pass.document.words.query[where.cell.query],
      isAlone = pairOf(pass, where)?.isThere ? "" : ` A has no “${word}”.`;
    redraw(differs, between.length ? [other.first ? first : other.parted, isAlone] : []);
    drawViews(where.compare);
  };
  return { element: box, update };
}

/** The announcement as a pass is pinned, or the one compared with it changes; "" without one. @param {Pass} pass */
export function pairingText({ document: { other } }) {
  if (!other) return "";
  return other.between.length ? `A and B beside each other. ${other.parted}` : SAME_SO_FAR;
}

// The settings in which one of two passes differs: of A in position 1, of B in position 2.
export const sideText = ({ document }, position) => textOf(document.other.between, position);
const textOf = (rows, position) => rows.map(each => `${each[0]}: ${each[position]}`).join("; ");

const sideOf = (name, rows, position) =>
  h("span", { class: `side ${name}` }, h("strong", {}, name), " ", textOf(rows, position));
