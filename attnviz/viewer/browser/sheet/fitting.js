// Fitting: for how many words, places and rows the box of the sheet has room, and in which letters.
import { amplyFor, narrowed } from "./bandParts.js";
import { outlineOf } from "./bandTable.js";
import { isInHand } from "./hand.js";
import { lettersOf } from "./lettering.js";
import { roomForColumns, roomForLines, weightOf } from "./sizes.js";

const MOST_IN_HAND = 16; // words that have a row on a phone
const MOST_ANSWERS = 11, // columns of them in a talk
  MOST_ANSWERS_IN_HAND = 8; // rows of them beside a text

// The frame of some content: {extent, isPaper, isHeld, letters, least, isBare}, with the smallest letters of a talk, 0 in none.
// `extent` is how large its box is: {clientWidth, clientHeight}.
export function frameOf(box, extent, { where, slots, other, all, paint }) {
  const isPaper = Boolean(box.closest(".printed")),
    isHeld = isInHand() && !isPaper;
  return {
    extent,
    isPaper,
    isHeld,
    letters: lettersOf(box, [...slots, ...(other?.slots ?? [])], all, paint),
    least: where.present && !isHeld ? smallestInTalk() : 0,
    isBare: paint.isBare,
  };
}

// The parts that a frame has room for, of those that partsOf(room) gives; above() says how many pixels are taken.
export function fittingParts({ pass, slots }, frame, { partsOf, above }) {
  if (frame.isHeld)
    return partsOf({ ...amplyFor(MOST_IN_HAND), ...(frame.isBare ? { answers: MOST_ANSWERS_IN_HAND } : {}) });
  const ample = ampleRoom(pass, slots, frame);
  const fits = room => {
    const parts = partsOf(room),
      buttons = parts.filter(({ others }) => others.length).length,
      lines = roomForLines(frame.extent, { parts: parts.length, above: above(), least: frame.least, buttons });
    return weightOf(parts.flatMap(outlineOf)) <= lines;
  };
  return partsOf(frame.isPaper ? ample : narrowed(ample, fits));
}

// For how many columns there is room, and rows: in a talk for as many as have large letters.
function ampleRoom(pass, slots, { extent, letters, least, isPaper, isBare }) {
  const others = Math.max(1, ...slots.map(({ rightColumns }) => rightColumns.length));
  const roomFor = (words, sizes) =>
    roomForColumns(extent, { others: 1, letters, least, isPaper, isBare, words, ...sizes });
  const ample = amplyFor(roomFor(pass.document.words.key.length, { others }));
  if (!least && !isBare) return ample;
  const answers = slots.find(({ cells }) => cells.columns.name === "answer")?.cells.size[1] ?? 0;
  return {
    ...ample,
    answers: roomFor(answers, { most: MOST_ANSWERS }),
    ...(least ? { places: roomFor(ample.places, { letters: { ...letters, names: 2 } }) } : {}),
  };
}

// Pixels: the letters that all others of a page are counted in (scene/present.js).
function smallestInTalk() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}
