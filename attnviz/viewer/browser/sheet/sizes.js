// Sizes: how high the lines of the sheet are and how large their digits, so that all of them fit its box.

const SAID = 0.19, LABEL = 0.075; // of the width: what is said, and what stands before a row
const SINGLE = 1.4, NAMES = 1.2; // lines that are one row high, and those of names, over the others
const LETTER = 0.56, AIR = 0.5; // in units of the font's size: a letter, and what is beside a number
const LEAST = 14; // pixels of a line
const GAP = 5, SPACING = 1; // pixels before a part, and between two lines (sheet.css)

const STRIP = { least: 56, most: 7 }; // of arcs above the words: pixels, and lines of text
const SENTENCE = { line: 0.6, most: 0.95 }; // the letters of what is said: of a line, and of the page's (sheet.css)

// `lines` are as sheet.js has them; the sizes are set as properties of the styles (sheet.css). Returns how high a strip above
// the lines is: 0 where it isn't `wanted`, or where the lines have no room to spare without smaller letters.
export function setSizes(box, lines, { n_parts: parts, columns, longest, longestName }, { present, base, wanted }) {
  const { clientWidth: width, clientHeight: height } = box;
  const weight = lines.reduce((sum, line) => sum + (line.isSingle ? SINGLE : line.isHeader ? NAMES : 1), 0);
  const between = GAP * parts + SPACING * (lines.length + 1), most = present ? 4 * base : 2 * base;
  const lineIn = (room) => Math.max(LEAST, Math.min((room - between) / weight, most));
  const column = (width * (1 - SAID - LABEL)) / (columns + 1);
  const fit = (letters, highest) => Math.max(9.5, Math.min(highest, column / (LETTER * letters + AIR), 2.2 * base));
  const lettersAt = (line) => ({
    digits: fit(longest, line / 1.3), large: fit(longest, (SINGLE * line) / 1.35), chosen: fit(longest, line / 1.15), names: fit(longestName, line / 1.1),
  });
  const full = lineIn(height), { digits, large, chosen, names } = lettersAt(full);
  const needed = Math.min(full, Math.max(LEAST, 1.3 * digits, (1.35 / SINGLE) * large, 1.15 * chosen, 1.1 * names, (SENTENCE.most / SENTENCE.line) * base));
  const spare = height - between - weight * needed, strip = wanted && spare >= STRIP.least ? Math.min(spare, STRIP.most * base) : 0;
  const line = lineIn(height - strip), sizes = { strip, line, said: SAID * width, label: LABEL * width, ...lettersAt(line) };
  for (const [name, size] of Object.entries(sizes)) box.style.setProperty(`--${name}`, `${size.toFixed(2)}px`);
  return strip;
}
