// Letters: whether single characters are shortcuts, as somebody chose. The browser keeps it, for every tab and visit.

const NAME = "attnviz-letters",
  ON = "on",
  OFF = "off";
let chosen = null; // where the browser keeps nothing, as in another site's frame

export function areLettersOn() {
  return (chosen ?? kept()) !== OFF;
}

// Whether the browser has what was chosen last, for the next visit.
export function areLettersKept() {
  return chosen === null;
}

export function turnLetters(isOn) {
  chosen = isOn ? ON : OFF;
  try {
    localStorage.setItem(NAME, chosen);
    chosen = null;
  } catch {} // it holds until the page is left
}

function kept() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
