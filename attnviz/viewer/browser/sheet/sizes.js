// Sizes: how high the lines of the sheet are and how large their digits, so that all of them fit its box.

const SAID = 0.2, LABEL = 0.07; // of the width: what is said, and what stands before a row
const SINGLE = 1.4, NAMES = 1.2; // lines that are one row high, and those of names, over the others
const LETTER = 0.53, AIR = 0.4; // in units of the font's size: a letter, and what is beside a number
const SMALLEST_PX = 9.5, LEAST_LINE_PX = 14;
const NARROW_PX = 820, NARROW_COLUMN_PX = 52, NARROW_LINE_PX = 26; // a page that is not wider grows downwards, as in the styles
const GAP_PX = 5, SPACING_PX = 1; // before a part, and between two lines (sheet.css)

// `lines` are as sheet.js has them, `letters` those of the longest number and name. The sizes are set as properties of the
// styles (sheet.css). What is said may still need more room than its rows: then it becomes smaller.
export function setSizes(box, { lines, parts, columns, letters, isPresented }) {
  const isNarrow = globalThis.innerWidth <= NARROW_PX, width = isNarrow ? Math.max(box.clientWidth, NARROW_COLUMN_PX * (columns + 5)) : box.clientWidth;
  const height = isNarrow ? NARROW_LINE_PX * lines.length : box.clientHeight, base = Number.parseFloat(getComputedStyle(box).fontSize);
  const weight = lines.reduce((sum, line) => sum + (line.isSingle ? SINGLE : line.isHeader ? NAMES : 1), 0);
  const room = height - GAP_PX * parts - SPACING_PX * (lines.length + 1);
  const line = Math.max(LEAST_LINE_PX, Math.min(room / weight, (isPresented ? 4 : 2) * base));
  const column = (width * (1 - SAID - LABEL)) / (columns + 1);
  const fit = (count, most) => Math.max(SMALLEST_PX, Math.min(most, column / (LETTER * count + AIR), 2.2 * base));
  const set = (name, size) => box.style.setProperty(`--${name}`, `${size.toFixed(2)}px`);
  const sizes = {
    table: width, line, said: SAID * width, label: LABEL * width,
    digits: fit(letters.numbers, line / 1.3), large: fit(letters.numbers, (SINGLE * line) / 1.35),
    chosen: fit(letters.numbers, line / 1.22), names: fit(letters.names, (NAMES * line) / 1.4),
  };
  for (const [name, size] of Object.entries(sizes)) set(name, size);
  for (let text = Math.min(Math.max(11, 0.6 * line), 0.95 * base); text > SMALLEST_PX; text *= 0.93) {
    set("said-size", text);
    if (isNarrow || box.scrollHeight <= box.clientHeight) break;
  }
}
