// The answers of a class as dots: above the options, or placed on the numbers that they name.
import { afterFrame, h, memoLast } from "../dom/element.js";
import { drawShownTexts } from "../lesson/classTexts.js";
import { hasRight, isRightAnswer } from "../lesson/question.js";
import { unlinked } from "../lesson/sentence.js";
import { drawRuns } from "../dom/runs.js";
import { groupAnswers } from "./answerGroups.js";
import { drawMoves } from "./answerMoves.js";
import { percent } from "../model/numeral.js";

const BINS = 21; // of a slider
const MOST_ROWS = 9; // of dots over an answer, before they stand closer
const IN_A_ROW = 6;
const FEW = 18; // at most over an answer, so that dots are as large as there is room

// Whether dots over a picture can't show all answers: texts, how sure they are, or two votes.
export const needsBoard = ({ kind }, { sure = [], moves = [] }) =>
  kind === "write" || moves.length > 0 || sure.some(round => round.length);

const NO_ANSWERS = "No answers yet.";
const isEmpty = counts => counts.every(round => !round.length);

// `counts` are as in Audience of generated/contract.d.ts, null while they are hidden; `more` are other parts of Audience; `title` is the question
// in runs, unless it is elsewhere on the screen.
export function makeAnswerBoard() {
  const box = h("section", { class: "class-board", "aria-label": "The answers of the class" });
  const draw = memoLast(([, , counts, isShown, title, { sure, moves, texts }], question) => {
    const drawDots = question.kind !== "fill" ? drawCandidates : question.isShare ? drawSlider : drawNumbers,
      heading = title.length ? [h("h2", {}, ...drawRuns(unlinked(title)))] : [],
      answers =
        question.kind === "write"
          ? drawShownTexts(texts)
          : moves.length
            ? drawMoves(question, { moves, counts }, isShown)
            : drawDots(question, counts ?? [], isShown);
    box.replaceChildren(...heading, answers, ...drawSure(question, sure.at(-1) ?? [], isShown));
    if (counts && question.kind !== "write" && isEmpty(counts)) box.append(h("p", { class: "none" }, NO_ANSWERS));
  });
  return {
    element: box,
    update(question, { counts, isShown, title = [], more: { sure = [], moves = [], texts = [] } = {} }) {
      draw([question.prompt, question.right ?? null, counts, isShown, title, { sure, moves, texts }], question);
    },
  };
}

const SURE = ["", "Guessed", "Fairly sure", "Very sure"]; // as a phone asks for it

// How sure those were who answered, as in Audience.sure of the last round: once isShown, how many of them were right.
function drawSure(question, sure, isShown) {
  if (!sure.length) return [];
  const isJudged = isShown && hasRight(question),
    counts = SURE.map((_, how) => countSure(question, sure, how)),
    most = Math.max(...counts.map(({ all }) => all));
  const lines = counts.flatMap(({ all, right }, how) => {
    if (!how) return [];
    const bar = h("span", { class: "bar", ariaHidden: "true" }, isJudged && h("i")),
      text = isJudged ? `${right} of ${all} right` : String(all);
    bar.style.setProperty("--all", String(all / most));
    bar.style.setProperty("--right", String(all ? right / all : 0));
    return [h("li", {}, h("span", { class: "how" }, SURE[how]), bar, h("span", { class: "count" }, text))];
  });
  return [h("ul", { class: "class-sure", "aria-label": "How sure they were" }, lines.reverse())];
}

function countSure(question, sure, how) {
  const those = sure.filter(each => each[1] === how),
    sum = all => all.reduce((total, [, , count]) => total + count, 0);
  return { all: sum(those), right: sum(those.filter(([value]) => isRightAnswer(question, value))) };
}

function drawCandidates({ candidates, right, isCode }, counts, isShown) {
  const rounds = counts.map(round => new Map(round)),
    most = Math.max(1, ...counts.flatMap(round => round.map(([, count]) => count))),
    all = (counts.at(-1) ?? []).reduce((sum, [, count]) => sum + count, 0);
  const lines = candidates.map(({ label }, index) => {
    const isRight = isShown && right.includes(index),
      inRounds = rounds.map(round => round.get(index) ?? 0),
      count = h("span", { class: "count" }, countText(inRounds, isRight)),
      last = inRounds.at(-1) ?? 0;
    if (last) count.dataset.part = percent(last / all);
    return h(
      "li",
      { class: isRight ? "right" : "" },
      drawRounds(inRounds, most),
      h(isCode ? "code" : "span", { class: "label" }, label),
      count,
    );
  });
  const list = drawStacks(lines, isCode ? " code" : most <= FEW ? " few" : ""),
    inRow = Math.ceil(Math.sqrt(most / 2));
  list.style.setProperty("--in-row", String(inRow));
  list.style.setProperty("--rows", String(Math.ceil(most / inRow)));
  list.style.setProperty("--rounds", String(Math.max(counts.length, 1)));
  return list;
}

function drawStacks(lines, names) {
  const list = h("ol", { class: `stacks${names}` }, lines);
  list.style.setProperty("--stacks", String(lines.length));
  return list;
}

function drawSlider({ right, text }, counts, isShown) {
  const binned = counts.map(binsOf),
    most = Math.max(1, ...binned.flat());
  const lines = Array.from({ length: BINS }, (_, bin) => {
    const inBin = binned.map(bins => bins[bin]),
      description = `${percent(bin / (BINS - 1))}: ${countText(inBin, false)}`;
    return h("li", {}, drawRounds(inBin, most), inBin.some(Boolean) && h("span", { class: "sr-only" }, description));
  });
  const mark = isShown && h("span", { class: "truth" }, text);
  if (mark) mark.style.setProperty("--at", `${100 * Math.min(Math.max(right, 0), 1)}%`);
  const ends = ["0 %", "50 %", "100 %"].map(each => h("span", {}, each));
  return h(
    "div",
    { class: "share-line" },
    drawStacks(lines, " of-shares"),
    h("div", { class: "rail" }, mark),
    h("p", { class: "ends" }, ends),
  );
}

function binsOf(round) {
  const bins = Array(BINS).fill(0);
  for (const [value, count] of round) bins[Math.round(value * (BINS - 1))] += count;
  return bins;
}

function drawNumbers(question, counts, isShown) {
  const { right } = question,
    values = counts.flatMap(round => round.map(([value]) => value)),
    { groups, groupOf } = groupAnswers(question, isShown && right !== null ? [...values, right] : values, isShown);
  const byGroup = counts.map(round => {
    const sums = groups.map(() => 0);
    for (const [value, count] of round) sums[groupOf(value)] += count;
    return sums.map((count, index) => [index, count]);
  });
  const marked = [...groups.keys()].filter(index => groups[index].isRight);
  return drawCandidates({ candidates: groups, right: marked, isCode: false }, byGroup, isShown);
}

// The dots of the rounds side by side, the first paler. `most` is the height of the highest stack.
function drawRounds(counts, most) {
  const stacks = counts.map((count, nth) => {
    const isEarlier = nth + 1 < counts.length,
      dots = Array.from({ length: count }, () => h("i"));
    return h("span", { class: `stack${isEarlier ? " before" : ""}` }, dots);
  });
  const rounds = h("span", { class: "rounds", ariaHidden: "true" }, stacks);
  rounds.style.setProperty("--closer", String(Math.min(1, MOST_ROWS / Math.ceil(most / IN_A_ROW))));
  return rounds;
}

function countText(counts, isRight) {
  const text = counts.some(Boolean) ? counts.join(" → ") : "";
  return isRight ? `${text || (counts.at(-1) ?? "")} ✓`.trim() : text;
}

const WORDS = [
  ".thread [aria-label=Keys] .text",
  ".thread [aria-label=Queries] .text",
  ".sheet .sentence .words button",
  ".sheet .names th button",
]; // where all words stand
const MOST_IN_A_ROW = 6,
  GAP_PX = 2,
  LARGEST_PX = 12,
  LEAST_PX = 2,
  SAME_LINE_PX = 4,
  LEAST_CELL_PX = 26, // high: in a lower one the dots cover its number
  HIGH = 0.21, // of the screen: as classroom.css makes space above words and sliders
  GRIP_PX = 8, // of a slider, as lesson.css has it
  COUNT_PX = 24, // above the dots
  NARROW_EMS = 1.8, // of a count
  WIDE_EMS = 2.4; // of two

// Dots over the picture in `home`. update(question, counts, isShown, picture) returns whether each answer has its place there.
export function makePlacedDots(home) {
  const layer = h("ol", { class: "placed-dots", "aria-label": "The answers of the class" });
  let redraw = () => {};
  new ResizeObserver(() => redraw()).observe(layer);
  home.addEventListener("scroll", () => redraw(), true);
  const makeSpaceOver = kind => {
    for (const each of ["words", "slider"]) home.classList.toggle(`dots-over-${each}`, each === kind);
  };
  const hide = () => {
    layer.hidden = true;
    redraw = () => {};
    makeSpaceOver(null);
  };
  hide();
  return {
    element: layer,
    hide,
    update(question, counts, isShown, picture) {
      const find = () => findTargets(question, counts, home, picture),
        targets = find();
      if (!targets) {
        hide();
        return false;
      }
      layer.hidden = false;
      makeSpaceOver(targets.kind);
      redraw = () => {
        const now = find();
        if (now && home.isConnected) drawOver(layer, now, isShown);
        if (isEmpty(counts)) layer.prepend(h("li", { class: "none" }, NO_ANSWERS));
      };
      redraw();
      afterFrame(() => redraw()); // the picture is laid out first
      return true;
    },
  };
}

// What the dots stand over, or in; null if an answer isn't in the picture, or words take several lines.
function findTargets(question, counts, home, picture) {
  const { kind, candidates, right, isShare } = question;
  if (kind === "fill") return isShare ? findSlider(home, counts) : null;
  if (kind !== "pick") return null;
  const answers = { labels: candidates.map(({ label }) => label), right, rounds: counts.map(round => new Map(round)) };
  if (candidates.every(({ word }) => word !== undefined)) {
    const rows = WORDS.map(selector => [...picture.querySelectorAll(selector)]),
      ofWords = rows.map(all => candidates.map(({ word }) => all[word])),
      isThere = each => each.every(isVisible) && areInLine(each),
      isNamed = each => each.every(({ textContent }, nth) => textContent === candidates[nth].label), // of two texts
      row = ofWords.find(each => isThere(each) && isNamed(each)) ?? ofWords.find(isThere);
    return row ? { kind: "words", rects: row.map(rectOf), ...answers } : null;
  }
  const cells = candidates.map(({ cell }) => findCell(picture, cell)),
    areLarge = cells.every(each => isVisible(each) && rectOf(each).height >= LEAST_CELL_PX);
  return areLarge ? { kind: "cells", rects: cells.map(rectOf), ...answers } : null;
}

// The slider marks the right answer itself.
function findSlider(home, counts) {
  const slider = home.querySelector(".slider input");
  if (!isVisible(slider)) return null;
  const { left, top, width } = rectOf(slider),
    space = Number.parseFloat(getComputedStyle(slider.parentElement).paddingTop),
    steps = Array.from({ length: BINS }, (_, bin) => bin / (BINS - 1)),
    leftOf = step => left + GRIP_PX / 2 + step * (width - GRIP_PX);
  return {
    kind: "slider",
    space,
    rects: steps.map(step => ({ left: leftOf(step), top, width: 0, height: 0 })),
    labels: steps.map(percent),
    right: [],
    rounds: counts.map(round => new Map(binsOf(round).entries())),
  };
}

const isVisible = each => Boolean(each?.checkVisibility() && rectOf(each).width);

function areInLine(elements) {
  const tops = elements.map(each => rectOf(each).top);
  return Math.max(...tops) - Math.min(...tops) < SAME_LINE_PX;
}

function findCell(picture, cell) {
  const cells = [...picture.querySelectorAll(":is(.sheet, .matrix) td")];
  return cells.find(each => [each.dataset.cell, each.dataset.place].includes(cell) && isVisible(each)) ?? null;
}

const rectOf = each => each.getBoundingClientRect();

function drawOver(layer, { kind, rects, labels, right, rounds, space = HIGH * window.innerHeight }, isShown) {
  const home = rectOf(layer),
    isInside = kind === "cells",
    isSlider = kind === "slider",
    most = Math.max(1, ...rounds.flatMap(round => [...round.values()])),
    cellHeight = Math.min(...rects.map(({ height }) => height)) * (isShown ? 0.3 : 0.8),
    height = isInside ? cellHeight : Math.min(rects[0].top - home.top, space) - COUNT_PX,
    width = isInside ? Math.min(...rects.map(rect => rect.width)) : smallestDistance(rects),
    { size, inRow } = sizesOf(most, width / Math.max(rounds.length, 1), height);
  layer.style.setProperty("--dot", `${size}px`);
  layer.style.setProperty("--in-row", String(inRow));
  layer.style.setProperty("--count", `${width / (rounds.length > 1 ? WIDE_EMS : NARROW_EMS)}px`);
  const lines = rects.flatMap((rect, nth) => {
    const counts = rounds.map(round => round.get(nth) ?? 0),
      isRight = isShown && right.includes(nth);
    if (isSlider && !counts.some(Boolean)) return [];
    const line = h(
      "li",
      { class: `${isInside ? "within" : "over"} of-${kind}${isRight ? " right" : ""}` },
      h("span", { class: "sr-only" }, labels[nth]),
      h("span", { class: isSlider ? "sr-only" : "count" }, countText(counts, isRight).replace(" → ", "→")), // 21 have no space
      drawRounds(counts, most),
    );
    line.style.left = `${rect.left - home.left + rect.width / 2}px`;
    line.style.top = `${rect.top - home.top - (isInside ? 0 : GAP_PX)}px`;
    if (isInside) Object.assign(line.style, { width: `${rect.width}px`, height: `${rect.height}px` });
    return [line];
  });
  layer.replaceChildren(...lines);
}

// Fits the highest stack by putting as many dots side by side as there is space for.
function sizesOf(most, width, height) {
  for (let size = LARGEST_PX; size > LEAST_PX; size -= 1) {
    const inRow = Math.max(1, Math.min(MOST_IN_A_ROW, Math.floor(width / (size + GAP_PX))));
    if (Math.ceil(most / inRow) * (size + GAP_PX) <= height) return { size, inRow };
  }
  return { size: LEAST_PX, inRow: Math.max(1, Math.floor(width / (LEAST_PX + GAP_PX))) };
}

// Between the middles of adjacent words.
function smallestDistance(rects) {
  const middles = rects.map(({ left, width }) => left + width / 2).sort((one, other) => one - other);
  return Math.min(...middles.slice(1).map((middle, nth) => middle - middles[nth])) - 2 * GAP_PX;
}
