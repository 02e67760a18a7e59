// The order of what there is to see: the next stop, and playing a step band by band.
import { ROUTES, focusOf, isOfSheet, isSheet, stepsOf, walkOf } from "./state.js";
import { resultStages, revealsOf } from "./address.js";
import { layerOfKeys } from "./words.js";

/** @typedef {{step: string, reveal: number | null}} Stop */

/** The stop `by` further on in the route, as parts of `where`; null if there is none. @param {Pass} pass @param {Where} where @param {number} by */
export function stopBeside(pass, where, by) {
  const all = stopsOf(pass, where),
    onRoute = new Set(isShort(pass, where) ? shortRoute(pass, all) : all),
    now = indexOfStop(all, where),
    further = by > 0 ? all.slice(now + 1) : all.slice(0, now).reverse();
  return further.find(stop => onRoute.has(stop)) ?? null;
}

// The stop of the route at an index, from the end if it is negative; undefined if there is none.
export function stopAtEnd(/** @type {Pass} */ pass, /** @type {Where} */ where, /** @type {number} */ index) {
  const all = stopsOf(pass, where);
  return (isShort(pass, where) ? shortRoute(pass, all) : all).at(index);
}

/** The first stop of a step. @param {Pass} pass @param {Where} where */
export const firstStop = (pass, where) =>
  stopsOf(pass, where).find(({ step }) => step === where.step) ?? { step: where.step, reveal: null };

// The position as it is counted: stops of the short route in a talk, else steps, as they stand on the map.
export function countedPosition(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  if (isCounted(pass, where)) {
    const all = stopsOf(pass, where),
      onRoute = shortRoute(pass, all),
      passed = all.slice(0, indexOfStop(all, where) + 1);
    return `stop ${onRoute.filter(stop => passed.includes(stop)).length} of ${onRoute.length}`;
  }
  const ids = where.present ? walkOf(pass, where) : stepsOf(pass);
  return `step ${ids.indexOf(where.step) + 1} of ${ids.length}`;
}

/** Whether the position is counted in stops: in a talk on the short route. @param {Pass} pass @param {Where} where */
export const isCounted = (pass, where) => where.present && isShort(pass, where);

/** The server request with which a talk goes on, as [action, message], or null: the next letter of a model that writes, while its bars
 * are shown; and at the end another sentence. @param {Pass} pass @param {Where} where */
export function nextRequest(pass, where) {
  if (!where.present) return null;
  const { next, steps } = pass.document,
    offer = offeredAt(pass, where);
  if (next && where.step === steps[0].id && !next.ends && !next.isFull) return ["next", true];
  return offer && [offer.event, offer.value];
}

/** Whether a talk would begin where everything is written: no letter is left for a remote. @param {Pass} pass @param {Where} where */
export function isWritten(pass, where) {
  const { next, steps } = pass.document;
  return Boolean(next && (next.ends || next.isFull)) && !where.present && where.step === steps[0].id;
}

/** The other sentence that is offered at the end of a talk; null before it. @param {Pass} pass @param {Where} where */
export function offeredAt(pass, where) {
  const { offer, steps } = pass.document,
    isAtEnd = where.present && where.step === steps[0].id && where.reveal === null;
  return isAtEnd && isOfSheet(pass, where) && !pass.other ? offer : null;
}

/** Every stop: each reveal of each step. A question is asked first, and answered at the end. @returns {Stop[]} */
function stopsOf(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const stops = walkOf(pass, where).flatMap(step => stopsIn(pass, { ...where, step })),
    [first, second] = stops,
    isFirstStep = first.step === pass.document.steps[0].id && second?.step === first.step,
    isAsked = first.reveal === 0 && isFirstStep && isOfSheet(pass, where);
  return isAsked ? [first, ...stops.slice(2), second] : stops;
}

/** @param {Pass} pass @param {Where} where @returns {Stop[]} */
const stopsIn = (pass, where) => [...revealsOf(pass, where).keys(), null].map(reveal => ({ step: where.step, reveal }));

function indexOfStop(/** @type {Stop[]} */ stops, /** @type {Stop} */ { step, reveal }) {
  const exact = stops.findIndex(stop => stop.step === step && stop.reveal === reveal);
  return exact < 0 ? stops.findIndex(stop => stop.step === step) : exact;
}

/** @param {Pass} pass @param {Where} where */
const isShort = (pass, where) => where.route === ROUTES[0] && isOfSheet(pass, where);

// The question, comparing, attention and collecting in the last layer, the attention of the layer that makes its keys, and the answer.
function shortRoute(/** @type {Pass} */ pass, /** @type {Stop[]} */ stops) {
  const { steps } = pass.document,
    ofWords = steps.filter(({ page }) => page.startsWith("words")),
    layers = [...new Set(ofWords.map(({ layer }) => layer))],
    last = ofWords.filter(({ layer }) => layer === layers.at(-1)),
    before = layerOfKeys(pass.document, layers.at(-1) ?? 0),
    hasAttention = (/** @type {Step} */ step) =>
      step.bands.some(({ cells, array }) => cells.stage === step.attention && !array);
  const chosen = [
    ofWords.find(step => step.layer === before && hasAttention(step)),
    last.find(({ bands }) => bands.some(({ factors }) => factors)),
    last.find(hasAttention),
    last.find(({ bands }) => bands.some(({ right }) => right)),
    steps.findLast(({ bands }) => bands.length),
  ].map(step => step?.id);
  return stops.filter(({ step, reveal }) => step === steps[0].id || (chosen.includes(step) && reveal === null));
}

export const SPEEDS = new Map([
  ["slow", 2],
  ["normal", 1],
  ["fast", 0.4],
]);
const MAX_PARTS = 24; // products, cells or rows that come one by one; of more, several come at once

/** Its ticks: {reveal, part, ms}, as revealAt takes the first two; ms is how long each is shown at normal speed. On the sheet each has its step
 * too. @param {Pass} pass @param {Where} where @returns {Tick[]} */
export function ticksOf(pass, where) {
  if (isSheet(pass, where)) return ticksOfSheet(pass, where);
  const names = revealsOf(pass, where),
    focus = focusOf(pass, where),
    products = pass.terms(focus.name, focus.index)?.lines.length ?? 0,
    shapes = resultStages(pass, where).map(name => pass.stages.get(name).shape),
    longest = (/** @type {number} */ axis) => Math.max(0, ...shapes.map(shape => shape.at(axis) ?? 1)),
    counted = (
      /** @type {number | null} */ reveal,
      /** @type {number} */ first,
      /** @type {number} */ last,
      /** @type {number} */ ms,
    ) => countsBetween(first, last).map(part => /** @type {Tick} */ ({ reveal, part, ms }));
  const ticks = names.flatMap((name, reveal) => {
    if (name === "products") return counted(reveal, 1, products, Math.min(700, 6000 / products));
    if (name === "row") return counted(reveal, names.includes("next") ? 3 : 2, longest(-1), 300);
    return [/** @type {Tick} */ ({ reveal, part: null, ms: 900 })];
  });
  return [...ticks, ...counted(null, 2, longest(-2), 300), { reveal: null, part: null, ms: 0 }];
}

/** The bands of the sheet from this step on, reveal by reveal; from the first if it is at its end. @returns {Tick[]} */
function ticksOfSheet(/** @type {Pass} */ pass, /** @type {Where} */ where) {
  const walk = walkOf(pass, where).filter(step => isSheet(pass, { ...where, step })),
    now = walk.indexOf(where.step),
    isAtEnd = now === walk.length - 1 && where.reveal === null,
    stops = walk.slice(isAtEnd ? 0 : now).flatMap(step => stopsIn(pass, { ...where, step }));
  return stops.map(stop => ({ ...stop, part: null, ms: 1800 }));
}

/** The numbers between two, at most MAX_PARTS of them, always with the last. @param {number} first @param {number} last */
function countsBetween(first, last) {
  const step = Math.max(1, Math.ceil((last - first + 1) / MAX_PARTS)),
    counts = [];
  for (let count = last; count >= first; count -= step) counts.unshift(count);
  return counts;
}

// Runs through ticks: show(tick) at each, at one of SPEEDS; change() when it starts or stops.
export function makePlay(/** @type {(tick: Tick) => void} */ show, /** @type {() => void} */ change) {
  let ticks = /** @type {Tick[]} */ ([]),
    index = 0,
    timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
  const isOver = () => index >= ticks.length - 1;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const goTo = (/** @type {number} */ next) => {
    index = Math.min(Math.max(next, 0), ticks.length - 1);
    show(ticks[index]);
  };
  const later = () => {
    timer = setTimeout(
      () => {
        goTo(index + 1);
        if (isOver()) pause();
        else later();
      },
      ticks[index].ms * (SPEEDS.get(play.speed) ?? 1),
    );
  };
  const pause = () => {
    stop();
    change();
  };
  const play = {
    get isRunning() {
      return timer !== undefined;
    },
    get isUnderWay() {
      return ticks.length > 0 && !isOver();
    },
    speed: "normal",
    start: (/** @type {Tick[]} */ all) => {
      stop();
      ticks = all;
      goTo(0);
      later();
      change();
    },
    resume: () => {
      later();
      change();
    },
    pause,
    step: (/** @type {number} */ by) => {
      stop();
      goTo(index + by);
      change();
    },
    // Forgets the ticks without calling change().
    end: () => {
      stop();
      ticks = [];
    },
  };
  return play;
}
