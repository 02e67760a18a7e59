// Patterns: the axes of an array in the letters of a rule. "q (h f)": the first axis counts q; on the second h is outermost.

export const RUNNING = "i"; // stands in no result: a line that reads it is there once for each of its places

// As an array in C order is one row, its letters in their order are the digits of a place in it, on however many axes.
export function readPattern(text, sizes) {
  const axes = (text.match(/\([^)]*\)|\w/g) ?? []).map(axis => axis.match(/\w/g));
  const letters = axes.flat();
  const steps = {};
  let length = 1;
  for (const letter of [...letters].reverse()) {
    steps[letter] = length;
    length *= sizes[letter];
  }
  return { axes, letters, steps, sizes, length };
}

// Where the array has its number for some places of the letters.
export function flatAt({ letters, steps }, places) {
  let flat = 0;
  for (const letter of letters) flat += steps[letter] * places[letter];
  return flat;
}

// The places of the letters for a number of the array; of those that it lacks the last, or the first of those that run.
export function placesAt({ letters, steps, sizes }, flat) {
  const places = {};
  for (const letter in sizes) places[letter] = sizes[letter] - 1;
  places[RUNNING] = 0;
  for (const letter of letters) places[letter] = Math.floor(flat / steps[letter]) % sizes[letter];
  return places;
}
