// Who moved from where to where between two votes, as a flow: two columns of answers with bands between them.
import { h, svgElement } from "../dom/element.js";
import { groupAnswers } from "./answerGroups.js";

const SLOT = 8, // of a column's height, in per cent: at least, for the name of an answer
  GAP = 1.5; // between two answers
const LEAST_NUMBERED = 3.4; // high: a lower band has no place for its number
const NUMBER_AT = [5, 95]; // along a band, in per cent: at its beginning, or at its end

/** @typedef {{ top: number, height: number, count: number, slot: [number, number] }} Side of an answer; in per cent
 * @typedef {{ from: number, to: number, count: number, starts: number, ends: number, height: number }} Band */

// The layout of moves [from, to, count] between `n` answers: each band is as high as its count, and so are the two sides of an answer. An answer
// that nobody gave has no side.
/** @param {[number, number, number][]} moves @param {number} n @returns {{ sides: (Side | null)[][], bands: Band[] }} */
export function flowOf(moves, n) {
  const counts = [0, 1].map(side => {
    const sums = Array(n).fill(0);
    for (const move of moves) sums[move[side]] += move[2];
    return sums;
  });
  const total = moves.reduce((sum, [, , count]) => sum + count, 0),
    most = Math.max(...counts.map(sums => sums.filter(Boolean).length)),
    slot = Math.min(SLOT, 70 / Math.max(most, 1)),
    scale = (100 - most * slot - (most - 1) * GAP) / Math.max(total, 1);
  const sides = counts.map(sums => {
    const given = sums.filter(Boolean).length,
      used = given * slot + (given - 1) * GAP + total * scale;
    let top = (100 - used) / 2;
    return sums.map(count => {
      if (!count) return null;
      const height = count * scale,
        from = top;
      top += slot + height + GAP;
      return { count, height, top: from + slot / 2, slot: /** @type {[number, number]} */ ([from, slot + height]) };
    });
  });
  const filled = counts.map(sums => sums.map(() => 0)),
    begins = (side, index) => /** @type {Side} */ (sides[side][index]).top + filled[side][index] * scale;
  const bands = moves
    .toSorted(([from, to], [otherFrom, otherTo]) => from - otherFrom || to - otherTo)
    .map(([from, to, count]) => {
      const band = { from, to, count, starts: begins(0, from), ends: begins(1, to), height: count * scale };
      filled[0][from] += count;
      filled[1][to] += count;
      return band;
    });
  return { sides, bands };
}

// The moves between groups, each pair once.
/** @returns {[number, number, number][]} */
function groupedMoves(moves, groupOf) {
  const sums = new Map();
  for (const [from, to, count] of moves) {
    const pair = [groupOf(from), groupOf(to)].join();
    sums.set(pair, (sums.get(pair) ?? 0) + count);
  }
  return [...sums].map(([pair, count]) => {
    const [from, to] = pair.split(",").map(Number);
    return [from, to, count];
  });
}

// The flow as an element; `moves` and `counts` are as in Audience of generated/contract.d.ts.
export function drawMoves(question, { moves, counts }, isShown) {
  const values = [0, 1].flatMap(side => moves.map(move => move[side])),
    { groups, groupOf } = groupAnswers(question, values, isShown),
    grouped = groupedMoves(moves, groupOf),
    { sides, bands } = flowOf(grouped, groups.length),
    total = grouped.reduce((sum, [, , count]) => sum + count, 0),
    votes = counts.map(round => round.reduce((sum, [, count]) => sum + count, 0)),
    once = votes.reduce((sum, each) => sum + each, 0) - 2 * total,
    stayed = grouped.reduce((sum, [from, to, count]) => sum + (from === to ? count : 0), 0);
  const drawSide = (all, nth) =>
    h(
      "div",
      { class: "side" },
      all.map((side, index) => {
        if (!side) return null;
        const { label, isRight } = groups[index],
          [top, height] = side.slot,
          name = question.isCode ? h("code", {}, label) : label,
          count = h("b", {}, `${side.count}${isRight ? " ✓" : ""}`),
          element = h("p", { class: isRight ? "right" : "" }, h("span", { class: "name" }, name), count);
        Object.assign(element.style, { top: `${top}%`, height: `${height}%` });
        element.classList.toggle("later", nth === 1);
        return element;
      }),
    );
  return h(
    "figure",
    { class: `class-moves${question.isCode ? " code" : ""}` },
    h("p", { class: "heads", ariaHidden: "true" }, h("span", {}, "first vote"), h("span", {}, "second vote")),
    h(
      "div",
      { class: "flow", ariaHidden: "true" },
      drawSide(sides[0], 0),
      drawBands(bands, sides, groups),
      drawSide(sides[1], 1),
    ),
    h("ul", { class: "sr-only", "aria-label": "From the first vote to the second" }, grouped.map(moveText(groups))),
    h("figcaption", {}, captionOf(total, stayed, once)),
  );
}

const moveText =
  groups =>
  ([from, to, count]) => {
    const [one, other] = [from, to].map(index => `${groups[index].label}${groups[index].isRight ? " (right)" : ""}`);
    return h("li", {}, from === to ? `${count} stayed at ${one}` : `${count} moved from ${one} to ${other}`);
  };

const captionOf = (total, stayed, once) =>
  `${total - stayed} of ${total} changed their answer.${once ? ` ${once} more ${once === 1 ? "vote is" : "votes are"} of people who voted once.` : ""}`;

function drawBands(bands, sides, groups) {
  const svg = svgElement("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" }),
    box = h("div", { class: "bands" }, svg);
  for (const { from, to, count, starts, ends, height } of bands) {
    const isRight = groups[to].isRight,
      names = `${from === to ? "stays" : "moves"}${isRight ? " right" : ""}`,
      [below, endsBelow] = [starts + height, ends + height],
      d = `M0 ${starts}C50 ${starts} 50 ${ends} 100 ${ends}V${endsBelow}C50 ${endsBelow} 50 ${below} 0 ${below}Z`;
    svg.append(svgElement("path", { d, class: names }));
    const isWholeSide = sides[0][from]?.count === count; // then its name says how many
    if (height < LEAST_NUMBERED || (isWholeSide && sides[1][to]?.count === count)) continue;
    const number = h("span", { class: "number" }, String(count)),
      [at, top] = isWholeSide ? [NUMBER_AT[1], ends] : [NUMBER_AT[0], starts];
    Object.assign(number.style, { left: `${at}%`, top: `${top + height / 2}%` });
    box.append(number);
  }
  for (const [nth, all] of sides.entries())
    for (const side of all)
      if (side) svg.append(svgElement("rect", { x: nth ? 99.2 : 0, y: side.top, width: 0.8, height: side.height }));
  return box;
}
