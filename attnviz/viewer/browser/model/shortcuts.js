// Keyboard shortcuts, and whether this browser allows those that are single characters.

const NAME = "attnviz-letters",
  ON = "on",
  OFF = "off";
let chosen = null; // where the browser keeps nothing, as in another site's frame

export function areLettersOn() {
  return (chosen ?? stored()) !== OFF;
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

function stored() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** @type {Map<string, string>} */
const KEYS = new Map([
  ["PageDown", "on"],
  ["PageUp", "back"],
  ["ArrowRight", "on"],
  ["ArrowLeft", "back"],
  ["p", "present"],
  ["P", "present"],
  ["Escape", "leave"],
  ["]", "head on"],
  ["[", "head back"],
  ["w", "view"],
  ["W", "view"],
  ["b", "blank"],
  ["B", "blank"],
  [".", "blank"],
  ["q", "code"],
  ["Q", "code"],
  ["c", "compare"],
  ["C", "compare"],
  ["m", "moment"],
  ["M", "moment"],
  ["e", "example"],
  ["E", "example"],
  ["Home", "first"],
  ["End", "last"],
  ...Array.from({ length: 10 }, (_, digit) => /** @type {const} */ ([String(digit), `band ${digit}`])),
]);
const NUMBER_MS = 1000; // within which the digits of a number follow each other
const CLOSED = ":not([role=combobox][aria-expanded=false])"; // a box whose list is closed: nobody is typing in it
const TEXT = `input:not([type=button]):not([type=checkbox]):not([type=radio]):not([type=range])${CLOSED}, textarea, [contenteditable=true]`;
const ASKING = "dialog.asks"; // it has all keys
const CLOSED_DIALOG = "dialog:not([open])"; // what is in it loses the keyboard with the next frame, and a key may come before
const TYPING = `${TEXT}, select`;
const RANGE = "input[type=range]"; // it has ends of its own
const MOVING = `input${CLOSED}, select, [role=grid], [role=slider], [role=toolbar], [role=radiogroup], [role=tablist], [role=listbox], [role=menu]`;

// "on", "back", "first", "last", "present", "leave", "head on", "head back", "view", "blank", "code", "compare", "example", "moment", "band 0" to
// "band 9", or null if the key is someone else's. `held` is what has the keyboard; single characters are for the viewer only
// where that is in it or in its settings, or nothing has it.
export function commandOf({ key, ctrlKey, altKey, metaKey, defaultPrevented }, { held, isAtViewer, isPresenting }) {
  const command = KEYS.get(key);
  if (!command || held?.closest(ASKING) || ctrlKey || altKey || metaKey || defaultPrevented) return null;
  if (command === "leave") return command;
  if (key.startsWith("Page")) return isPresenting || !held?.closest(TEXT) ? command : null; // a remote's buttons
  if (held?.closest(TYPING)) return null;
  if (key === "Home" || key === "End") return isPresenting && !held?.closest(RANGE) ? command : null; // else the page scrolls
  if (key.startsWith("Arrow")) return isPresenting || !held?.closest(MOVING) ? command : null; // a remote's too
  return isAtViewer && areLettersOn() ? command : null;
}

// Calls act(command) as keys are pressed anywhere on the page of the viewer at `root`; what it returns says whether it did
// something. isPresenting() says whether someone is. Returns what ends this.
export function listenToKeys(page, root, act, isPresenting) {
  const numbered = makeNumbers(act);
  const onKey = event => {
    const path = event.composedPath(),
      first = path.find(each => each.closest),
      held = first?.closest(CLOSED_DIALOG) ? null : first;
    const isAtViewer = path.includes(root.parentNode) || !held || isAround(held, root);
    const command = commandOf(event, { held, isAtViewer, isPresenting: isPresenting() });
    if (!command || !(command.startsWith("band") ? numbered(command, event.timeStamp) : act(command))) return;
    event.preventDefault();
    event.stopPropagation();
  };
  page.addEventListener("keydown", onKey, true);
  return () => page.removeEventListener("keydown", onKey, true);
}

// Digits in quick succession are one number, where there is a band, or a stop, of that number.
function makeNumbers(act) {
  let digits = "",
    last = 0;
  return (command, at) => {
    const digit = command.at(-1),
      longer = at - last < NUMBER_MS ? digits + digit : "";
    last = at;
    digits = longer.length > 1 && act(`band ${longer}`) ? longer : digit;
    return digits === longer || act(`band ${digit}`);
  };
}

// The page, or its main part, which a click into it leaves the keyboard to, doesn't count as having it.
function isAround(held, root) {
  return held.contains(root) || held.contains(root.getRootNode().host);
}
