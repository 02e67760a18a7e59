// Keyboard shortcuts, and whether this browser allows those that are single characters.

const NAME = "attnviz-letters",
  ON = "on",
  OFF = "off";
let chosen = /** @type {string | null} */ (null); // kept here if the browser can't store it, as in a frame of another site

export function areLettersOn() {
  try {
    return (chosen ?? localStorage.getItem(NAME)) !== OFF;
  } catch {
    return true;
  }
}

// Whether the browser has stored the choice for the next visit.
export const areLettersKept = () => chosen === null;

export function turnLetters(/** @type {boolean} */ isOn) {
  chosen = isOn ? ON : OFF;
  try {
    localStorage.setItem(NAME, chosen);
    chosen = null;
  } catch {} // it holds until the page is left
}

/** @type {Map<string, string>} */
const KEYS = new Map([
  ["PageDown", "on"],
  ["PageUp", "back"],
  ["ArrowRight", "on"],
  ["ArrowLeft", "back"],
  ["p", "present"],
  ["Escape", "leave"],
  ["]", "head on"],
  ["[", "head back"],
  ["w", "view"],
  ["h", "heads"],
  ["b", "blank"],
  [".", "blank"],
  ["q", "code"],
  ["c", "compare"],
  ["m", "moment"],
  ["e", "example"],
  ["Home", "first"],
  ["End", "last"],
  ...Array.from({ length: 10 }, (_, digit) => /** @type {const} */ ([String(digit), `band ${digit}`])),
]);
const NUMBER_MS = 1000; // within which the digits of a number follow each other
const CLOSED = ":not([role=combobox][aria-expanded=false])"; // nobody is typing in a box whose list is closed
const TEXT = `input:not([type=button]):not([type=checkbox]):not([type=radio]):not([type=range])${CLOSED}, textarea, [contenteditable=true]`;
const ASKING = "dialog.asks"; // it has all keys
const CLOSED_DIALOG = "dialog:not([open])"; // what is in it loses the keyboard with the next frame, and a key may come before
const TYPING = `${TEXT}, select`;
const RANGE = "input[type=range], [role=slider]"; // it has ends of its own
const MENU = ".menu"; // it has the arrow keys and Escape, while presenting too
const IN_TEXT = "dfn, :is(.said .link, .acts button):focus-visible"; // after a click the arrow keys are for the steps again
const MOVING = `${IN_TEXT}, .all-heads button, input${CLOSED}, select, [role=grid], [role=slider], [role=toolbar], [role=radiogroup], [role=tablist], [role=listbox], [role=menu]`;

/** The command of a key, or null if it is not for the viewer. `focused` has the keyboard; single characters are for the viewer only if that is
 * in it or in its settings, or nothing has the keyboard. @param {KeyboardEvent} keyboardEvent
 * @param {{ focused: any, isAtViewer: boolean, isPresenting: boolean }} props @returns {string | null} */
export function commandOf({ key, ctrlKey, altKey, metaKey, defaultPrevented }, { focused, isAtViewer, isPresenting }) {
  const command = KEYS.get(key?.length === 1 ? key.toLowerCase() : key);
  if (!command || focused?.closest(ASKING) || ctrlKey || altKey || metaKey || defaultPrevented) return null;
  const isMoving = focused?.closest(MENU);
  if (command === "leave") return isMoving ? null : command;
  if (key.startsWith("Page")) return isPresenting || !focused?.closest(TEXT) ? command : null; // a remote's buttons
  if (focused?.closest(TYPING)) return null;
  if (isMoving && key.length > 1) return null;
  if (key === "Home" || key === "End") return isPresenting && !focused?.closest(RANGE) ? command : null; // else the page scrolls
  if (key.startsWith("Arrow")) return isPresenting || !focused?.closest(MOVING) ? command : null; // a remote's too
  return isAtViewer && areLettersOn() ? command : null;
}

/** Calls act(command) for keys anywhere on the page of the viewer at `root`; it returns whether it did something. Returns a function that ends
 * this. @param {Document} page @param {any} root @param {(command: string) => boolean} act @param {() => boolean} isPresenting */
export function listenToKeys(page, root, act, isPresenting) {
  const numbered = makeNumbers(act);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const path = /** @type {any[]} */ (event.composedPath()),
      target = path.find(each => each.closest),
      focused = target?.closest(CLOSED_DIALOG) ? null : target,
      // a click into the page or its main part leaves the keyboard to that, which doesn't count as having it
      isAround = focused?.contains(root) || focused?.contains(root.getRootNode().host),
      isAtViewer = path.includes(root.parentNode) || !focused || isAround,
      command = commandOf(event, { focused, isAtViewer, isPresenting: isPresenting() });
    if (!command || !(command.startsWith("band") ? numbered(command, event.timeStamp) : act(command))) return;
    event.preventDefault();
    event.stopPropagation();
  };
  page.addEventListener("keydown", onKey, true);
  return () => page.removeEventListener("keydown", onKey, true);
}

/** Digits in quick succession are one number, where there is a band, or a stop, of that number.
 * @param {(command: string) => boolean} act @returns {(command: string, at: number) => boolean} */
function makeNumbers(act) {
  let digits = "",
    last = -Infinity; // or a digit in the first second of a page would count as the second
  return (command, at) => {
    const digit = command.slice(-1),
      longer = at - last < NUMBER_MS ? digits + digit : "";
    last = at;
    digits = longer.length > 1 && act(`band ${longer}`) ? longer : digit;
    return digits === longer || act(`band ${digit}`);
  };
}
