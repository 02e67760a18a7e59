// The answers of a class as dots: above the options, or placed on the numbers that they name.
import { element } from "../dom/element.js";
import { whenOther, afterFrame } from "../dom/timing.js";
import { answerText } from "../lesson/question.js";
import { percent } from "../model/numeral.js";

const BINS = 21; // of a slider
const MOST_ROWS = 9; // of dots over an answer, before they stand closer
const IN_A_ROW = 6;

// Returns {element, update(question, counts, isShown, title)}; `counts` are as in Audience of generated/contract.d.ts, and without a
// `title` the question is named elsewhere.
export function makeBoard() {
  const box = element("section", "class-board");
  const draw = whenOther(([, counts, isShown, title], question) => {
    const drawn = question.kind === "fill" ? ofNumbers : ofCandidates;
    box.replaceChildren(...(title ? [element("h2", "", title)] : []), drawn(question, counts, isShown));
  });
  box.setAttribute("aria-label", "The answers of the class");
  return {
    element: box,
    update: (question, counts, isShown, title = "") => draw([question.prompt, counts, isShown, title], question),
  };
}

function ofCandidates({ candidates, right, isCode }, counts, isShown) {
  const list = element("ol", `stacks${isCode ? " code" : ""}`),
    ofRounds = counts.map(round => new Map(round)),
    most = Math.max(1, ...counts.flatMap(round => round.map(([, count]) => count)));
  list.style.setProperty("--stacks", String(candidates.length));
  list.append(
    ...candidates.map(({ label }, place) => {
      const isRight = isShown && right.includes(place),
        line = element("li", isRight ? "right" : "");
      const ofCandidate = ofRounds.map(round => round.get(place) ?? 0);
      line.append(
        drawRounds(ofCandidate, most),
        element(isCode ? "code" : "span", "label", label),
        element("span", "count", textOf(ofCandidate, isRight)),
      );
      return line;
    }),
  );
  return list;
}

function ofNumbers(question, counts, isShown) {
  return question.isShare ? ofShares(question, counts, isShown) : ofAnyNumbers(question, counts, isShown);
}

// Dots over a slider from 0 to 1, in the nearest of 20 steps.
function ofShares({ right, text }, counts, isShown) {
  const box = element("div", "share-line"),
    list = element("ol", "stacks of-shares");
  const binned = counts.map(binsOf),
    most = Math.max(1, ...binned.flat());
  list.style.setProperty("--stacks", String(BINS));
  list.append(
    ...Array.from({ length: BINS }, (_, bin) => {
      const line = element("li"),
        ofBin = binned.map(bins => bins[bin]);
      line.append(drawRounds(ofBin, most));
      if (ofBin.some(Boolean))
        line.append(element("span", "heard", `${percent(bin / (BINS - 1))}: ${textOf(ofBin, false)}`));
      return line;
    }),
  );
  const rail = element("div", "rail");
  if (isShown) {
    const mark = element("span", "truth", text);
    mark.style.setProperty("--at", `${100 * Math.min(Math.max(right, 0), 1)}%`);
    rail.append(mark);
  }
  const ends = element("p", "ends");
  ends.append(element("span", "", "0 %"), element("span", "", "50 %"), element("span", "", "100 %"));
  box.append(list, rail, ends);
  return box;
}

// Counts the shares of a round by the nearest of `BINS` steps from 0 to 1.
function binsOf(round) {
  const bins = Array(BINS).fill(0);
  for (const [value, count] of round) bins[Math.round(value * (BINS - 1))] += count;
  return bins;
}

// All numbers given, sorted, with the right one among them.
function ofAnyNumbers({ right, text, tolerance }, counts, isShown) {
  const values = new Map();
  counts.forEach((round, nth) => {
    for (const [value, count] of round) {
      if (!values.has(value))
        values.set(
          value,
          counts.map(() => 0),
        );
      values.get(value)[nth] += count;
    }
  });
  const isRight = value => Math.abs(value - right) <= tolerance;
  const candidates = [...values.keys()].map(value => ({
    value,
    label: isShown && isRight(value) ? text : answerText({ isShare: false, unit: "" }, value),
  }));
  if (isShown && !candidates.some(({ value }) => isRight(value))) candidates.push({ value: right, label: text });
  candidates.sort((one, other) => one.value - other.value);
  const asCounts = counts.map((_, nth) => candidates.map(({ value }, place) => [place, values.get(value)?.[nth] ?? 0]));
  return ofCandidates(
    { candidates, right: candidates.flatMap(({ value }, place) => (isRight(value) ? [place] : [])), isCode: false },
    asCounts,
    isShown,
  );
}

// The dots of the rounds side by side, the first paler. `most` is the height of the highest stack.
function drawRounds(counts, most) {
  const rounds = element("span", "rounds"),
    rows = Math.ceil(most / IN_A_ROW);
  rounds.ariaHidden = "true";
  rounds.style.setProperty("--closer", String(Math.min(1, MOST_ROWS / rows)));
  rounds.append(
    ...counts.map((count, nth) => {
      const stack = element("span", `stack${nth + 1 < counts.length ? " before" : ""}`);
      stack.append(...Array.from({ length: count }, () => element("i")));
      return stack;
    }),
  );
  return rounds;
}

export function textOf(counts, isRight) {
  const last = counts.at(-1) ?? 0,
    text = counts.some(Boolean) ? counts.join(" → ") : "";
  return isRight ? `${text || last} ✓` : text;
}

const WORDS = [
  ".thread [aria-label=Keys] .text",
  ".thread [aria-label=Queries] .text",
  ".sheet .sentence .words button",
  ".sheet .names th button",
]; // where all words stand
const OF_WORDS = 6, // dots beside each other
  GAP_PX = 2,
  LARGEST_PX = 12,
  LEAST_PX = 2,
  SAME_LINE_PX = 4,
  LEAST_CELL_PX = 26, // high: in a lower one the dots cover its number
  HIGH = 0.21, // of the screen: as classroom.css makes room above words and sliders
  GRIP_PX = 8, // of a slider, as lesson.css has it
  NARROW_EMS = 1.8, // of a count
  WIDE_EMS = 2.4; // of two

// `home` is what the layer is laid over. Returns {element, update(question, counts, isShown, picture), hide()}; update says whether
// each answer has a place there.
export function makePlacedDots(home) {
  const layer = element("ol", "placed-dots");
  let again = () => {};
  layer.setAttribute("aria-label", "The answers of the class");
  new ResizeObserver(() => again()).observe(layer);
  home.addEventListener("scroll", () => again(), true);
  const makeRoomFor = over => {
    for (const each of ["words", "slider"]) home.classList.toggle(`dots-over-${each}`, each === over);
  };
  const hide = () => {
    layer.hidden = true;
    again = () => {};
    makeRoomFor(null);
  };
  hide();
  return {
    element: layer,
    hide,
    update: (question, counts, isShown, picture) => {
      const find = () => groundOf(question, counts, home, picture),
        ground = find();
      if (!ground) {
        hide();
        return false;
      }
      layer.hidden = false;
      makeRoomFor(ground.kind);
      again = () => {
        const spot = find();
        if (spot && home.isConnected) place(layer, spot, counts, isShown);
      };
      again();
      afterFrame(() => again()); // the picture is laid out first
      return true;
    },
  };
}

// The ground that the dots stand over, or in: {kind, rects, labels, right, rounds}, the last as many maps from a place to a count; null where
// an answer has nothing there, or words stand in several lines.
function groundOf(question, counts, home, picture) {
  const { kind, candidates, right, isShare } = question;
  if (kind === "fill") return isShare ? sliderIn(home, counts) : null;
  if (kind !== "pick") return null;
  const ground = { labels: candidates.map(({ label }) => label), right, rounds: counts.map(round => new Map(round)) };
  if (candidates.every(({ word }) => word !== undefined)) {
    const rows = WORDS.map(what => [...picture.querySelectorAll(what)]).map(all =>
      candidates.map(({ word }) => all[word]),
    );
    const row = rows.find(each => each.every(isThere) && areInLine(each));
    return row ? { kind: "words", rects: row.map(rectOf), ...ground } : null;
  }
  const cells = candidates.map(({ cell }) => cellIn(picture, cell));
  return cells.every(each => isThere(each) && rectOf(each).height >= LEAST_CELL_PX)
    ? { kind: "cells", rects: cells.map(rectOf), ...ground }
    : null;
}

// The slider marks the right answer itself.
function sliderIn(home, counts) {
  const slider = home.querySelector(".slider input");
  if (!isThere(slider)) return null;
  const { left, top, width } = rectOf(slider),
    shares = Array.from({ length: BINS }, (_, bin) => bin / (BINS - 1));
  return {
    kind: "slider",
    rects: shares.map(share => ({ left: left + GRIP_PX / 2 + share * (width - GRIP_PX), top, width: 0, height: 0 })),
    labels: shares.map(percent),
    right: [],
    rounds: counts.map(round => new Map(binsOf(round).map((count, bin) => [bin, count]))),
  };
}

function isThere(spot) {
  return Boolean(spot?.checkVisibility() && rectOf(spot).width);
}

function areInLine(spots) {
  const tops = spots.map(each => rectOf(each).top);
  return Math.max(...tops) - Math.min(...tops) < SAME_LINE_PX;
}

// A cell of the picture, or the cover over it.
function cellIn(picture, cell) {
  const all = [...picture.querySelectorAll(":is(.sheet, .matrix) td")],
    isOf = ({ dataset }) => dataset.cell === cell || dataset.place === cell;
  return all.find(each => isOf(each) && isThere(each)) ?? null;
}

function rectOf(spot) {
  return spot.getBoundingClientRect();
}

function place(layer, { kind, rects, labels, right, rounds }, counts, isShown) {
  const home = layer.getBoundingClientRect(),
    areWithin = kind === "cells",
    isSlider = kind === "slider",
    most = Math.max(1, ...rounds.flatMap(round => [...round.values()]));
  const room = areWithin
      ? Math.min(...rects.map(({ height }) => height)) * (isShown ? 0.3 : 0.8)
      : Math.min(rects[0].top - home.top, HIGH * window.innerHeight),
    width = areWithin ? Math.min(...rects.map(rect => rect.width)) : widthOf(rects),
    { size, inRow } = sizesOf(most, width / Math.max(counts.length, 1), room - (areWithin ? 0 : 24));
  layer.style.setProperty("--dot", `${size}px`);
  layer.style.setProperty("--in-row", String(inRow));
  layer.style.setProperty("--count", `${width / (counts.length > 1 ? WIDE_EMS : NARROW_EMS)}px`);
  layer.replaceChildren(
    ...rects.flatMap((rect, nth) => {
      const ofRound = rounds.map(round => round.get(nth) ?? 0),
        isRight = isShown && right.includes(nth),
        line = element("li", `${areWithin ? "within" : "over"} of-${kind}${isRight ? " right" : ""}`);
      line.style.left = `${rect.left - home.left + rect.width / 2}px`;
      line.style.top = `${rect.top - home.top - (areWithin ? 0 : GAP_PX)}px`;
      if (areWithin) Object.assign(line.style, { width: `${rect.width}px`, height: `${rect.height}px` });
      line.append(
        element("span", "heard", labels[nth]),
        element("span", isSlider ? "heard" : "count", textOf(ofRound, isRight).replace(" → ", "→")), // 21 have no room
        drawRounds(ofRound, most),
      );
      return isSlider && !ofRound.some(Boolean) ? [] : [line];
    }),
  );
}

// Fits the highest stack by putting as many dots side by side as there is room for.
function sizesOf(most, width, height) {
  for (let size = LARGEST_PX; size > LEAST_PX; size -= 1) {
    const inRow = Math.max(1, Math.min(OF_WORDS, Math.floor(width / (size + GAP_PX))));
    if (Math.ceil(most / inRow) * (size + GAP_PX) <= height) return { size, inRow };
  }
  return { size: LEAST_PX, inRow: Math.max(1, Math.floor(width / (LEAST_PX + GAP_PX))) };
}

// The smallest distance between words.
function widthOf(rects) {
  const middles = rects.map(({ left, width }) => left + width / 2).sort((one, other) => one - other);
  return Math.min(...middles.slice(1).map((middle, nth) => middle - middles[nth])) - 2 * GAP_PX;
}
