// Placed dots: everybody's answers over the words of the picture, or in its cells, where those stand; of two rounds the first
// beside the second, paler; once it is shown, the truth marked.
import { afterFrame } from "../elements/afterFrame.js";
import { element } from "../elements/element.js";
import { drawRounds, textOf } from "./answerDots.js";

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
  HIGH = 0.21, // of the screen: as classroom.css makes room above words
  NARROW_EMS = 1.8, // of a count
  WIDE_EMS = 2.4; // of two

// `home` is what the layer is laid over. Returns {element, update(question, counts, isShown, picture), hide()}; update says whether
// each answer has a place in the picture.
export function makePlacedDots(home) {
  const layer = element("ol", "placed-dots");
  let again = () => {};
  layer.setAttribute("aria-label", "The answers of the class");
  new ResizeObserver(() => again()).observe(layer);
  const hide = () => {
    layer.hidden = true;
    again = () => {};
    home.classList.remove("dots-over-words");
  };
  hide();
  return {
    element: layer,
    hide,
    update: (question, counts, isShown, picture) => {
      const spots = spotsOf(question, picture);
      if (!spots) {
        hide();
        return false;
      }
      const areWords = question.candidates.every(({ word }) => word !== undefined);
      layer.hidden = false;
      home.classList.toggle("dots-over-words", areWords);
      again = () => {
        const found = spotsOf(question, picture);
        if (found && home.isConnected) place(layer, question, counts, isShown, found.map(rectOf), areWords);
      };
      again();
      afterFrame(() => again()); // the picture takes its place beside them
      return true;
    },
  };
}

// What stands for each answer in the picture; null where one has nothing there, or words stand in several lines.
function spotsOf({ kind, candidates }, picture) {
  if (kind !== "pick") return null;
  if (candidates.every(({ word }) => word !== undefined)) {
    const rows = WORDS.map(what => [...picture.querySelectorAll(what)]).map(all =>
      candidates.map(({ word }) => all[word]),
    );
    return rows.find(row => row.every(isThere) && areInLine(row)) ?? null;
  }
  const cells = candidates.map(({ cell }) => cellIn(picture, cell));
  return cells.every(isThere) ? cells : null;
}

function isThere(spot) {
  return Boolean(spot?.checkVisibility() && rectOf(spot).width);
}

function areInLine(spots) {
  const tops = spots.map(each => rectOf(each).top);
  return Math.max(...tops) - Math.min(...tops) < SAME_LINE_PX;
}

function cellIn(picture, cell) {
  return [...picture.querySelectorAll("[data-cell]")].find(({ dataset }) => dataset.cell === cell) ?? null;
}

function rectOf(spot) {
  return spot.getBoundingClientRect();
}

function place(layer, { candidates, right }, counts, isShown, rects, areWords) {
  const home = layer.getBoundingClientRect(),
    ofRounds = counts.map(round => new Map(round)),
    most = Math.max(1, ...counts.flatMap(round => round.map(([, count]) => count)));
  const room = areWords
      ? Math.min(rects[0].top - home.top, HIGH * window.innerHeight)
      : Math.min(...rects.map(({ height }) => height)) * (isShown ? 0.3 : 0.8),
    width = areWords ? widthOf(rects) : Math.min(...rects.map(rect => rect.width)),
    { size, inRow } = sizesOf(most, width / Math.max(counts.length, 1), room - (areWords ? 24 : 0));
  layer.style.setProperty("--dot", `${size}px`);
  layer.style.setProperty("--in-row", String(inRow));
  layer.style.setProperty("--count", `${width / (counts.length > 1 ? WIDE_EMS : NARROW_EMS)}px`);
  layer.replaceChildren(
    ...rects.map((rect, nth) => {
      const own = ofRounds.map(round => round.get(nth) ?? 0),
        isRight = isShown && right.includes(nth),
        line = element("li", `${areWords ? "over" : "within"}${isRight ? " right" : ""}`);
      line.style.left = `${rect.left - home.left + rect.width / 2}px`;
      line.style.top = `${areWords ? rect.top - home.top - GAP_PX : rect.top - home.top}px`;
      if (!areWords) line.style.height = `${rect.height}px`;
      if (!areWords) line.style.width = `${rect.width}px`;
      line.append(
        element("span", "heard", candidates[nth].label),
        element("span", "count", textOf(own, isRight).replace(" → ", "→")),
      );
      line.append(drawRounds(own, most));
      return line;
    }),
  );
}

// As many beside each other as have room, so that the highest stack fits.
function sizesOf(most, width, height) {
  for (let size = LARGEST_PX; size > LEAST_PX; size -= 1) {
    const inRow = Math.max(1, Math.min(OF_WORDS, Math.floor(width / (size + GAP_PX))));
    if (Math.ceil(most / inRow) * (size + GAP_PX) <= height) return { size, inRow };
  }
  return { size: LEAST_PX, inRow: Math.max(1, Math.floor(width / (LEAST_PX + GAP_PX))) };
}

// How far words stand apart.
function widthOf(rects) {
  const middles = rects.map(({ left, width }) => left + width / 2).sort((one, other) => one - other);
  return Math.min(...middles.slice(1).map((middle, nth) => middle - middles[nth])) - 2 * GAP_PX;
}
