// Two passes, A and B: the settings in which they differ, where they first differ, and by how much.
import { pairOf, placesAlong } from "../model/looks.js";
import { COMPARISONS } from "../model/state.js";
import { hasTwoRows } from "../model/twoTexts.js";
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
  const observer = new ResizeObserver(() => {
    if (positionsInA && !box.hidden) draw();
  });
  for (const each of [box, ...rows]) observer.observe(each); // words become wider once their font has come
  return {
    element: box,
    update(pass, where) {
      const { step } = where;
      const sentences = [pass.other, pass].map(each => each.wordsAt(step).query),
        { attention } = pass.document.steps.find(({ id }) => id === step),
        [, queries] = pass.stages.get(attention).axes,
        positions = placesAlong(pass.document.other.places, attention, queries) ?? [],
        isSameLength = sentences[0].length === positions.length;
      box.hidden = hasTwoRows(pass, where) || (isSameLength && positions.every((position, at) => position === at));
      positionsInA = box.hidden ? null : positions;
      if (box.hidden) return;
      write(sentences);
      draw();
    },
  };
}

// What a comparison is about: a small matrix of A and of B, a row a word; a digit is how dark a cell is, a dot no cell.
const SKETCHES = {
  change: ["1111 1111 1111", "1111 1131 1111"],
  mask: ["2222 2222 2222 2222", "2... 22.. 222. 2222"],
  scaled: ["1212 2121 1221 2112", "0300 3000 0030 0003"],
  positions: ["1313 1313 1313 1313", "3100 1310 0131 0013"],
  heads: ["2222 2222 2222 2222", "33.11 33.11 33.11 33.11"],
  layers: [".... 2222 2222 ....", "2222 .... 3333 ...."],
  sharing: ["0.1.2.3 0.1.2.3 0.1.2.3 0.1.2.3", "3.3.3.3 3.3.3.3 3.3.3.3 3.3.3.3"],
  seed: ["3120 0213 2031 1302", "0231 3102 1320 2013"],
  training: ["1111 1111 1111 1111", "0300 0030 3000 0003"],
  attention: ["0000 0000 0000", "1300 0130 0031"],
  mlp: ["1111 .... ....", "1111 .... 3333"],
  words: [".... 0123 0123 ....", ".... 2031 2031 ...."],
};

/** The sketch of a comparison, or an empty one of the same size. @param {string} id */
export function drawComparison(id) {
  const cells = (SKETCHES[id] ?? []).flatMap((matrix, side) =>
    matrix.split(" ").flatMap((row, y) =>
      [...row].flatMap((level, x) => {
        const at = { x: 24 * side + 20 * (x / row.length), y: y * 5, width: 20 / row.length - 1, height: 4 };
        return level === "." ? [] : [svgElement("rect", { ...at, class: `level-${level}` })];
      }),
    ),
  );
  return svgElement("svg", { viewBox: "0 0 44 20", class: "sketch", "aria-hidden": "true" }, cells);
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
  const actionBar = h("div", { class: "acts" }, views, swap, unpin),
    box = h("section", { class: "pairing", "aria-label": "Two passes" }, joined.element, sides, differs, actionBar);
  swap.title = "A and B change places";
  swap.hidden = unpin.hidden = Boolean(tools.alone);
  const drawViews = memoLast(present =>
    redraw(views, [choice(COMPARISONS, present, compare => tools.go({ compare }), NAMES)]),
  );
  /** @type {View["update"]} */
  const update = (pass, where, look) => {
    const { other } = pass.document;
    box.hidden = !other;
    if (!other) return;
    joined.update(pass, where);
    const between = differencesIn(pass, look),
      rows = joined.element.hidden ? between : between.filter(([name]) => name !== "Sentence"),
      sideLines = rows.length ? [sideOf("A", rows, 1), " ", sideOf("B", rows, 2)] : [];
    redraw(sides, other.between.length ? sideLines : [SAME_SO_FAR]);
    box.hidden = joined.element.hidden && !sides.textContent;
    sides.title = between.map(([name, one, now]) => `${name}: ${now} instead of ${one}`).join("; ");
    write(first, other.parted);
    first.onclick = () => tools.pick(other.first, other.at);
    const word = pass.wordsAt(where.step).query[where.cell.query],
      isAlone = pairOf(pass, where)?.isThere ? "" : ` A has no “${word}”.`;
    redraw(differs, between.length ? [other.first ? first : other.parted, isAlone] : []);
    drawViews(where.compare);
    views.hidden = hasTwoRows(pass, where); // B − A has no picture there
  };
  return { element: box, update };
}

/** The announcement as a pass is pinned, or the one compared with it changes; "" without one. @param {Pass} pass */
export function pairingText({ document: { other } }) {
  if (!other) return "";
  return other.between.length ? `A and B beside each other. ${other.parted}` : SAME_SO_FAR;
}

// The settings in which two passes differ, each with its name, its value in A and in B. What is set by hand may be what a question asks for.
/** @param {Pass} pass @param {Look} look */
const differencesIn = ({ document }, { isAsked }) =>
  (document.other?.between ?? []).filter(([name]) => !isAsked || name !== BY_HAND);
const BY_HAND = "Set by hand";

// Those of A in position 1, of B in position 2.
export const sideText = (pass, position, look) => textOf(differencesIn(pass, look), position);
const textOf = (rows, position) => rows.map(each => `${each[0]}: ${each[position]}`).join("; ");

const sideOf = (name, rows, position) =>
  h("span", { class: `side ${name}` }, h("strong", {}, name), " ", textOf(rows, position));
