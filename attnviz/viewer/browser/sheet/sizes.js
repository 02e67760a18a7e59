// Sizes: how high the lines of the sheet are and how large their digits, so that all of them fit its box.

const SAID = 0.19, LABEL = 0.075; // of the width: what is said, and what stands before a row
const SINGLE = 1.4, NAMES = 1.2; // lines that are one row high, and those of names, over the others
const LETTER = 0.56, AIR = 0.5; // in units of the font's size: a letter, and what is beside a number
const LEAST = 14; // pixels of a line
const GAP = 5, SPACING = 1; // pixels before a part, and between two lines (sheet.css)

// `lines` are as sheet.js has them; the sizes are set as properties of the styles (sheet.css).
export function setSizes(box, lines, { n_parts: parts, columns, longest, longestName }, { present, base }) {
  const { clientWidth: width, clientHeight: height } = box;
  const weight = lines.reduce((sum, line) => sum + (line.isSingle ? SINGLE : line.isHeader ? NAMES : 1), 0);
  const line = Math.max(LEAST, Math.min((height - GAP * parts - SPACING * (lines.length + 1)) / weight, present ? 4 * base : 2 * base));
  const column = (width * (1 - SAID - LABEL)) / (columns + 1);
  const fit = (letters, most) => Math.max(9.5, Math.min(most, column / (LETTER * letters + AIR), 2.2 * base));
  const sizes = {
    line, said: SAID * width, label: LABEL * width,
    digits: fit(longest, line / 1.3), large: fit(longest, (SINGLE * line) / 1.35), chosen: fit(longest, line / 1.15), names: fit(longestName, line / 1.1),
  };
  for (const [name, size] of Object.entries(sizes)) box.style.setProperty(`--${name}`, `${size.toFixed(2)}px`);
}
