// The dock of a talk in every page: opening, saving and sharing it, its link, and the files that it shows.
import { ID, MOST_MOMENTS, added, askTalkAt, entryOf, makeMoments, nameOf, uploadsOf } from "../lesson/course.js";
import { button, element } from "../dom/element.js";
import { copyText, isOfThisMachine, reachOf } from "../dom/link.js";
import { saveFile } from "../views/download.js";
import { MOST_BYTES, drawCode } from "../views/qrCode.js";
import { fileNameOf, makeTakeaway } from "../lesson/surroundings.js";
import { makeTalkDrawer } from "./talkDrawer.js";

// `templates` completes the documents that the server sends; `uploads` (makeTalkUploads) holds the files that moments show.
export function makeTalkRequests(site, templates, uploads) {
  const ask = askTalkAt(site);
  /** @param {{}} request @returns {Promise<import("../../generated/contract").OfferedQuestions>} */
  const askQuestions = request => ask({ kind: "questions", ...request });
  /** @param {{}} said @returns {Promise<import("../../generated/contract").WrittenFile>} */
  const askFile = ask;
  /** @param {{}} request @returns {Promise<import("../../generated/contract").WrittenPage>} */
  const askPage = request => ask({ kind: "page", ...request });
  /** @param {{}} request @returns {Promise<import("../../generated/contract").OpenedTalk>} */
  const askTalk = request => ask({ kind: "talk", ...request });
  /** @param {{}} request @returns {Promise<import("../../generated/contract").ShownUploads>} */
  const askUploads = request => ask({ kind: "uploads", ...request });
  const fetched = async moment => {
    const sent = await ask({ kind: "moment", moment, uploads: await uploads.of(uploadsOf([moment])) });
    return { ...sent, document: templates.whole({ pass: sent.document }).pass };
  };
  const withUploads = async talk => ({ ...talk, uploads: await uploads.of(uploadsOf(talk.moment)) });
  const cache = makeMoments(fetched, JSON.stringify); // by content, so that a moment once fetched needs no server
  return {
    moment: cache.get,
    questions: async moment => {
      const files = await uploads.of(uploadsOf([moment]));
      return (await askQuestions({ at: moment.at, uploads: files })).questions;
    },
    fileOf: async talk => (await askFile({ kind: "file", talk: await withUploads(talk) })).file,
    questionsFileOf: async (talk, form) =>
      (await askFile({ kind: "export", form, talk: await withUploads(talk) })).file,
    pageOf: async talk => (await askPage({ talk: await withUploads(talk) })).page,
    // The talk in a file, a link or a lesson. Stores its uploads.
    async talkOf(request) {
      const { uploads: files, ...talk } = (await askTalk(request)).talk;
      await uploads.keep(files);
      return talk;
    },
    // The names of the uploads that a tab's scene shows. Stores them.
    async uploadsOfScene(tab, at) {
      const { uploads: files } = await askUploads({ tab, at });
      await uploads.keep(files);
      return Object.keys(files);
    },
    areKept: moments => uploads.areKept(uploadsOf(moments)),
    // Sends uploads to a tab by name.
    give: async (tab, names) => ask({ kind: "give", tab, uploads: await uploads.of(names) }),
    sizeOf: async moments => Object.values(await uploads.of(uploadsOf(moments))).join("").length,
  };
}

// The message for a failed request.
function errorText(error) {
  return error instanceof TypeError ? "The server doesn’t answer. Your talk is still here." : error.message;
}

export const MOST = 6000; // characters; some programs truncate longer links
const LINK_NAME = "#talk=";
const MOST_LINK_BYTES = 400_000; // unpacked, as in core/limits.py
const FORMAT = "deflate-raw";
const BROKEN =
  "The link of the talk is broken: it was cut off, or changed on its way. Ask for it again, or for the talk’s file.";

export async function packed(talk) {
  const bytes = await transformed(
    new CompressionStream(FORMAT),
    new TextEncoder().encode(JSON.stringify(talk)),
    Infinity,
  );
  const text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  return LINK_NAME + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The talk in a hash, as JSON; null if there is none.
export async function unpacked(hash) {
  if (!hash.startsWith(LINK_NAME)) return null;
  try {
    const text = atob(hash.slice(LINK_NAME.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, sign => sign.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(
      await transformed(new DecompressionStream(FORMAT), bytes, MOST_LINK_BYTES),
    );
  } catch {
    throw new Error(BROKEN);
  }
}

async function transformed(stream, bytes, most) {
  const writer = stream.writable.getWriter();
  const isWritten = writer.write(bytes).then(() => writer.close());
  isWritten.catch(() => {}); // reading fails too, and reports it
  const pieces = [];
  let size = 0;
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (size > most) throw new Error(BROKEN);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

const [UPLOADS_NAME, STORE] = ["attnviz talk", "uploads"];
const MOST_CHARACTERS = 11_184_812; // of all uploads of a talk, as in core/limits.py

// The uploads of a talk in IndexedDB (`databases`). Returns {keep(files), of(names), areKept(names), retain(names)}: files are
// {name: base64}, areKept() says whether they survive until the next visit, retain() deletes all others.
export function makeTalkUploads(databases) {
  const inMemory = new Map(); // without a database they last until the page is left
  const unsaved = new Set(); // names that the database refused
  let opening = null;
  const open = () => {
    const request = databases.open(UPLOADS_NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return answerTo(request);
  };
  async function store(mode) {
    opening ??= open();
    return (await opening).transaction(STORE, mode).objectStore(STORE);
  }
  async function fileOf(name) {
    try {
      return inMemory.get(name) ?? (await answerTo((await store("readonly")).get(name)));
    } catch {
      return undefined;
    }
  }
  return {
    async keep(files) {
      for (const [name, file] of Object.entries(files)) {
        inMemory.set(name, file);
        try {
          await answerTo((await store("readwrite")).put(file, name));
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

const OWN_NUMBERS = "No link holds your own numbers: send the file, which has them, or the page.";

// `talkStore` and `requests` are as in makeTalkDock; say(text) reports the outcome, doThere(what) performs an action on the talk's page. Returns {buttons,
// code, panel}: elements, of which `code` is what a QR code stands in.
function makeTalkSharing(talkStore, requests, site, { say, doThere }) {
  const code = element("p", "code"),
    hasUploads = () => uploadsOf(talkStore.talk.moment).length > 0,
    fileName = ending => `${fileNameOf(nameOf(talkStore.talk))}.${ending}`;
  const takeaway = makeTakeaway({
    title: () => nameOf(talkStore.talk),
    questions: form => requests.questionsFileOf(talkStore.talk, form),
    print: async () => doThere("print"),
  });
  takeaway.button.classList.remove("link"); // it is among buttons here
  const way = (name, act) =>
    button(name, async () => {
      code.replaceChildren();
      say(await act().catch(errorText));
    });
  async function linkOf() {
    const url = new URL(`?lesson=${ID}`, site);
    url.hash = await packed(talkStore.talk);
    return url;
  }
  async function copyLink() {
    if (hasUploads()) return OWN_NUMBERS;
    const { href, hash, hostname, protocol } = await linkOf();
    if (hash.length > MOST)
      return `The link would have ${hash.length.toLocaleString("en")} characters, and some programs cut off what is longer than ${MOST.toLocaleString("en")}: send the file.`;
    return (await copyText(window, href)) ? reachOf(hostname, protocol) : `Copy it from here: ${href}`;
  }
  async function showCode() {
    if (hasUploads()) return OWN_NUMBERS;
    const { href, hostname, protocol } = await linkOf();
    if (href.length > MOST_BYTES) {
      code.replaceChildren(button("Open a class", () => doThere("openClass")));
      return `No code: the link has ${href.length.toLocaleString("en")} bytes, more than the ${MOST_BYTES} that a phone reads across a room. A class has a short code, and its phones follow the talk.`;
    }
    code.replaceChildren(drawCode(href));
    return isOfThisMachine(hostname, protocol) ? "Only this machine can open it." : "";
  }
  async function saveTalk() {
    saveFile(await requests.fileOf(talkStore.talk), fileName("toml"), "application/toml");
    return "Saved.";
  }
  async function savePage() {
    say("The page is being made …");
    saveFile(await requests.pageOf(talkStore.talk), fileName("html"));
    return "Saved. The page opens without a server.";
  }
  return {
    buttons: [
      way("Copy link", copyLink),
      way("QR code", showCode),
      way("↓ File", saveTalk),
      way("↓ Page", savePage),
      takeaway.button,
    ],
    code,
    panel: takeaway.panel,
  };
}

const TOO_LARGE = "A talk holds at most 8 MiB of your own numbers, and with these it would have more.";
const FULL = `A talk has at most ${MOST_MOMENTS} moments: delete one first.`;

// `talkStore` holds the user's talk, `requests` asks the server about it; host: {site, give(place, what), open(moment)}: give() leads to a
// place of the talk, and does there what is said, "print" or "openClass".
// Returns {standIn(home), collect({at, picture}, tab), open(), ...}.
export function makeTalkDock(talkStore, requests, host) {
  const chooser = element("input");
  Object.assign(chooser, { type: "file", accept: ".toml", hidden: true });
  chooser.onchange = async () => {
    const [file] = chooser.files;
    chooser.value = "";
    if (file) take({ file: await file.text() }, `Opened ${file.name}.`);
  };
  const opening = button("Open a file", () => chooser.click());
  opening.dataset.always = "true";
  const give = (moment, present, what) => {
    drawer.close();
    host.give({ lesson: ID, moment, present }, what);
  };
  const sharing = makeTalkSharing(talkStore, requests, host.site, {
    say: text => drawer.say(text),
    doThere: what => give(1, false, what),
  });
  const drawer = makeTalkDrawer(talkStore, requests, {
    give: moment => give(moment, true),
    open: moment => {
      drawer.close();
      host.open(moment);
    },
    ways: [...sharing.buttons, opening],
    code: sharing.code,
  });
  drawer.element.append(chooser, sharing.panel);
  const refuse = request => {
    drawer.open();
    drawer.say(request);
  };
  // Replaces the talk by another; Undo brings it back. Returns whether that worked.
  async function take(request, done, refused = drawer.say) {
    try {
      const talk = await requests.talkOf(request);
      talkStore.change({ title: talk.title ?? "", moment: talk.moment ?? [] });
      drawer.say(`${done} Undo brings back what was here.`);
      return true;
    } catch (error) {
      refused(errorText(error));
      return false;
    }
  }
  return {
    standIn: drawer.standIn,
    open: () => drawer.open(),
    // Appends a scene with its thumbnail as a moment; `tab` is the tab with the uploads that it shows, if any.
    async collect({ at, picture }, tab) {
      const n = talkStore.talk.moment.length;
      if (n >= MOST_MOMENTS) return refuse(FULL);
      try {
        const uploads = tab ? await requests.uploadsOfScene(tab, at) : [],
          moment = uploads.length ? { at, uploads } : { at };
        if ((await requests.sizeOf([...talkStore.talk.moment, moment])) > MOST_CHARACTERS) return refuse(TOO_LARGE);
        talkStore.keepPicture(at, picture);
        talkStore.change(added(talkStore.talk, moment));
        drawer.open(n);
      } catch (error) {
        refuse(errorText(error));
      }
    },
    // Appends a moment of a lesson.
    async collectFrom({ lesson, moment }) {
      drawer.open();
      if (lesson === ID) return;
      if (talkStore.talk.moment.length >= MOST_MOMENTS) return drawer.say(FULL);
      try {
        const { moment: all } = await requests.talkOf({ lesson });
        talkStore.change(added(talkStore.talk, all[moment - 1]));
        drawer.open(talkStore.talk.moment.length - 1);
      } catch (error) {
        drawer.say(errorText(error));
      }
    },
    // Starts a talk with all moments of a lesson.
    startFrom: async lesson => {
      drawer.open();
      await take({ lesson }, "");
    },
    // Opens the talk of a link. Returns whether that worked; the drawer shows why not.
    async arrive(hash) {
      const json = await unpacked(hash).catch(error => {
        refuse(error.message);
        return null;
      });
      return json !== null && take({ json }, "", refuse);
    },
    entry: () => entryOf(talkStore.talk),
    momentAt: ({ moment }) => talkStore.talk.moment[moment - 1],
    fetched: ({ moment }) => requests.moment(talkStore.talk.moment[moment - 1]),
    questions: form => requests.questionsFileOf(talkStore.talk, form),
    talk: () => talkStore.talk,
    onChange: talkStore.onChange,
  };
}
