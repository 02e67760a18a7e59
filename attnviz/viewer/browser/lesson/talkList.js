// The list of a talk: {title, moment: [{at, text, ask, notes, minutes, ...}]}, as its file and its link have it, and what is done
// to it. Each change gives another list.

export const ID = "talk"; // of a talk of one's own among the lessons
export const NOTHING = { title: "", moment: [] };
export const MOST_MOMENTS = 60; // as core/limits has it

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

// What is empty isn't written.
export function edited(talk, at, parts) {
  const whole = { ...talk.moment[at], ...parts };
  const moment = Object.fromEntries(Object.entries(whole).filter(([name, part]) => name === "at" || isSaid(part)));
  return { ...talk, moment: talk.moment.map((each, nth) => (nth === at ? moment : each)) };
}

function isSaid(part) {
  return part !== "" && part !== null && part !== 0 && part !== false && part !== undefined;
}

// How many minutes are planned for some of its moments.
export function minutesOf(moments) {
  return moments.reduce((sum, { minutes = 0 }) => sum + minutes, 0);
}

// The talk in the list of lessons; null where it has no moment.
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

// The names of the files of one's own that moments show.
export function uploadsOf(moments) {
  return [...new Set(moments.flatMap(({ uploads = [] }) => uploads))];
}

// Whether what a browser has kept is a talk: the server reads it more strictly.
export function isTalk(data) {
  return typeof data?.title === "string" && Array.isArray(data.moment) && data.moment.every(isMoment);
}

function isMoment(each) {
  return (
    typeof each?.at === "string" && ["text", "notes"].every(name => ["string", "undefined"].includes(typeof each[name]))
  );
}
