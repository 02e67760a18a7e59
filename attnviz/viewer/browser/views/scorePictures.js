// Where "from score to weight" stands: above the table, on paper, in a talk, and once for each of two passes side by side.
import { h } from "../dom/element.js";
import { isNarrowPage } from "./oneWordSizes.js";
import { FOOT, STRIP, TOP, rowsOf } from "./scoreRows.js";
import { makeScoreToWeight } from "./scoreToWeight.js";

const ROW = { least: 24, tight: 17, most: 54, narrow: 34, phone: 36, paper: 26 },
  FEWEST_ROWS = 4; // that are seen at once
// Lines of the table below: with its usual room, with little, on paper, in a talk; its names, and a talk's caption.
const LINE_PX = 38,
  LOW_LINE_PX = 29,
  PAPER_LINE_PX = 20,
  TIGHT_LINE_PX = 26,
  NAMES_PX = 34,
  CAPTION_PX = 44;
const SMALLEST_PX = 13, // letters in the picture, before it is enlarged
  USUAL_PX = 15.2, // the page's letters that its sizes are made for
  GAP_PX = 24;

/** How high a row is, and the picture, and how much of it is seen at once: {row, height, seen, isLong}; null where it has no room in
 * `space` above the lines of the table. */
function heightsOf({ rows: { length: n }, phase }, { isPhone, isPaper, isTight }, space, nLines) {
  const around = TOP + FOOT + (phase > 1 ? STRIP.space : 0),
    whole = row => ({ row, height: around + row * n, seen: around + row * n, isLong: false });
  if (isPhone || space === null) return whole(isPhone ? ROW.phone : ROW.narrow);
  const spaceWith = line => space - (nLines && NAMES_PX) - nLines * line - around,
    [most, least] = [isPaper ? ROW.paper : ROW.most, isTight ? ROW.tight : ROW.least],
    tightLine = isPaper ? PAPER_LINE_PX : TIGHT_LINE_PX,
    [line, lowLine] = isTight ? [tightLine, tightLine] : [LINE_PX, LOW_LINE_PX],
    row = Math.min(most, Math.max(Math.floor(spaceWith(line) / n), least));
  if (row * n <= spaceWith(lowLine)) return whole(row);
  const nSeen = Math.floor((spaceWith(lowLine) - FOOT) / ROW.least); // those below are scrolled to
  if (isTight || nSeen < FEWEST_ROWS) return null;
  return { row: ROW.least, height: around + ROW.least * n, seen: around + ROW.least * nSeen, isLong: true };
}

// The rows of each picture, side by side on one axis: A's, if it is shown too, and B's.
function picturesOf(content, frame) {
  const b = rowsOf(content, frame),
    { other, where } = content,
    a = b && other && !frame.isPhone && rowsOf({ ...other, where, look: other.paint.look }, frame);
  if (!a) return b ? [b] : [];
  const numbers = [a, b].map(each => each.numbers),
    later = numbers.flatMap(each => [...each.later, ...each.ends.map(end => end * each.factor)]),
    ends = numbers.flatMap(each => each.ends);
  return [
    { ...a, isMovable: false, actions: other.actions },
    { ...b, actions: null },
  ].map((each, nth) => ({
    ...each,
    title: `${"AB"[nth]}: ${each.title}`,
    numbers: { ...each.numbers, ends, later },
  }));
}

/** `actions` are those of the One word view. Returns {element, update(content, frame, isCalm)}, which returns the content without what the
 * pictures show. */
export function makeScorePictures(actions) {
  const [ofA, ofB] = [makeScoreToWeight(actions), makeScoreToWeight(actions)],
    box = h("div", { class: "score-pictures", hidden: true }, ofB.element);
  return {
    element: box,
    update(content, frame, isCalm) {
      const { extent, isPhone, isPaper, least, letters } = frame,
        { slots, where } = content,
        pictures = picturesOf(content, frame),
        isTight = pictures.length > 1 || least > 0 || isPaper,
        ofRow = slots.filter(({ isThere, left, right }) => isThere && !left && !right),
        beside = isTight ? ofRow.filter(({ step }) => step.id === where.step) : ofRow; // the picture says the rest
      const zoom = least ? least / SMALLEST_PX : isPaper || isPhone ? 1 : Math.max(1, letters.own / USUAL_PX),
        isGrowing = isNarrowPage() && !least && !isPaper,
        caption = least && !frame.withoutText ? CAPTION_PX : 0,
        space = isGrowing ? null : extent.clientHeight / zoom - caption;
      const linesOf = ({ cells }) => Math.min(cells.size[0], 8) + 0.4,
        nLines = isPaper ? slots.reduce((sum, slot) => sum + linesOf(slot), 0) : beside.length * pictures.length,
        heightsWith = lines => pictures.map(each => heightsOf(each, { isPhone, isPaper, isTight }, space, lines)),
        usual = heightsWith(nLines),
        isAlone = least > 0 && !frame.withoutText && usual.includes(null), // in a talk there may be no room for the table
        heights = isAlone ? heightsWith(0) : usual;
      const width = (extent.clientWidth - GAP_PX * (pictures.length - 1)) / Math.max(pictures.length, 1),
        isThere = pictures.length > 0 && !heights.includes(null) && zoom > 0, // NaN where it isn't in the page yet
        options = { width: width / zoom, zoom, takesFocus: !least, isPhone, chosen: where.cell.key, isCalm };
      box.hidden = !isThere;
      const [b = null, a = null] = isThere ? pictures.toReversed() : [];
      if (a && !ofA.element.isConnected) box.prepend(ofA.element);
      if (!a) ofA.element.remove();
      ofA.update(a, heights[0], options);
      ofB.update(b, heights.at(-1), options);
      return isThere && !isPhone && !isPaper ? { ...content, slots: beside, isAlone } : content;
    },
  };
}
