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

const NAME = "attnviz lessons";

export function makeMemory(storeOf) {
  let stored = Object(readStored(storeOf, NAME)),
    isKept = true;
  const keep = parts => {
    stored = { ...stored, ...parts };
    isKept = writeStored(storeOf, NAME, stored);
  };
  return {
    get isKept() {
      return isKept;
    },
    // {lesson, moment} of the last visit.
    get last() {
      return stored.last ?? null;
    },
    // The furthest moment reached, by lesson.
    get reached() {
      return stored.reached ?? {};
    },
    get opensWalkthrough() {
      return stored.opensWalkthrough === true;
    },
    set opensWalkthrough(is) {
      keep({ opensWalkthrough: is });
    },
    at({ lesson, moment }) {
      const furthest = Math.max(moment, stored.reached?.[lesson] ?? 1);
      keep({ last: { lesson, moment }, reached: { ...stored.reached, [lesson]: furthest } });
    },
    // Only the first prediction counts: afterwards the answer is known.
    predicted({ lesson, moment }, isRight) {
      const name = `${lesson} ${moment}`;
      if (stored.predicted?.[name] === undefined) keep({ predicted: { ...stored.predicted, [name]: isRight } });
    },
    // How many questions of a lesson (or of all) were answered, and how many right.
    scoreOf(lesson) {
      const predicted = Object.entries(stored.predicted ?? {}),
        results = predicted.filter(([name]) => !lesson || name.startsWith(`${lesson} `));
      return { right: results.filter(([, isRight]) => isRight).length, asked: results.length };
    },
    forget: () => keep({ predicted: {}, reached: {}, last: null }),
  };
}
