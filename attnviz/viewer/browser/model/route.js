// The order of what there is to see: the next stop, and playing a step band by band.
import { ROUTES, focusOf, isOfSheet, isSheet, walkOf } from "./state.js";
import { resultStages, revealsOf } from "./address.js";

// The stop so many further on in one's route, as parts of `where`; null where there is none.
export function stopBeside(pass, where, by) {
  const all = stopsOf(pass, where),
    onRoute = isShort(pass, where) ? new Set(shortOf(pass, all)) : new Set(all);
  const at = placeIn(all, where),
    further = by > 0 ? all.slice(at + 1) : all.slice(0, at).reverse();
  return further.find(stop => onRoute.has(stop)) ?? null;
}

// The stop of one's route in a place from 0 on, or from -1 on backwards; undefined where there is none.
export function stopAtEnd(pass, where, place) {
  const all = stopsOf(pass, where);
  return (isShort(pass, where) ? shortOf(pass, all) : all).at(place);
}

// The first stop of a step.
/** @param {Pass} pass @param {Where} where */
export function firstStop(pass, where) {
  return stopsOf(pass, where).find(({ step }) => step === where.step) ?? { step: where.step, reveal: null };
}

// Where one is, as it is counted: stops of the short route in a talk, else steps; nothing beside the walk, which has no number.
/** @param {Pass} pass @param {Where} where */
export function countedPlace(pass, where) {
  if (isCounted(pass, where)) {
    const all = stopsOf(pass, where),
      onRoute = shortOf(pass, all),
      passed = new Set(all.slice(0, placeIn(all, where) + 1));
    return `stop ${onRoute.filter(stop => passed.has(stop)).length} of ${onRoute.length}`;
  }
  const walk = walkOf(pass, where),
    at = walk.indexOf(where.step);
  return at < 0 ? "" : `step ${at + 1} of ${walk.length}`;
}

// Whether one's place is counted in stops: in a talk on the short route.
/** @param {Pass} pass @param {Where} where */
export function isCounted(pass, where) {
  return where.present && isShort(pass, where);
}

// The request to a server where a talk goes on, as [act, message]: the next letter of a model that writes, while
// its bars are seen; and at the end another sentence. Null where there is nothing.
/** @param {Pass} pass @param {Where} where */
export function askedOnward(pass, where) {
  if (!where.present) return null;
  const { next, steps } = pass.document,
    offer = offeredAt(pass, where);
  if (next && where.step === steps[0].id && !next.ends && !next.isFull) return ["next", true];
  return offer && [offer.event, offer.value];
}

// Whether a talk would begin where all is written: there is no letter left for a remote.
/** @param {Pass} pass @param {Where} where */
export function isWritten(pass, where) {
  const { next, steps } = pass.document;
  return Boolean(next) && (next.ends || next.isFull) && !where.present && where.step === steps[0].id;
}

// The other sentence that stands at the end of a talk; null before it.
/** @param {Pass} pass @param {Where} where */
export function offeredAt(pass, where) {
  const { offer, steps } = pass.document,
    isAtEnd = where.present && where.step === steps[0].id && where.reveal === null;
  return isAtEnd && isOfSheet(pass, where) && !pass.other ? offer : null;
}

// Every stop: each reveal of each step. A question is asked first, and answered in the end.
/** @param {Pass} pass @param {Where} where */
function stopsOf(pass, where) {
  const stops = walkOf(pass, where).flatMap(step =>
    [...revealsOf(pass, { ...where, step }).keys(), null].map(reveal => ({ step, reveal })),
  );
  const [first, second] = stops,
    isAsked =
      first.reveal === 0 &&
      second?.step === first.step &&
      first.step === pass.document.steps[0].id &&
      isOfSheet(pass, where);
  return isAsked ? [first, ...stops.slice(2), second] : stops;
}

function placeIn(stops, { step, reveal }) {
  const at = stops.findIndex(stop => stop.step === step && stop.reveal === reveal);
  return at < 0 ? stops.findIndex(stop => stop.step === step) : at;
}

/** @param {Pass} pass @param {Where} where */
function isShort(pass, where) {
  return where.route === ROUTES[0] && isOfSheet(pass, where);
}

// The question, comparing, sharing and collecting in the last layer, what the layer before it shared, and the answer.
/** @param {Pass} pass */
function shortOf(pass, stops) {
  const { steps } = pass.document,
    ofWords = steps.filter(({ page }) => page.startsWith("words")),
    layers = [...new Set(ofWords.map(({ layer }) => layer))];
  const sharesIn = step => step.bands.some(({ cells, array }) => cells.stage === step.attention && !array);
  const last = ofWords.filter(({ layer }) => layer === layers.at(-1));
  const ids = [
    ofWords.find(step => step.layer === layers.at(-2) && sharesIn(step)),
    last.find(({ bands }) => bands.some(({ factors }) => factors)),
    last.find(sharesIn),
    last.find(({ bands }) => bands.some(({ right }) => right)),
    steps.findLast(({ bands }) => bands.length),
  ]
    .filter(Boolean)
    .map(({ id }) => id);
  return stops.filter(({ step, reveal }) => step === steps[0].id || (ids.includes(step) && reveal === null));
}

export const SPEEDS = new Map([
  ["slow", 2],
  ["normal", 1],
  ["fast", 0.4],
]);
const MAX_PARTS = 24; // products, cells or rows that come one by one; of more, several come at once

// Its ticks: {reveal, part, ms}, as revealAt takes the first two; ms is how long one looks at it at normal speed. On the sheet
// each has its step too.
/** @param {Pass} pass @param {Where} where */
export function ticksOf(pass, where) {
  if (isSheet(pass, where)) return ticksOfSheet(pass, where);
  const names = revealsOf(pass, where);
  const focus = focusOf(pass, where);
  const products = pass.terms(focus.name, focus.index).lines.length;
  const shapes = resultStages(pass, where).map(each => pass.stages.get(each).shape);
  const longest = axis => Math.max(0, ...shapes.map(shape => shape.at(axis) ?? 1));
  const counted = (reveal, from, to, ms) => counts(from, to).map(part => ({ reveal, part, ms }));
  const ticks = names.flatMap((name, reveal) => {
    if (name === "products") return counted(reveal, 1, products, Math.min(700, 6000 / products));
    if (name === "row") return counted(reveal, names.includes("next") ? 3 : 2, longest(-1), 300);
    return [{ reveal, part: null, ms: 900 }];
  });
  return [...ticks, ...counted(null, 2, longest(-2), 300), { reveal: null, part: null, ms: 0 }];
}

// The sheet's bands from here on, reveal by reveal; from its first where one is at its end.
/** @param {Pass} pass @param {Where} where */
function ticksOfSheet(pass, where) {
  const walk = walkOf(pass, where).filter(step => isSheet(pass, { ...where, step })),
    at = walk.indexOf(where.step);
  const isAtEnd = at === walk.length - 1 && where.reveal === null;
  return walk
    .slice(isAtEnd ? 0 : at)
    .flatMap(step =>
      [...revealsOf(pass, { ...where, step }).keys(), null].map(reveal => ({ step, reveal, part: null, ms: 1800 })),
    );
}

// The numbers from one to another, at most so many of them, the last always among them.
function counts(from, to) {
  const step = Math.max(1, Math.ceil((to - from + 1) / MAX_PARTS));
  const all = [];
  for (let count = to; count >= from; count -= step) all.unshift(count);
  return all;
}

// Runs through ticks: show(tick) at each, at one of SPEEDS; change() when it starts or stops.
export function makePlay(show, change) {
  let ticks = [],
    at = 0,
    timer = null,
    speed = "normal";
  const isOver = () => at >= ticks.length - 1;
  const goTo = place => {
    at = Math.min(Math.max(place, 0), ticks.length - 1);
    show(ticks[at]);
  };
  const later = () => {
    timer = setTimeout(() => {
      goTo(at + 1);
      if (isOver()) pause();
      else later();
    }, ticks[at].ms * SPEEDS.get(speed));
  };
  const pause = () => {
    clearTimeout(timer);
    timer = null;
    change();
  };
  return {
    get isRunning() {
      return timer !== null;
    },
    get isUnderWay() {
      return ticks.length > 0 && !isOver();
    },
    get speed() {
      return speed;
    },
    set speed(name) {
      speed = name;
    },
    start: all => {
      clearTimeout(timer);
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
    step: by => {
      clearTimeout(timer);
      timer = null;
      goTo(at + by);
      change();
    },
    end: () => {
      // whatever was there is forgotten, without a word to anyone
      clearTimeout(timer);
      timer = null;
      ticks = [];
    },
  };
}
