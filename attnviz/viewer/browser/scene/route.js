// Routes: where a presenter's remote leads, stop by stop. A stop is a step, and how far it has come.
import { isOfSheet, walkOf } from "./bands.js";
import { revealsOf } from "./reveal.js";
import { ROUTES } from "./state.js";

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
