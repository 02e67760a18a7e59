// A talk as data, requests to the server about it, and the uploads and images of its moments, which this browser stores.
import { ID, makeMoments } from "../lesson/course.js";
import { fetchJson } from "../shell/request.js";

export const NOTHING = { title: "", moment: [] };

export const minutesOf = moments => moments.reduce((sum, { minutes = 0 }) => sum + minutes, 0);

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
    isTalk: true,
  };
}

export const nameOf = ({ title }) => title.trim() || "Your talk";

// A talk as others may see it.
export const withoutNotes = talk => ({ ...talk, moment: talk.moment.map(({ notes: _, ...rest }) => rest) });
export const hasNotes = ({ moment }) => moment.some(({ notes = "" }) => notes.trim());

export const uploadsOf = moments => [...new Set(moments.flatMap(({ uploads = [] }) => uploads))];
export const imagesOf = moments => [...new Set(moments.flatMap(({ slide }) => slide?.image || []))];
// The names under which a browser keeps a talk's files: its uploads, and its images beside them.
export const imageKey = name => `image ${name}`;
export const filesOf = moments => [...uploadsOf(moments), ...imagesOf(moments).map(imageKey)];

// Whether stored data is a talk. The server validates it more strictly.
export function isTalk(data) {
  const isText = text => text === undefined || typeof text === "string";
  const isSlide = ({ text, items = [] }) => isText(text) && Array.isArray(items) && items.every(isText);
  const isMoment = each =>
    typeof each?.at === "string" &&
    isText(each.text) &&
    isText(each.notes) &&
    (each.slide === undefined || (Object(each.slide) === each.slide && isSlide(each.slide)));
  return typeof data?.title === "string" && Array.isArray(data.moment) && data.moment.every(isMoment);
}

// `templates` completes the documents that the server sends; `uploads` (makeTalkUploads) holds the files that moments show.
export function makeTalkRequests(site, templates, uploads) {
  const post = (kind, request) => fetchJson(new URL("talk", site), { kind, ...request }),
    uploadsIn = moments => uploads.of(uploadsOf(moments)),
    withFiles = async talk => ({ ...talk, uploads: await uploadsIn(talk.moment), images: await imagesIn(talk.moment) });
  let nOpened = 0; // talks: one may bring the images that another lacks
  async function imagesIn(moments) {
    const names = imagesOf(moments),
      found = await uploads.of(names.map(imageKey));
    return Object.fromEntries(names.flatMap(name => (found[imageKey(name)] ? [[name, found[imageKey(name)]]] : [])));
  }
  const keepImages = images =>
    uploads.keep(Object.fromEntries(Object.entries(images).map(([name, image]) => [imageKey(name), image])));
  async function fetchMoment(moment) {
    const files = { uploads: await uploadsIn([moment]), images: await imagesIn([moment]) };
    return templates.completeMoment(await post("moment", { moment, ...files }));
  }
  // By content, so that a moment once fetched needs no server.
  const nameOfMoment = moment => JSON.stringify(moment?.slide?.image ? [moment, nOpened] : moment);
  return {
    nameOf: nameOfMoment,
    moment: makeMoments(fetchMoment, nameOfMoment).get,
    imagesOf: imagesIn,
    image: async name => (await uploads.of([imageKey(name)]))[imageKey(name)] ?? "",
    keepImage: (name, image) => keepImages({ [name]: image }),
    async questions(moment) {
      const request = { at: moment.at, uploads: await uploadsIn([moment]) };
      /** @type {import("../../generated/contract").SuggestedQuestions} */
      const { questions } = await post("questions", request);
      return questions;
    },
    fileOf: async talk => (await post("file", { talk: await withFiles(talk) })).file,
    questionsFileOf: async (talk, form) => (await post("export", { form, talk: await withFiles(talk), site })).file,
    pageOf: async talk => (await post("page", { talk: await withFiles(talk) })).page,
    // The talk in a file, a link or a lesson. Stores its uploads.
    async talkOf(request) {
      /** @type {import("../../generated/contract").OpenedTalk} */
      const opened = await post("talk", request),
        { uploads: files, images, ...talk } = opened.talk;
      await uploads.keep(files);
      await keepImages(images);
      nOpened += 1;
      return talk;
    },
    // The names of the uploads that a tab's scene shows. Stores them.
    async uploadsOfScene(tab, at) {
      /** @type {import("../../generated/contract").ShownUploads} */
      const { uploads: files } = await post("uploads", { tab, at });
      await uploads.keep(files);
      return Object.keys(files);
    },
    areKept: moments => uploads.areKept(filesOf(moments)),
    sendUploads: async (tab, names) => post("give", { tab, uploads: await uploads.of(names) }),
    sizeOf: async moments => Object.values(await uploadsIn(moments)).join("").length,
  };
}

const [UPLOADS_NAME, STORE] = ["attnviz talk", "uploads"];

// The uploads of a talk in IndexedDB, {name: base64}. areKept() says whether they survive until the next visit, retain() deletes all others.
export function makeTalkUploads(databases) {
  const inMemory = new Map(), // without a database they last until the page is left
    unsaved = new Set(); // names that the database refused
  let opening = /** @type {Promise<any> | null} */ (null);
  const open = () => {
    const request = databases.open(UPLOADS_NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return resultOf(request);
  };
  async function store(mode) {
    opening ??= open();
    return (await opening).transaction(STORE, mode).objectStore(STORE);
  }
  async function fileOf(name) {
    try {
      return inMemory.get(name) ?? (await resultOf((await store("readonly")).get(name)));
    } catch {
      return undefined;
    }
  }
  return {
    async keep(files) {
      for (const [name, file] of Object.entries(files)) {
        inMemory.set(name, file);
        try {
          const files = await store("readwrite");
          files.put(file, name);
          await isDone(files.transaction); // a full disk is noticed late
          unsaved.delete(name);
        } catch {
          unsaved.add(name);
        }
      }
    },
    areKept: names => !names.some(name => unsaved.has(name)),
    async of(names) {
      const files = await Promise.all(names.map(async name => [name, await fileOf(name)]));
      return Object.fromEntries(files.filter(([, file]) => file !== undefined));
    },
    async retain(names) {
      try {
        for (const name of await resultOf((await store("readonly")).getAllKeys()))
          if (!names.includes(name)) await resultOf((await store("readwrite")).delete(name));
      } catch {} // there is no database
    },
  };
}

const resultOf = request =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

const isDone = transaction =>
  new Promise((done, failed) => {
    transaction.oncomplete = done;
    transaction.onabort = () => failed(transaction.error);
  });
