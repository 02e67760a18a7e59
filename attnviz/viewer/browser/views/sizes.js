// Sizes of the One word view: the letters, columns and rows that fit its box.
import { short } from "../model/numeral.js";
import { scaleOf } from "./slot.js";
import { amplyFor, narrowed } from "./bandParts.js";
import { outlineOf } from "./bandTable.js";
import { isInHand } from "./hand.js";

const SAID = 0.26,
  BESIDE_MANY = 0.2,
  LABEL = 0.07,
  LABEL_ALONE = 0.115,
  LEAST_SAID_PX = 160,
  LEAST_LABEL_PX = 68; // of the width: what is said, also where columns are many, and what stands before a row, also where nothing is said
const SINGLE = 1.4,
  NAMES = 1.2; // lines that are one row high, and those of names, over the others
const AIR = 0.4; // in units of the font's size: what is beside a number
const SMALLEST_PX = 9.5,
  LEAST_LINE_PX = 14;
const TARGET_PX = 24; // of a line with a button: a finger or a shaking hand hits it
const PAPER_PX = 12,
  NARROW_LETTER = 0.53,
  WIDE_LETTER = 0.64; // 9 points; on paper as many have room as in a narrow font, and no digit may touch another's in a wide one
const MOST = { line: 2, digits: 2.2 },
  MOST_PRESENTED = { line: 4, digits: 2.2 },
  MOST_ON_PAPER = { line: 3, digits: 1.4 }; // in the page's letters
const LARGE_WINDOW_PX = 900; // a higher one, as of 4K, has larger lines and letters; the box's own height is another at each step
const LEAST_END_PX = 56; // the last column, where "head 1, 8" stands
const USUAL_PX = 15.2; // of the page's letters where no window is so large
const MOST_NARROW = 16,
  LEAST_COLUMN_PX = 44; // so many words may have narrower columns, as far as their letters fit
const ASKED_PX = 10.5; // the size of digits where there are many words
const NARROW_PX = 820,
  NARROW_LINE_PX = 26; // a page that is not wider grows downwards, as in the styles
const GAP_PX = 5,
  SPACING_PX = 1; // before a part, and between two lines (sheet.css)
const IN_A_TALK = { label: 10.5, end: 9, line: 1.31, lowest: 1.15 }; // of the smallest letters: before a row and at its end, in digits; how high a line is, and how low where labels take two rows
const PRODUCT = 8; // signs of "1.00 × 2.00 = 2.00" and of its minuses that are no numbers

const STRIP = { least: 56, most: 7 }; // of arcs above the words: pixels, and lines of text
const SENTENCE = { line: 0.6, most: 0.95, least: 13 }; // the letters of what is said: of a line, and of the page's; pixels, before lines are less high

// The number of columns that fit beside `others`, wide enough for their letters (see setSizes). In a talk space is kept for the products,
// so that no column disappears when they come.
export function roomForColumns(extent, { others, letters, least, isPaper, withoutText, most = MOST_NARROW, words }) {
  const size = least || (isPaper ? PAPER_PX : words > most ? ASKED_PX : SMALLEST_PX),
    width = extent.clientWidth;
  const count = Math.max(letters.numbers, letters.names),
    needed = ((isPaper ? NARROW_LETTER : letters.wide) * count + AIR) * size;
  const labelWidth = withoutText
    ? labelIn(width, withoutText) + LEAST_END_PX
    : least
      ? productsIn(letters, least) +
        IN_A_TALK.label * letters.wide * least +
        (IN_A_TALK.end * letters.wide * least - needed)
      : saidIn(width, BESIDE_MANY) + labelIn(width);
  const fittingColumns = narrowest => Math.floor((width - labelWidth) / Math.max(needed, narrowest)) - others;
  return words <= Math.min(most, fittingColumns(0)) ? words : Math.max(fittingColumns(least ? 0 : LEAST_COLUMN_PX), 2);
}

// The number of lines of digits that fit, some of them with a button; a narrow page grows downwards.
function roomForLines(extent, { parts, above, least, buttons }) {
  const line = least ? IN_A_TALK.line * least : LEAST_LINE_PX,
    higher = Math.max(0, TARGET_PX - line) * buttons;
  const borders = least ? line / 3 : 0; // of lines of two rows, as “exp(score − max)” may be
  return isNarrowPage() && !least
    ? Number.POSITIVE_INFINITY
    : (extent.clientHeight - above - GAP_PX * parts - higher - borders) / (line + SPACING_PX);
}

function isNarrowPage() {
  return globalThis.innerWidth <= NARROW_PX;
}

// The height of the lines without a fixed height, in lines of digits.
function weightOf(lines) {
  return lines.reduce(
    (sum, { fixed, isSingle, isHeader }) => sum + (fixed ? 0 : isSingle ? SINGLE : isHeader ? NAMES : 1),
    0,
  );
}

// `lines` are those of bandTable.js, some with a `fixed` height in pixels; `letters` has how many those of the longest number and
// `names` name have, and how `wide` a digit is in its font; `above` them pixels are taken. `least` is how large letters are at
// least in a talk, 0 in none; there what is said stands above, and only what `multiplies` has room beside. The sizes are set as
// properties of the styles (sheet.css). What is said may still need more room than its rows: then it becomes smaller, the lines
// less high, and what is said smaller again. Returns how high a strip above the lines is: 0 where it isn't `wanted`, or where they have no room to spare without smaller letters.
export function setSizes(
  box,
  {
    extent,
    lines,
    parts,
    columns,
    letters,
    least = 0,
    multiplies = false,
    isPaper = false,
    withoutText = false,
    wanted,
    above = 0,
  },
) {
  const smallest = least || (isPaper ? PAPER_PX : SMALLEST_PX),
    isNarrow = !isPaper && isNarrowPage(),
    width = extent.clientWidth;
  const height = isNarrow ? NARROW_LINE_PX * lines.length : extent.clientHeight - above,
    larger = isPaper || isNarrow ? 1 : Math.max(1, (globalThis.innerHeight ?? 0) / LARGE_WINDOW_PX),
    { own } = letters,
    base = Math.max(own, larger * (least ? own : Math.min(own, USUAL_PX))); // in a window of 4K its own are larger already
  const most = isPaper ? MOST_ON_PAPER : least ? MOST_PRESENTED : MOST;
  const spaceOf = some =>
    height - some.reduce((sum, line) => sum + (line.fixed ?? 0), 0) - GAP_PX * parts - SPACING_PX * (lines.length + 1);
  const target = !isPaper && lines.some(({ isButton }) => isButton) ? TARGET_PX : 0;
  const sizedLines =
    spaceOf(lines) / weightOf(lines) < target
      ? lines.map(line => (line.isButton ? { ...line, fixed: target } : line))
      : lines;
  const weight = weightOf(sizedLines),
    room = spaceOf(sizedLines);
  const lineIn = space => Math.max(LEAST_LINE_PX, Math.min(space / weight, most.line * base));
  const needs = wide(letters.numbers, letters, isPaper) * smallest;
  const { said, label, end, column } = least
    ? widthsInTalk(width, columns, {
        said: multiplies && !withoutText ? productsIn(letters, least) : 0,
        digit: letters.wide * least,
      })
    : widths(width, columns, { said: withoutText ? 0 : saidIn(width), label: labelIn(width, withoutText) }, needs);
  const fit = (count, high) =>
    Math.max(smallest, Math.min(high, column / wide(count, letters, isPaper), most.digits * base));
  const inLabel = Math.max(smallest, label / wide(letters.numbers, letters, isPaper)); // where what is multiplied stands
  const lettersAt = line => ({
    digits: Math.min(inLabel, fit(letters.numbers, line / 1.3)),
    large: fit(letters.numbers, (SINGLE * line) / 1.35),
    chosen: fit(letters.numbers, line / 1.22),
    names: fit(letters.names, (NAMES * line) / 1.4),
  });
  const full = lineIn(room),
    { digits, large, chosen, names } = lettersAt(full);
  const needed = Math.max(
    1.3 * digits,
    (1.35 / SINGLE) * large,
    1.22 * chosen,
    (1.4 / NAMES) * names,
    (SENTENCE.most / SENTENCE.line) * base,
  );
  const spare = room - weight * Math.min(full, Math.max(needed, target)),
    strip = wanted && !isNarrow && spare >= STRIP.least ? Math.min(spare, STRIP.most * base) : 0;
  const set = (name, size) => box.style.setProperty(`--${name}`, `${size.toFixed(2)}px`);
  const setLine = high => {
    const sizes = { strip, line: high, said, label, end, ...lettersAt(high) };
    for (const [name, size] of Object.entries(sizes)) set(name, size);
  };
  const line = lineIn(room - strip);
  setLine(line);
  const over = () => (isNarrow ? 0 : box.scrollHeight - box.clientHeight);
  const say = (from, to) => {
    set("said-size", from);
    for (let text = from; over() > 0 && text > to; set("said-size", text)) text = Math.max(0.9 * text, to);
  };
  const read = Math.max(smallest, isPaper ? 0 : SENTENCE.least);
  say(Math.max(read, Math.min(SENTENCE.line * line, SENTENCE.most * base)), read);
  const lowest = Math.max(LEAST_LINE_PX, IN_A_TALK.lowest * least);
  for (let low = line; over() > 0 && low > lowest; setLine(low))
    low = Math.max(low - Math.max(over() / weight, 0.2), lowest);
  if (over() > 0) say(read, smallest);
  return strip;
}

// The width of `count` letters and the space beside them, in units of the font's size.
function wide(count, letters, isPaper) {
  return (isPaper ? Math.max(WIDE_LETTER, letters.wide) : letters.wide) * count + AIR;
}

// The widths of the columns and of the last one; sentences get less where numbers need more.
function widths(width, columns, { said, label }, needs) {
  const shared = width - said - label,
    end = Math.max(LEAST_END_PX, shared / (columns + 1)),
    column = (shared - end) / columns;
  return column < needs && said > LEAST_SAID_PX
    ? widths(width, columns, { said: LEAST_SAID_PX, label }, needs)
    : { said, label, end, column };
}

function widthsInTalk(width, columns, { said, digit }) {
  const label = Math.max(IN_A_TALK.label * digit, labelIn(width)),
    shared = width - said - label;
  const end = Math.max(IN_A_TALK.end * digit, shared / (columns + 1));
  return { said, label, end, column: (shared - end) / columns };
}

// Three numbers and the signs between them.
function productsIn(letters, least) {
  return (3 * letters.numbers + PRODUCT) * letters.wide * 0.93 * least; // signs and spaces are narrower than digits
}

function saidIn(width, share = SAID) {
  return Math.max(LEAST_SAID_PX, share * width);
}

function labelIn(width, withoutText = false) {
  return Math.max(LEAST_LABEL_PX, (withoutText ? LABEL_ALONE : LABEL) * width);
}

const MOST_LETTERS = 10; // of a word that its column is as wide as; a longer one ends in dots
const PX = 100; // a size to measure at
const known = new Map(); // fonts -> how wide a digit is

// {numbers, names, own, wide}: the letters of the longest number that may stand there, and of the longest name; how large the
// box's own letters are, and how wide a digit is in its font, in units of its size. It is asked before the box gets other
// content, whose styles would be computed for it.
function lettersOf(box, parts, slots, paint) {
  const numbers = slots
    .map(slot => scaleOf(slot, paint))
    .map(({ scale, limit }) => (scale === "signed" ? short(-limit).length : 4));
  const { fontSize, fontFamily } = getComputedStyle(box);
  return {
    numbers: Math.max(parts.some(({ isLong }) => isLong) ? 6 : 4, ...numbers),
    names: Math.min(
      MOST_LETTERS,
      Math.max(3, ...parts.flatMap(({ cells }) => cells.columns.labels.map(label => [...label].length))),
    ),
    own: Number.parseFloat(fontSize),
    wide: digitIn(fontFamily),
  };
}

// Calls draw() once a box's font has loaded, if a fallback was measured.
export function awaitLetters(box, draw) {
  const { fontFamily } = getComputedStyle(box),
    letters = fontFamily && `1em ${fontFamily}`; // a sheet that has left the page has none
  if (!letters || document.fonts.check(letters)) return;
  document.fonts.load(letters).then(() => {
    known.delete(fontFamily);
    draw();
  });
}

function digitIn(family) {
  if (!known.has(family)) {
    const ink = document.createElement("canvas").getContext("2d");
    ink.font = `${PX}px ${family}`;
    known.set(family, ink.measureText("0").width / PX);
  }
  return known.get(family);
}

const MOST_IN_HAND = 16; // words that have a row on a phone
const MOST_ANSWERS = 11, // columns of them in a talk
  MOST_ANSWERS_IN_HAND = 8; // rows of them beside a text

// The frame of some content: {extent, isPaper, isHeld, letters, least, withoutText}, with the smallest letters of a talk, 0 in none.
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
    withoutText: paint.withoutText,
  };
}

// The parts, of partsOf(space), that fit a frame; above() returns the pixels that are taken.
export function fittingParts({ pass, slots }, frame, { partsOf, above }) {
  if (frame.isHeld)
    return partsOf({ ...amplyFor(MOST_IN_HAND), ...(frame.withoutText ? { answers: MOST_ANSWERS_IN_HAND } : {}) });
  const ample = ampleRoom(pass, slots, frame);
  const fits = space => {
    const parts = partsOf(space),
      buttons = parts.filter(({ others }) => others.length).length,
      lines = roomForLines(frame.extent, { parts: parts.length, above: above(), least: frame.least, buttons });
    return weightOf(parts.flatMap(outlineOf)) <= lines;
  };
  return partsOf(frame.isPaper ? ample : narrowed(ample, fits));
}

// For how many columns there is room, and rows: in a talk for as many as have large letters.
function ampleRoom(pass, slots, { extent, letters, least, isPaper, withoutText }) {
  const others = Math.max(1, ...slots.map(({ rightColumns }) => rightColumns.length));
  const roomFor = (words, sizes) =>
    roomForColumns(extent, { others: 1, letters, least, isPaper, withoutText, words, ...sizes });
  const ample = amplyFor(roomFor(pass.document.words.key.length, { others }));
  if (!least && !withoutText) return ample;
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
