// Lettering: how much room the numbers and the names of the sheet need, in the font that is there.
import { scaleOf } from "../picture/face.js";
import { short } from "../pass/numeral.js";

const MOST_LETTERS = 10; // of a word that its column is as wide as; a longer one ends in dots
const PX = 100; // a size to measure at
const known = new Map(); // fonts -> how wide a digit is

// {numbers, names, own, wide}: the letters of the longest number that may stand there, and of the longest name; how large the
// box's own letters are, and how wide a digit is in its font, in units of its size. It is asked before the box gets other
// content, whose styles would be computed for it.
export function lettersOf(box, parts, slots, paint) {
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

// Calls draw() once the letters of a box are there, if others were measured in their place.
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
