// The files of one's own that a talk shows, arrays or models, as base64 by their names: kept in this browser's database, as they are
// too large for its store.

const [NAME, STORE] = ["attnviz talk", "uploads"];
export const MOST_CHARACTERS = 11_184_812; // of all of a talk, as core/limits has it

// `databases` is window.indexedDB. Returns {keep(files), of(names), areKept(names), retain(names)}: files are {name: base64}, of() is a
// promise of them, areKept() says whether the browser has them for the next visit, retain() throws all others away.
export function makeTalkUploads(databases) {
  const held = new Map(); // where there is no database, they hold until the page is left
  const lost = new Set(); // the names of those that the database didn't take
  let opening = null;
  const open = () => {
    const request = databases.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return answerTo(request);
  };
  async function store(mode) {
    opening ??= open();
    return (await opening).transaction(STORE, mode).objectStore(STORE);
  }
  async function fileOf(name) {
    try {
      return held.get(name) ?? (await answerTo((await store("readonly")).get(name)));
    } catch {
      return undefined;
    }
  }
  return {
    async keep(files) {
      for (const [name, file] of Object.entries(files)) {
        held.set(name, file);
        try {
          await answerTo((await store("readwrite")).put(file, name));
          lost.delete(name);
        } catch {
          lost.add(name);
        }
      }
    },
    areKept: names => !names.some(name => lost.has(name)),
    async of(names) {
      const files = await Promise.all(names.map(async name => [name, await fileOf(name)]));
      return Object.fromEntries(files.filter(([, file]) => file !== undefined));
    },
    async retain(names) {
      try {
        for (const name of await answerTo((await store("readonly")).getAllKeys()))
          if (!names.includes(name)) await answerTo((await store("readwrite")).delete(name));
      } catch {} // as above
    },
  };
}

function answerTo(request) {
  return new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}
