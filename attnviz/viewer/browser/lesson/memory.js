// What this browser stores: JSON under a name, and the progress in lessons. `storeOf()` gives a Storage, or throws where there is none,
// as in another site's frame; then data last until the page is left.

// Null stands for what isn't there, or isn't JSON.
export function readStored(storeOf, name) {
  try {
    return JSON.parse(storeOf().getItem(name));
  } catch {
    return null;
  }
}

// Returns whether it is stored: a browser may forbid it, or be full.
export function writeStored(storeOf, name, data) {
  try {
    storeOf().setItem(name, JSON.stringify(data));
    return true;
  } catch {
    return false;
  }
}

export function removeStored(storeOf, name) {
  try {
    storeOf().removeItem(name);
  } catch {} // nothing can be stored
}

export const SPEAKER = "attnviz class"; // the seat of the speaker of a class
const NAME = "attnviz lessons";

// `lessons` are entries of the list of lessons.
export function makeMemory(storeOf, lessons = /** @type {any[]} */ ([])) {
  let stored = Object(readStored(storeOf, NAME)),
    isKept = true;
  // Reads what is stored again first: another tab may have changed it. What couldn't be stored is newer.
  const keep = change => {
    if (isKept) stored = { ...stored, ...readStored(storeOf, NAME) };
    stored = { ...stored, ...change(stored) };
    isKept = writeStored(storeOf, NAME, stored);
  };
  const entryOf = lesson => lessons.find(({ id }) => id === lesson);
  const resultsOf = lesson => {
    const { nMoments, moments = [] } = entryOf(lesson);
    return Array.from({ length: nMoments }, (_, nth) => stored.answered?.[`${lesson}.${moments[nth]?.id ?? nth + 1}`]);
  };
  // The position of a lesson's first moment that isn't done, other than those for engineers; null if all are.
  function firstToDo(lesson) {
    const { moments = [] } = entryOf(lesson),
      index = resultsOf(lesson).findIndex((each, nth) => each === undefined && !moments[nth]?.isOptional);
    return index < 0 ? null : { lesson, moment: index + 1 };
  }
  return {
    get isKept() {
      return isKept;
    },
    // {lesson, moment} of the last visit.
    get last() {
      return stored.last ?? null;
    },
    get opensWalkthrough() {
      return stored.opensWalkthrough === true;
    },
    set opensWalkthrough(is) {
      keep(() => ({ opensWalkthrough: is }));
    },
    at({ lesson, moment }) {
      keep(() => ({ last: { lesson, moment } }));
    },
    // Only the first answer counts: afterwards the right one is known. `isRight` is null for a moment without a question, or whose answer was
    // shown. `id` is the moment's, which stays when moments are moved.
    answered(lesson, id, isRight) {
      const name = `${lesson}.${id}`;
      if (stored.answered?.[name] === undefined)
        keep(({ answered }) => ({ answered: { ...answered, [name]: isRight } }));
    },
    // Whether a moment, "lesson.id", was answered wrong.
    isWrong: name => stored.answered?.[name] === false,
    // A result for each moment of a lesson: as given to answered(), undefined if it isn't done.
    resultsOf,
    firstToDo,
    // The first position to do, from the lesson of the last visit on; null if everything is done.
    nextToDo() {
      const ids = lessons.map(({ id }) => id),
        at = Math.max(ids.indexOf(stored.last?.lesson), 0);
      return [...ids.slice(at), ...ids.slice(0, at)].map(firstToDo).find(each => each !== null) ?? null;
    },
    // How many questions of a lesson (or of all) were answered, and how many right.
    scoreOf(lesson) {
      const results = lessons.filter(({ id }) => !lesson || id === lesson).flatMap(({ id }) => resultsOf(id)),
        count = isRight => results.filter(each => each === isRight).length;
      return { right: count(true), asked: count(true) + count(false) };
    },
    // The user's own words at the end of a lesson.
    ownWordsOf: lesson => String(stored.ownWords?.[lesson] ?? ""),
    keepOwnWords(lesson, text) {
      keep(({ ownWords }) => ({ ownWords: { ...ownWords, [lesson]: text } }));
    },
    get isEmpty() {
      const { last, answered, ownWords } = stored;
      return !last && [answered, ownWords].every(each => Object.values(each ?? {}).every(value => value === ""));
    },
    forget: () => keep(() => ({ answered: {}, ownWords: {}, last: null })),
  };
}
