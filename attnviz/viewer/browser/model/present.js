// Presenting: what the keys and a remote's buttons do, in a talk and out of it.
import { listenToKeys } from "./shortcuts.js";
import { VIEWS, atHead, atHeads, besideStep, isSheet, presentedStep, walkOf } from "./state.js";
import { firstStop, isCounted, stopAtEnd, stopBeside } from "./route.js";

// Of a page in a talk, so that no letter of 1rem is less high than 1.5 % of the screen: the ink of a digit is at least 0.65 of it.
// And of any page in a window of 4K, which would be half empty else; one of 2304 x 1250 has the usual letters, one of 3840 x 2160
// more than twice as large ones.
const LETTERS = `@media screen {
  @media (min-width: 2304px) and (min-height: 1251px) { html { font-size: min(2.2vh - 11.5px, 1.24vw - 12.5px) !important; } }
  [data-presenting] { font-size: max(16px, min(2.35vh, 1.8vw)) !important; }
}`;
const REST_MS = 3000; // from where the mouse rests until what it has shown is hidden again

/** Where a command leads from here, as parts of `where`; null if it leads nowhere. @returns {any} */
export function destinationOf(/** @type {Pass} */ pass, /** @type {Where} */ where, /** @type {string} */ command) {
  const by = command.endsWith("back") ? -1 : 1;
  if (command.startsWith("head ")) return atHead(pass, where, by);
  if (command === "leave") return where.present ? { present: false, reveal: null } : null;
  if (command === "first" || command === "last") return stopAtEnd(pass, where, command === "first" ? 0 : -1);
  if (command.startsWith("band")) return numbered(pass, where, Number(command.slice(5)));
  if (command === "view") return { view: VIEWS.find(view => view !== where.view), reveal: null };
  if (command === "heads") return where.view === "heads" ? { view: VIEWS[0], reveal: null } : atHeads(pass, where);
  if (command === "present") return where.present ? { present: false, reveal: null } : presentedFrom(pass, where);
  if (where.present) return stopBeside(pass, where, by);
  const step = besideStep(pass, where, by);
  return step && { step };
}

/** The nth stop, if stops are counted; else the nth step with bands of the sheet, complete. @returns {Partial<Where> | null} */
function numbered(/** @type {Pass} */ pass, /** @type {Where} */ where, /** @type {number} */ number) {
  if (isCounted(pass, where)) return number ? (stopAtEnd(pass, where, number - 1) ?? null) : null;
  const steps = walkOf(pass, where).filter(step => isSheet(pass, { ...where, step }));
  return steps[number - 1] ? { step: steps[number - 1], reveal: null } : null;
}

function presentedFrom(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const view = where.view === "heads" ? "heads" : "sheet",
    place = /** @type {Where} */ ({ ...where, present: true, view });
  return { present: true, view, ...firstStop(pass, { ...place, step: presentedStep(pass, place) }) };
}

/** Marks the page of the viewer at `root` as presented, so that it hides everything but the picture, and as black until the command comes again
 * or the user does something else; a remote's next press only ends that. The same holds for the QR code, which `code` opens and closes.
 * onBlank() is called when it becomes black or no longer is. Returns {show(present), blank(is), isBlank(), end()}. @param {Document} page
 * @param {any} root @param {(command: string) => boolean} follow @param {{ open(): void, close(): boolean }} code */
export function makePresenting(page, root, follow, code, onBlank = () => {}) {
  const isPresenting = () => page.documentElement.hasAttribute("data-presenting");
  const isBlank = () => root.classList.contains("blank"),
    blank = (/** @type {boolean} */ is) => root.classList.toggle("blank", is);
  const act = (/** @type {string} */ command) => {
    const wasCoded = code.close(),
      isCodes = command === "code" || (wasCoded && command === "leave");
    if (command === "leave" && root.querySelector("[popover=auto]:popover-open")) return false; // Escape closes that
    const wasBlank = isBlank();
    if (command === "blank" && isPresenting()) {
      blank(!wasBlank);
      onBlank();
      return true;
    }
    mouse.forget();
    blank(false);
    if (wasBlank) onBlank();
    if (wasBlank && ["on", "back"].includes(command)) return true;
    if (command === "code" && !wasCoded) code.open();
    return isCodes || follow(command);
  };
  const end = listenToKeys(page, root, act, isPresenting),
    letters = new /** @type {typeof globalThis} */ (page.defaultView).CSSStyleSheet(),
    mouse = watchMouse(root);
  letters.replaceSync(LETTERS);
  page.adoptedStyleSheets.push(letters);
  return {
    show: (/** @type {boolean} */ present) => {
      page.documentElement.toggleAttribute("data-presenting", present);
      root.classList.toggle("presenting", present);
      if (!present) blank(false);
    },
    blank,
    isBlank,
    end: () => {
      end();
      mouse.end();
      page.adoptedStyleSheets = page.adoptedStyleSheets.filter(each => each !== letters);
      page.documentElement.removeAttribute("data-presenting");
    },
  };
}

/** Marks `root` as `moved` while the mouse is in use. Returns {forget(), end()}. @param {any} root */
function watchMouse(root) {
  let timer = 0,
    last = "";
  const forget = () => {
    clearTimeout(timer);
    root.classList.remove("moved");
  };
  const onMove = (/** @type {PointerEvent} */ { screenX, screenY }) => {
    const now = `${screenX} ${screenY}`,
      isMoved = now !== last; // an element that moves below a resting mouse fires the event, too
    last = now;
    if (!isMoved) return;
    forget();
    root.classList.add("moved");
    timer = setTimeout(forget, REST_MS);
  };
  root.addEventListener("pointermove", onMove);
  return {
    forget,
    end: () => {
      forget();
      root.removeEventListener("pointermove", onMove);
    },
  };
}
