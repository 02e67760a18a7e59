// Play: a step's reveals one after the other, the number in focus product by product.
import { isSheet, walkOf } from "./bands.js";
import { revealsOf, resultStages } from "./reveal.js";
import { focusOf } from "./state.js";

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
