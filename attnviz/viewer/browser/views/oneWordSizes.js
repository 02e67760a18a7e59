// Sizes of the One word view: the letters, columns and rows that fit its box.
import { short } from "../model/numeral.js";
import { largestThatFits } from "../fit/fit.js";
import { isOnPhone } from "./oneWordPhone.js";
import { amplyFor, ROWS_ALONE } from "./oneWordParts.js";
import { outlineOf } from "./oneWordTable.js";
import { scaleOf } from "./slice.js";

const SENTENCES = { share: 0.26, shareOfMany: 0.2, leastPx: 160 }; // the column of sentences: of the width, and where columns are many
const LABELS = { share: 0.07, shareAlone: 0.115, leastPx: 68 }; // the column of labels, also where no sentence stands before it
const SINGLE = 1.4,
  NAMES = 1.2; // the heights of lines that are one row high, and of those of names, over the others
const AIR = 0.4; // beside a number, in units of the font's size
const SMALLEST_PX = 9.5,
  LEAST_LINE_PX = 14;
const TARGET_PX = 24; // of a line with a button: a finger or a shaking hand hits it
const PAPER_PX = 12, // 9 points
  NARROW_LETTER = 0.53,
  WIDE_LETTER = 0.64; // on paper as many have room as in a narrow font, and no digit may touch another's in a wide one
const MOST = { line: 2, digits: 2.2 },
  MOST_PRESENTED = { line: 4, digits: 2.2 },
  MOST_ON_PAPER = { line: 3, digits: 1.4 }; // in the page's letters
const LARGE_WINDOW_PX = 900; // a higher one, as of 4K, has larger lines and letters; the box's own height is another at each step
const LEAST_END_PX = 56; // the last column, where "head 1, 8" stands
const USUAL_PX = 15.2; // of the page's letters where no window is so large
const MANY_WORDS = 16,
  LEAST_COLUMN_PX = 44; // so many words may have narrower columns, as far as their letters fit
const DIGITS_OF_MANY_PX = 10.5; // the size of digits where there are more words
const NARROW_PX = 820,
  NARROW_LINE_PX = 26; // a page that is not wider grows downwards, as in the styles
const GAP_PX = 5,
  SPACING_PX = 1; // before a part, and between two lines (sheet.css)
const TALK = { label: 10.5, end: 9, line: 1.31, lowest: 1.15 }; // in the smallest letters of a talk: before a row and at its end, in digits; how high a line is, and how low where labels take two rows
const PRODUCT = 8; // signs of "1.00 × 2.00 = 2.00" and of its minuses that are no numbers
const SENTENCE = { line: 0.6, most: 0.95, least: 13 }; // the letters of sentences: of a line, and of the page's; pixels, before lines are less high

// The columns that fit beside `others` (see setSizes). In a talk space is kept for products, so that no column disappears when they come.
export function roomForColumns(extent, { others, letters, least, isPaper, withoutText, most = MANY_WORDS, words }) {
  const size = least || (isPaper ? PAPER_PX : words > most ? DIGITS_OF_MANY_PX : SMALLEST_PX),
    width = extent.clientWidth,
    count = Math.max(letters.numbers, letters.names),
    needed = ((isPaper ? NARROW_LETTER : letters.wide) * count + AIR) * size;
  const taken = () => {
    if (withoutText) return labelsIn(width, true) + LEAST_END_PX;
    if (!least) return sentencesIn(width, SENTENCES.shareOfMany) + labelsIn(width);
    return productsIn(letters, least) + (TALK.label + TALK.end) * letters.wide * least - needed;
  };
  const fittingColumns = narrowest => Math.floor((width - taken()) / Math.max(needed, narrowest)) - others;
  return words <= Math.min(most, fittingColumns(0)) ? words : Math.max(fittingColumns(least ? 0 : LEAST_COLUMN_PX), 2);
}

// The number of lines of digits that fit, some of them with a button; a narrow page grows downwards.
function roomForLines(extent, { parts, above, least, buttons }) {
  if (isNarrowPage() && !least) return Number.POSITIVE_INFINITY;
  const line = least ? TALK.line * least : LEAST_LINE_PX,
    higher = Math.max(0, TARGET_PX - line) * buttons,
    borders = least ? line / 3 : 0; // of lines of two rows, as “exp(score − max)” may be
  return (extent.clientHeight - above - GAP_PX * parts - higher - borders) / (line + SPACING_PX);
}

export const isNarrowPage = () => globalThis.innerWidth <= NARROW_PX;

// The height of the lines without a fixed height, in lines of digits.
function heightOf(lines) {
  const heights = lines.map(({ fixed, isSingle, isHeader }) => (fixed ? 0 : isSingle ? SINGLE : isHeader ? NAMES : 1));
  return heights.reduce((sum, height) => sum + height, 0);
}

// `lines` are those of oneWordTable.js, some with a `fixed` height in pixels; `letters` has how many those of the longest number and
// `names` name have, and how `wide` a digit is in its font; `above` them pixels are taken. `least` is how large letters are at
// least in a talk, 0 in none; there sentences stand above, and only what `multiplies` has room beside. The sizes are set as
// properties of the styles (sheet.css). Sentences may still need more room than their rows: then they become smaller, the lines
// less high, and sentences smaller again.
export function setSizes(box, { extent, lines, parts, columns, letters, ...options }) {
  const { least = 0, multiplies = false, isPaper = false, withoutText = false, above = 0 } = options,
    { own } = letters, // the size of the page's letters
    isNarrow = !isPaper && isNarrowPage(),
    smallest = least || (isPaper ? PAPER_PX : SMALLEST_PX),
    width = extent.clientWidth,
    height = isNarrow ? NARROW_LINE_PX * lines.length : extent.clientHeight - above;
  const larger = isPaper || isNarrow ? 1 : Math.max(1, (globalThis.innerHeight ?? 0) / LARGE_WINDOW_PX),
    base = Math.max(own, larger * (least ? own : Math.min(own, USUAL_PX))), // in a window of 4K its own are larger already
    most = isPaper ? MOST_ON_PAPER : least ? MOST_PRESENTED : MOST;
  const spaceOf = some => {
    const fixed = some.reduce((sum, line) => sum + (line.fixed ?? 0), 0);
    return height - fixed - GAP_PX * parts - SPACING_PX * (lines.length + 1);
  };
  const target = !isPaper && lines.some(({ isButton }) => isButton) ? TARGET_PX : 0,
    isBelowTarget = spaceOf(lines) / heightOf(lines) < target,
    sizedLines = isBelowTarget ? lines.map(line => (line.isButton ? { ...line, fixed: target } : line)) : lines;
  const widthOf = signs => (isPaper ? Math.max(WIDE_LETTER, letters.wide) : letters.wide) * signs + AIR; // in units of the font's size
  const { said, label, end, column } = least
    ? widthsInTalk(width, columns, {
        said: multiplies && !withoutText ? productsIn(letters, least) : 0,
        digit: letters.wide * least,
      })
    : widths(
        width,
        columns,
        { said: withoutText ? 0 : sentencesIn(width), label: labelsIn(width, withoutText) },
        widthOf(letters.numbers) * smallest,
      );
  const lettersIn = (signs, high) => Math.max(smallest, Math.min(high, column / widthOf(signs), most.digits * base));
  const inLabel = Math.max(smallest, label / widthOf(letters.numbers)); // where what is multiplied stands
  const lettersAt = line => ({
    digits: Math.min(inLabel, lettersIn(letters.numbers, line / 1.3)),
    large: lettersIn(letters.numbers, (SINGLE * line) / 1.35),
    chosen: lettersIn(letters.numbers, line / 1.22),
    names: lettersIn(letters.names, (NAMES * line) / 1.4),
  });
  const line = Math.max(LEAST_LINE_PX, Math.min(spaceOf(sizedLines) / heightOf(sizedLines), most.line * base));
  const set = (name, size) => box.style.setProperty(`--${name}`, `${size.toFixed(2)}px`);
  const setLine = high => {
    const sizes = { line: high, said, label, end, ...lettersAt(high) };
    for (const [name, size] of Object.entries(sizes)) set(name, size);
  };
  const setSentences = size => set("said-size", size);
  // Sets the greatest size with which all is inside the box; asking whether it is costs a layout.
  const isInside = () => isNarrow || box.scrollHeight <= box.clientHeight;
  const setGreatest = (setSize, low, high, precision) => {
    const isFitting = size => {
      setSize(size);
      return isInside();
    };
    const size = largestThatFits(low, high, isFitting, precision);
    setSize(size);
    return size;
  };
  const readable = Math.max(smallest, isPaper ? 0 : SENTENCE.least),
    wantedSize = Math.max(readable, Math.min(SENTENCE.line * line, SENTENCE.most * base));
  setLine(line);
  setGreatest(setSentences, readable, wantedSize, 0.75);
  if (isInside()) return;
  const lowest = Math.min(line, Math.max(LEAST_LINE_PX, TALK.lowest * least));
  if (setGreatest(setLine, lowest, line, 0.25) === lowest) setGreatest(setSentences, smallest, readable, 0.75);
}

// The widths of the columns and of the last one; sentences get less where numbers need more.
function widths(width, columns, { said, label }, needed) {
  const shared = width - said - label,
    end = Math.max(LEAST_END_PX, shared / (columns + 1)),
    column = (shared - end) / columns;
  if (column >= needed || said <= SENTENCES.leastPx) return { said, label, end, column };
  return widths(width, columns, { said: SENTENCES.leastPx, label }, needed);
}

function widthsInTalk(width, columns, { said, digit }) {
  const label = Math.max(TALK.label * digit, labelsIn(width)),
    shared = width - said - label,
    end = Math.max(TALK.end * digit, shared / (columns + 1));
  return { said, label, end, column: (shared - end) / columns };
}

// Three numbers and the signs between them.
function productsIn(letters, least) {
  return (3 * letters.numbers + PRODUCT) * letters.wide * 0.93 * least; // signs and spaces are narrower than digits
}

const sentencesIn = (width, share = SENTENCES.share) => Math.max(SENTENCES.leastPx, share * width);

const labelsIn = (width, withoutText = false) =>
  Math.max(LABELS.leastPx, (withoutText ? LABELS.shareAlone : LABELS.share) * width);

const MOST_LETTERS = 10; // of a word that its column is as wide as; a longer one ends in dots
const PX = 100; // a size to measure at
const digitWidths = new Map(); // fonts -> how wide a digit is, in units of its size

// {numbers, names, own, wide}: the letters of the longest number that may stand there, and of the longest name; how large the
// box's own letters are, and how wide a digit is. It is asked before the box gets other content, whose styles would be computed for it.
function lettersOf(box, parts, slots, paint) {
  const { fontSize, fontFamily } = getComputedStyle(box),
    scales = slots.map(slot => scaleOf(slot, paint)),
    names = parts.flatMap(({ cells }) => cells.columns.labels.map(label => [...label].length));
  const numbers = scales.map(({ scale, limit }) => (scale === "signed" ? short(-limit).length : 4));
  return {
    numbers: Math.max(parts.some(({ isLong }) => isLong) ? 6 : 4, ...numbers),
    names: Math.min(MOST_LETTERS, Math.max(3, ...names)),
    own: Number.parseFloat(fontSize),
    wide: digitWidthIn(fontFamily),
  };
}

// Calls draw() once a box's font has loaded, if a fallback was measured.
export function awaitLetters(box, draw) {
  const { fontFamily } = getComputedStyle(box),
    letters = fontFamily && `1em ${fontFamily}`; // a box that has left the page has none
  if (!letters || document.fonts.check(letters)) return;
  document.fonts.load(letters).then(() => {
    digitWidths.delete(fontFamily);
    draw();
  });
}

function digitWidthIn(family) {
  if (!digitWidths.has(family)) {
    const ink = /** @type {any} */ (document.createElement("canvas").getContext("2d"));
    ink.font = `${PX}px ${family}`;
    digitWidths.set(family, ink.measureText("0").width / PX);
  }
  return digitWidths.get(family);
}

const WORDS_ON_PHONE = 16, // words that have a row
  MOST_ANSWERS = 11, // columns of them in a talk
  ANSWERS_ON_PHONE = 8, // rows of them beside a text
  ALL_ANSWERS = 40; // which are all there on a page; of more, as of a language's words, those that fit

// The frame of some content, with the smallest letters of a talk, 0 in none; `extent` is {clientWidth, clientHeight} of its box.
export function frameOf(box, extent, { where, slots, other, all, paint }) {
  const isPaper = Boolean(box.closest(".printed")),
    isPhone = isOnPhone() && !isPaper,
    smallestInTalk = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize); // see model/present.js
  const letters = lettersOf(box, [...slots, ...(other?.slots ?? [])], all, paint),
    least = where.present && !isPhone ? smallestInTalk() : 0;
  return { extent, isPaper, isPhone, letters, least, withoutText: paint.withoutText };
}

// The parts, of partsOf(space), that fit a frame; above() returns the pixels that are taken.
export function fittingParts({ pass, slots }, frame, { partsOf, above }) {
  const { extent, least, isPaper, isPhone, withoutText } = frame;
  const isOfMany = answersIn(slots) > ALL_ANSWERS;
  if (isPhone) {
    const few = withoutText || isOfMany ? { answers: ANSWERS_ON_PHONE } : {};
    return partsOf({ ...amplyFor(WORDS_ON_PHONE), ...few });
  }
  const ample = ampleRoom(pass, slots, frame);
  const isFitting = rows => {
    const parts = partsOf({ ...ample, rows }),
      buttons = parts.filter(({ others }) => others.length).length,
      lines = roomForLines(extent, { parts: parts.length, above: above(), least, buttons });
    return heightOf(parts.flatMap(outlineOf)) <= lines;
  };
  if (isPaper || isFitting(ample.rows)) return partsOf(ample);
  return partsOf({ ...ample, rows: largestThatFits(2, ROWS_ALONE, isFitting, 1) }); // one row, and one of the others, at least
}

const answersIn = slots => slots.find(({ cells }) => cells.columns.name === "answer")?.cells.size[1] ?? 0;

// For how many columns there is room, and rows: in a talk for as many as have large letters.
function ampleRoom(pass, slots, { extent, letters, least, isPaper, withoutText }) {
  const others = Math.max(1, ...slots.map(({ rightColumns }) => rightColumns.length)),
    answers = answersIn(slots);
  const roomFor = (words, sizes) =>
    roomForColumns(extent, { others: 1, letters, least, isPaper, withoutText, words, ...sizes });
  const { size } = slots.find(({ cells }) => cells.columns.name === "key")?.cells ?? {},
    ample = amplyFor(roomFor(size?.[1] ?? pass.document.words.key.length, { others }));
  if (!least && !withoutText) return answers > ALL_ANSWERS ? { ...ample, answers: roomFor(answers) } : ample;
  const places = least ? roomFor(ample.places, { letters: { ...letters, names: 2 } }) : ample.places;
  return { ...ample, answers: roomFor(answers, { most: MOST_ANSWERS }), places };
}
