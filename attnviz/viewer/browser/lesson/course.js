// The course: which lesson one is in, at which moment, as the address says it; and what comes before and after.
import { counted } from "../pass/numeral.js";

// The place that an address says: {lesson, moment, present}, and the name of the other window in that of a speaker; null where it names no lesson that there is.
export function placeIn(lessons, search) {
  const query = new URLSearchParams(search),
    entry = lessons.find(({ id }) => id === query.get("lesson"));
  if (!entry) return null;
  const number = Number(query.get("moment") ?? 1);
  return {
    lesson: entry.id,
    moment: Number.isInteger(number) ? Math.min(Math.max(number, 1), entry.nMoments) : 1,
    present: query.get("present") === "1",
    ...(query.has("speaker") && { speaker: query.get("speaker") }),
  };
}

export function searchOf({ lesson, moment, present, speaker = "" }) {
  return `?lesson=${lesson}&moment=${moment}${present ? "&present=1" : ""}${speaker && `&speaker=${speaker}`}`;
}

// The place so many moments on, or back; from the last moment of a lesson to the first of the next, but of a talk of
// one's own. Null at either end.
export function placeBeside(lessons, place, by) {
  const at = lessons.findIndex(({ id }) => id === place.lesson),
    moment = place.moment + by;
  if (moment >= 1 && moment <= lessons[at].nMoments) return { ...place, moment };
  const next = lessons[at + by];
  return next && !next.isOwn && !lessons[at].isOwn
    ? { ...place, lesson: next.id, moment: by > 0 ? 1 : next.nMoments }
    : null;
}

// "four minutes": a small number as a word.
export function minutesText(minutes) {
  return `${counted(minutes)} ${minutes === 1 ? "minute" : "minutes"}`;
}

// The line above a moment: which lesson it is of, and how long that takes.
export function aboutOf(entry, lessons) {
  const minutes = entry.minutes ? ` · ${minutesText(entry.minutes)}` : "";
  const place = `Lesson ${lessons.indexOf(entry) + 1} of ${lessons.length} · `;
  return `${entry.isOwn || lessons.length === 1 ? "" : place}${entry.name}${minutes}`;
}

// The sentence that a screen reader says as one arrives.
export function heardOf({ name, nMoments }, { moment: number }, moment) {
  return `${name}, moment ${number} of ${nMoments}${moment?.title ? `: ${moment.title}` : ""}`;
}
