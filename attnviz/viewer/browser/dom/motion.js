// Animates a drawing between two states (`moments`), which are plain numbers in arrays or objects. It moves positions and widths; digits are
// written at rest. It uses frames, as CSS and Web Animations can't animate a path, or a sum, in every browser.

export const MOTION_MS = 400;

/** Interpolates between two moments of the same shape. What isn't a number, or is only in the second, is taken from the second.
 * @param {any} from @param {any} to @param {number} part @returns {any} */
export function between(from, to, part) {
  if (typeof to === "number") return typeof from === "number" ? from + (to - from) * part : to;
  if (to === null || typeof to !== "object") return to;
  const mix = (/** @type {any} */ value, /** @type {any} */ key) => between(from?.[key], value, part);
  if (Array.isArray(to)) return to.map(mix);
  return Object.fromEntries(Object.entries(to).map(([key, value]) => [key, mix(value, key)]));
}

const eased = (/** @type {number} */ part) => (part < 0.5 ? 2 * part ** 2 : 1 - 2 * (1 - part) ** 2);

// Without frames (a handout, a test), or for users who prefer reduced motion, every moment is shown at once.
const FRAMES = {
  now: () => performance.now(),
  request: (/** @type {FrameRequestCallback} */ act) => requestAnimationFrame(act),
  cancel: (/** @type {number} */ id) => cancelAnimationFrame(id),
  isCalm: () =>
    !globalThis.requestAnimationFrame || Boolean(globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches),
};

export const isCalm = () => FRAMES.isCalm();

/** Moves a drawing. `draw(moment)` sets positions and widths, and `print(moment)` the words and digits of a moment at rest. While it
 * moves, `element` has the class `moving`, which hides its `.digits`. @param {{ element: Element, draw: (moment: any) => void,
 * print?: (moment: any) => void, between?: (from: any, to: any, part: number) => any, frames?: typeof FRAMES }} props */
export function makeMotion({ element, draw, print = () => {}, between: mix = between, frames = FRAMES }) {
  let seen = /** @type {any} */ (null),
    target = /** @type {any} */ (null),
    frame = 0,
    finish = /** @type {(() => void) | null} */ (null); // while it moves
  const see = (/** @type {any} */ moment) => {
    seen = moment;
    draw(moment);
  };
  const stop = () => {
    if (finish) frames.cancel(frame);
    finish = null;
  };
  const rest = (/** @type {boolean} */ isQuiet, /** @type {(() => void) | undefined} */ after = undefined) => {
    stop();
    see(target);
    print(target);
    element.classList.toggle("moving", isQuiet);
    after?.();
  };
  return {
    get target() {
      return target;
    },
    get isMoving() {
      return finish !== null;
    },
    /** Shows a moment at once. @param {any} moment */
    set(moment) {
      target = moment;
      rest(false);
    },
    /** Animates from what is shown to a moment. Replaces a running animation, whose `after` isn't called. `isQuiet` keeps the digits hidden at
     * the end, for one of several animations in a row. @param {any} moment @param {{ ms?: number, isQuiet?: boolean, after?: () => void }} [options] */
    go(moment, { ms = MOTION_MS, isQuiet = false, after } = {}) {
      stop();
      target = moment;
      if (seen === null || ms <= 0 || frames.isCalm()) return rest(isQuiet && !frames.isCalm(), after);
      const from = seen,
        begun = frames.now();
      const step = (/** @type {number} */ now) => {
        const part = Math.max(0, now - begun) / ms;
        if (part >= 1) return rest(isQuiet, after);
        see(mix(from, moment, eased(part)));
        frame = frames.request(step);
      };
      finish = () => rest(isQuiet, after);
      element.classList.add("moving");
      frame = frames.request(step);
    },
    /** Jumps to the end of a running animation. */
    finish: () => finish?.(),
  };
}
