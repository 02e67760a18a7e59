// Lessons and talks as lists of moments: positions in them, their order, and fetching a moment.
import { counted } from "../model/numeral.js";
import { fetchJson } from "../shell/request.js";

/** @typedef {{ lesson: string, moment: number, present: boolean, speaker?: string }} Position `speaker` names a speaker's window */

/** The position in an address; null for an unknown lesson. @returns {Position | null} */
export function positionIn(lessons, search) {
  const query = new URLSearchParams(search),
    entry = lessons.find(({ id }) => id === query.get("lesson"));
  if (!entry) return null;
  const named = query.get("moment") ?? 1,
    number = 1 + entry.moments?.findIndex(({ id }) => id === named) || Number(named),
    speaker = query.get("speaker");
  return {
    lesson: entry.id,
    moment: Number.isInteger(number) ? Math.min(Math.max(number, 1), entry.nMoments) : 1,
    present: query.get("present") === "1",
    ...(speaker !== null && { speaker }),
  };
}

// The pages around the moments: All lessons, and the end page, which has an address.
export const CONTENTS = "contents";
export const END = "end";
export const END_POSITION = { lesson: END, moment: 1, present: false };

/** @param {Position} position */
export const searchOf = ({ lesson, moment, present, speaker = "" }) =>
  lesson === END
    ? `?lesson=${END}`
    : `?lesson=${lesson}&moment=${moment}${present ? "&present=1" : ""}${speaker && `&speaker=${speaker}`}`;

/** The numbers of a lesson's moments in the order in which Next shows them: without the optional ones, and of two recalls that stand beside
 * each other first the one whose origin ("lesson.id") was answered wrong. @returns {number[]} */
export function orderOf({ nMoments, moments = [] }, isWrong = _origin => false) {
  const order = Array.from({ length: nMoments }, (_, nth) => nth + 1).filter(
    number => !moments[number - 1]?.isOptional,
  );
  for (let nth = 1; nth < order.length; nth += 1) {
    const [one, other] = [order[nth - 1], order[nth]].map(number => moments[number - 1]?.recall);
    if (!(one && other)) continue;
    if (isWrong(other) && !isWrong(one)) order.splice(nth - 1, 2, order[nth], order[nth - 1]);
    nth += 1;
  }
  return order;
}

// The position one moment further or back, null past either end. A lesson leads on to the next one, a user's talk doesn't.
/** @param {Position} position @param {number} by 1 or -1 @returns {Position | null} */
export function nextPosition(lessons, position, by, order = entry => orderOf(entry)) {
  const index = lessons.findIndex(({ id }) => id === position.lesson),
    numbers = order(lessons[index]),
    here = numbers.indexOf(position.moment),
    before = numbers.findLastIndex(number => number < position.moment), // an optional one has none of its own
    moment = here >= 0 ? numbers[here + by] : numbers[by > 0 ? before + 1 : before];
  if (moment) return { ...position, moment };
  const next = lessons[index + by];
  if (!next || next.isTalk || lessons[index].isTalk) return null;
  return { ...position, lesson: next.id, moment: order(next).at(by > 0 ? 0 : -1) ?? 1 };
}

const minutesText = minutes => `${counted(minutes)} ${minutes === 1 ? "minute" : "minutes"}`;

// The line above a moment: its lesson, and how long that takes.
export function lessonHeading(entry, lessons) {
  const minutes = entry.minutes ? ` · ${minutesText(entry.minutes)}` : "",
    number = `Lesson ${lessons.indexOf(entry) + 1} of ${lessons.length} · `;
  return `${entry.isTalk || lessons.length === 1 ? "" : number}${entry.name}${minutes}`;
}

// A cache of moments: get() fetches one again after a failure. Positions with the same name share an entry.
export function makeMoments(fetchMoment, nameOf = ({ lesson, moment }) => `${lesson} ${moment}`) {
  const cache = new Map();
  const get = position => {
    const name = nameOf(position);
    if (!cache.has(name)) {
      const coming = fetchMoment(position);
      cache.set(name, coming);
      coming.catch(() => cache.delete(name));
    }
    return cache.get(name);
  };
  return {
    get,
    async prefetch(positions) {
      for (const position of positions) await get(position).catch(() => {}); // reported when the user gets there
    },
  };
}

// Fetches moments from the server at `site`; `templates` completes their documents.
export const momentsFrom =
  (site, templates) =>
  async ({ lesson, moment }) =>
    templates.completeMoment(await fetchJson(new URL(`moment?lesson=${lesson}&moment=${moment}`, site)));

export const questionsFrom = site => async (lesson, form) =>
  (await fetchJson(new URL("talk", site), { kind: "export", form, lesson, site })).file;

export const ID = "talk"; // of the user's talk in the list of lessons

// A file name that every system accepts.
export const fileNameOf = title => title.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim() || "talk";
