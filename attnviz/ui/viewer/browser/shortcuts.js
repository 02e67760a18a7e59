// Shortcuts: what a key means on the whole page, a presenter's remote included.

const KEYS = new Map([
  ["PageDown", "on"], ["PageUp", "back"], ["ArrowRight", "on"], ["ArrowLeft", "back"],
  ["p", "present"], ["P", "present"], ["Escape", "leave"], ["]", "head on"], ["[", "head back"],
]);
const REMOTE = ["PageDown", "PageUp"]; // a remote's buttons, which work whatever has the keyboard
const CLOSED = ":not([role=combobox][aria-expanded=false])"; // a box whose list is closed: nobody is typing in it
const TYPING = `input:not([type=button]):not([type=checkbox]):not([type=radio]):not([type=range])${CLOSED}, textarea, select, [contenteditable=true]`;
const MOVING = `input${CLOSED}, select, [role=grid], [role=slider], [role=toolbar], [role=radiogroup], [role=tablist], [role=listbox], [role=menu]`;

// "on", "back", "present", "leave", "head on", "head back", or null if the key is someone else's. While presenting arrows
// are a remote's too, whatever has the keyboard.
export function commandOf({ key, ctrlKey, altKey, metaKey, defaultPrevented }, held, isPresenting) {
  const command = KEYS.get(key);
  if (!command || ctrlKey || altKey || metaKey || defaultPrevented) return null;
  if (REMOTE.includes(key) || command === "leave") return command;
  if (held?.closest(TYPING)) return null;
  return key.startsWith("Arrow") && !isPresenting && held?.closest(MOVING) ? null : command;
}

// Calls act(command) as keys are pressed anywhere on the page; what it returns says whether it did something. isPresenting()
// says whether someone is. Returns what ends this.
export function listenToKeys(page, act, isPresenting) {
  const onKey = (event) => {
    const command = commandOf(event, event.composedPath().find((each) => each.closest), isPresenting());
    if (!command || !act(command)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  page.addEventListener("keydown", onKey, true);
  return () => page.removeEventListener("keydown", onKey, true);
}
