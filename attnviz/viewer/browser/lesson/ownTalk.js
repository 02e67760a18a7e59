// One's own talk: kept in this browser until it is thrown away, and nowhere else; what was done to it can be undone.
import { readKept, writeKept } from "../seams/storage.js";
import { isTalk, NOTHING } from "./talkList.js";

const NAME = "attnviz talk";
const MOST_UNDONE = 50;

// `storeOf()` gives a Storage, or fails where there is none; then it holds until the page is left. `window` tells of other tabs.
export function makeOwnTalk(storeOf, window) {
  let { talk, pictures, before } = read(storeOf),
    isKept = true,
    last = null; // what was changed last: what is typed into one box is one change
  const listeners = new Set();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const keep = () => {
    isKept =
      writeKept(storeOf, NAME, { talk, pictures, before: before.slice(-1) }) ||
      writeKept(storeOf, NAME, { talk, pictures: {}, before: [] }); // which needs less room
  };
  const set = next => {
    talk = next;
    keep();
    tell();
  };
  window.addEventListener("storage", ({ key }) => {
    if (key !== NAME) return;
    ({ talk, pictures, before } = read(storeOf));
    isKept = true;
    tell();
  });
  return {
    // Whether the browser has the talk as it is now, for the next visit.
    get isKept() {
      return isKept;
    },
    get talk() {
      return talk;
    },
    // All moments that there are, and those that Undo brings back.
    get moments() {
      return [talk, ...before].flatMap(({ moment }) => moment);
    },
    get canUndo() {
      return before.length > 0;
    },
    change(next, what = null) {
      if (what === null || what !== last) before = [...before, talk].slice(-MOST_UNDONE);
      last = what;
      set(next);
    },
    undo() {
      last = null;
      if (before.length) set(before.pop());
    },
    // A moment's small picture, by the address of its scene.
    pictureOf: at => pictures[at],
    keepPicture(at, picture) {
      const kept = new Set([at, ...talk.moment.map(each => each.at)]);
      pictures = Object.fromEntries(
        Object.entries({ ...pictures, [at]: picture }).filter(([address]) => kept.has(address)),
      );
      const wasKept = isKept;
      keep();
      if (isKept !== wasKept) tell();
    },
    onChange: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function read(storeOf) {
  const { talk, pictures, before } = readKept(storeOf, NAME) ?? {};
  if (!isTalk(talk)) return { talk: NOTHING, pictures: {}, before: [] };
  return { talk, pictures: pictures ?? {}, before: [before].flat().filter(isTalk) };
}
