// Sizes: how high the lines of the sheet are and how large their digits, so that all of them fit its box.

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

// The number of columns that have room beside so many others: as many as have room for their letters (see setSizes). In a talk there is
// room for products beside them, so that no column goes away as they come.
export function roomForColumns(extent, { others, letters, least, isPaper, isBare, most = MOST_NARROW, words }) {
  const size = least || (isPaper ? PAPER_PX : words > most ? ASKED_PX : SMALLEST_PX),
    width = extent.clientWidth;
  const count = Math.max(letters.numbers, letters.names),
    needed = ((isPaper ? NARROW_LETTER : letters.wide) * count + AIR) * size;
  const beside = isBare
    ? labelIn(width, isBare) + LEAST_END_PX
    : least
      ? productsIn(letters, least) +
        IN_A_TALK.label * letters.wide * least +
        (IN_A_TALK.end * letters.wide * least - needed)
      : saidIn(width, BESIDE_MANY) + labelIn(width);
  const room = narrowest => Math.floor((width - beside) / Math.max(needed, narrowest)) - others;
  return words <= Math.min(most, room(0)) ? words : Math.max(room(least ? 0 : LEAST_COLUMN_PX), 2);
}

// The number of lines of digits that have room one above the other, some of them with a button; a narrow page grows downwards.
export function roomForLines(extent, { parts, above, least, buttons }) {
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

// The weight of some lines, in lines.
export function weightOf(lines) {
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
    isBare = false,
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
  const roomOf = some =>
    height - some.reduce((sum, line) => sum + (line.fixed ?? 0), 0) - GAP_PX * parts - SPACING_PX * (lines.length + 1);
  const target = !isPaper && lines.some(({ isButton }) => isButton) ? TARGET_PX : 0;
  const standing =
    roomOf(lines) / weightOf(lines) < target
      ? lines.map(line => (line.isButton ? { ...line, fixed: target } : line))
      : lines;
  const weight = weightOf(standing),
    room = roomOf(standing);
  const lineIn = space => Math.max(LEAST_LINE_PX, Math.min(space / weight, most.line * base));
  const needs = wide(letters.numbers, letters, isPaper) * smallest;
  const { said, label, end, column } = least
    ? widthsInTalk(width, columns, {
        said: multiplies && !isBare ? productsIn(letters, least) : 0,
        digit: letters.wide * least,
      })
    : widths(width, columns, { said: isBare ? 0 : saidIn(width), label: labelIn(width, isBare) }, needs);
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

// The width of a number or a name of so many letters, with what is beside it, in units of the font's size.
function wide(count, letters, isPaper) {
  return (isPaper ? Math.max(WIDE_LETTER, letters.wide) : letters.wide) * count + AIR;
}

// The widths of the columns, and of the last one, beside the sentences; where numbers need more, sentences have less.
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

function labelIn(width, isBare = false) {
  return Math.max(LEAST_LABEL_PX, (isBare ? LABEL_ALONE : LABEL) * width);
}
