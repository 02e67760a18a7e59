// Lessons and talks as lists of moments: places in them, fetching a moment, and editing the list of a talk.
import { counted } from "../model/numeral.js";

// The place in an address: {lesson, moment, present}, with the window's name for a speaker's window; null for an unknown lesson.
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

// The place `by` moments further, null past either end. A lesson leads on to the next one, a user's talk doesn't.
export function placeBeside(lessons, place, by) {
  const at = lessons.findIndex(({ id }) => id === place.lesson),
    moment = place.moment + by;
  if (moment >= 1 && moment <= lessons[at].nMoments) return { ...place, moment };
  const next = lessons[at + by];
  return next && !next.isOwn && !lessons[at].isOwn
    ? { ...place, lesson: next.id, moment: by > 0 ? 1 : next.nMoments }
    : null;
}

// "four minutes": small numbers as words.
export function minutesText(minutes) {
  return `${counted(minutes)} ${minutes === 1 ? "minute" : "minutes"}`;
}

// The line above a moment: its lesson, and how long that takes.
export function aboutOf(entry, lessons) {
  const minutes = entry.minutes ? ` · ${minutesText(entry.minutes)}` : "";
  const place = `Lesson ${lessons.indexOf(entry) + 1} of ${lessons.length} · `;
  return `${entry.isOwn || lessons.length === 1 ? "" : place}${entry.name}${minutes}`;
}

// What screen readers announce on arrival.
export function heardOf({ name, nMoments }, { moment: number }, moment) {
  return `${name}, moment ${number} of ${nMoments}${moment?.title ? `: ${moment.title}` : ""}`;
}

// A cache of moments. `fetched(place)` fetches one. Returns {get(place), ahead(places)}: get() resolves to a moment and retries
// after a failure; ahead() prefetches some, one by one. Places with the same name share an entry.
export function makeMoments(fetched, nameOf = ({ lesson, moment }) => `${lesson} ${moment}`) {
  const cache = new Map();
  const get = place => {
    const name = nameOf(place);
    if (!cache.has(name)) {
      const coming = fetched(place);
      cache.set(name, coming);
      coming.catch(() => cache.delete(name));
    }
    return cache.get(name);
  };
  return {
    get,
    async ahead(places) {
      for (const place of places) await get(place).catch(() => {}); // reported when the user gets there
    },
  };
}

// Fetches moments from the server at `site`; `templates` completes their documents.
export function fetchedFrom(site, templates) {
  return async ({ lesson, moment }) => {
    return withDocument(await answerFrom(new URL(`moment?lesson=${lesson}&moment=${moment}`, site)), templates);
  };
}

// Fetches the questions of a lesson as a file.
export function questionsFrom(site) {
  const ask = askTalkAt(site);
  return async (lesson, form) => (await ask({ kind: "export", form, lesson })).file;
}

// Returns a function that sends requests about a talk.
export function askTalkAt(site) {
  return request => answerFrom(new URL("talk", site), { method: "POST", body: JSON.stringify(request) });
}

async function answerFrom(url, request = {}) {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// Serves the moments of a lesson from data in the page.
export function momentsFrom(moments, templates) {
  return ({ moment }) => Promise.resolve(withDocument(moments[moment - 1], templates));
}

function withDocument(sent, templates) {
  return { ...sent, document: templates.whole({ pass: sent.document }).pass };
}

export const ID = "talk"; // of the user's talk in the list of lessons
export const NOTHING = { title: "", moment: [] };
export const MOST_MOMENTS = 60; // as in core/limits.py

export function added(talk, moment, at = talk.moment.length) {
  return { ...talk, moment: [...talk.moment.slice(0, at), moment, ...talk.moment.slice(at)] };
}

export function without(talk, at) {
  return { ...talk, moment: talk.moment.filter((_, nth) => nth !== at) };
}

export function moved(talk, from, to) {
  const last = talk.moment.length - 1,
    place = Math.min(Math.max(to, 0), last);
  return added(without(talk, from), talk.moment[from], place);
}

// Empty parts are dropped.
export function edited(talk, at, parts) {
  const combined = { ...talk.moment[at], ...parts };
  const moment = Object.fromEntries(Object.entries(combined).filter(([name, part]) => name === "at" || isSaid(part)));
  return { ...talk, moment: talk.moment.map((each, nth) => (nth === at ? moment : each)) };
}

function isSaid(part) {
  return part !== "" && part !== null && part !== 0 && part !== false && part !== undefined;
}

// The sum of planned minutes.
export function minutesOf(moments) {
  return moments.reduce((sum, { minutes = 0 }) => sum + minutes, 0);
}

// The talk's entry in the list of lessons; null if it is empty.
export function entryOf({ title, moment }) {
  if (!moment.length) return null;
  return {
    id: ID,
    name: nameOf({ title }),
    says: "",
    minutes: Math.round(minutesOf(moment)),
    nMoments: moment.length,
    planned: moment.map(({ minutes = 0 }) => minutes),
    isOwn: true,
  };
}

export function nameOf({ title }) {
  return title.trim() || "Your talk";
}

// The names of the uploads that moments show.
export function uploadsOf(moments) {
  return [...new Set(moments.flatMap(({ uploads = [] }) => uploads))];
}

// Whether stored data is a talk. The server validates it more strictly.
export function isTalk(data) {
  return typeof data?.title === "string" && Array.isArray(data.moment) && data.moment.every(isMoment);
}

function isMoment(each) {
  return (
    typeof each?.at === "string" && ["text", "notes"].every(name => ["string", "undefined"].includes(typeof each[name]))
  );
}
