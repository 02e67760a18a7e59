// The user's talk on every page: opening, saving and sharing it, and its link.
import { ID, fileNameOf } from "../lesson/course.js";
import { button, h, makeMenu } from "../dom/element.js";
import { copyText, isOfThisMachine, reachOf } from "../dom/link.js";
import { saveFile } from "../views/download.js";
import { MOST_BYTES, drawCode } from "../views/qrCode.js";
import { makeTakeaway } from "../lesson/takeaway.js";
import { FULL, MOST_MOMENTS, added, makeTalkDrawer } from "./talkDrawer.js";
import { hasNotes, imagesOf, nameOf, uploadsOf, withoutNotes } from "./talkFiles.js";

const errorText = error =>
  error instanceof TypeError ? "The server doesn’t answer. Your talk is still here." : error.message;

export const MAX_LINK_CHARACTERS = 6000; // characters; some programs truncate longer links
const LINK_NAME = "#talk=";
const MOST_LINK_BYTES = 400_000; // unpacked, as in core/limits.py
const FORMAT = "deflate-raw";
const BROKEN =
  "The link of the talk is broken: it was cut off, or changed on its way. Ask for it again, or for the talk’s file.";

// A link may be passed on, so it has no notes.
export async function packed(talk) {
  const json = new TextEncoder().encode(JSON.stringify(withoutNotes(talk))),
    bytes = await transformed(new CompressionStream(FORMAT), json, Infinity),
    text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  return LINK_NAME + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The talk in a hash, as JSON; null if there is none.
export async function unpacked(hash) {
  if (!hash.startsWith(LINK_NAME)) return null;
  try {
    const text = atob(hash.slice(LINK_NAME.length).replaceAll("-", "+").replaceAll("_", "/")),
      bytes = Uint8Array.from(text, sign => sign.charCodeAt(0)),
      json = await transformed(new DecompressionStream(FORMAT), bytes, MOST_LINK_BYTES);
    return new TextDecoder("utf-8", { fatal: true }).decode(json);
  } catch {
    throw new Error(BROKEN);
  }
}

async function transformed(stream, bytes, most) {
  const writer = stream.writable.getWriter(),
    isWritten = writer.write(bytes).then(() => writer.close());
  isWritten.catch(() => {}); // reading fails too, and reports it
  const pieces = /** @type {BlobPart[]} */ ([]),
    reader = stream.readable.getReader();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (size > most) throw new Error(BROKEN);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

const NO_IMAGES = " It leaves out the images, of which it has the words: the file has them, and the page.";
const NO_NOTES = " Your notes are not in it: only the file keeps them.";
const OWN_NUMBERS = "No link holds your own numbers: send the file, which has them, or the page.";

// report(text) shows the outcome, doThere(what) performs an action on the talk's page. `code` takes a QR code.
function makeTalkSharing(talkStore, requests, site, { report, doThere }) {
  const code = h("p", { class: "code" }),
    title = () => nameOf(talkStore.talk),
    hasUploads = () => uploadsOf(talkStore.talk.moment).length > 0,
    noNotes = () => (hasNotes(talkStore.talk) ? NO_NOTES : ""),
    leftOut = () => `${imagesOf(talkStore.talk.moment).length > 0 ? NO_IMAGES : ""}${noNotes()}`,
    fileName = ending => `${fileNameOf(title())}.${ending}`,
    questions = form => requests.questionsFileOf(talkStore.talk, form),
    takeaway = button("Handout and questions"),
    panel = makeMenu(takeaway, "takeaway", "Handout and questions");
  panel.append(
    ...makeTakeaway({ title, questions, print: async hasAnswers => doThere(hasAnswers ? "print" : "printUnanswered") }),
  );
  const sharing = (name, act) => {
    const share = async () => {
      code.replaceChildren();
      report(await act().catch(errorText));
    };
    return button(name, share);
  };
  async function linkOf() {
    const url = new URL(`?lesson=${ID}`, site);
    url.hash = await packed(talkStore.talk);
    return url;
  }
  async function copyLink() {
    if (hasUploads()) return OWN_NUMBERS;
    const { href, hash, hostname, protocol } = await linkOf(),
      [length, most] = [hash.length, MAX_LINK_CHARACTERS].map(each => each.toLocaleString("en"));
    if (hash.length > MAX_LINK_CHARACTERS)
      return `The link would have ${length} characters, and some programs cut off what is longer than ${most}: send the file.`;
    return `${(await copyText(window, href)) ? reachOf(hostname, protocol) : `Copy it from here: ${href}`}${leftOut()}`;
  }
  async function showCode() {
    if (hasUploads()) return OWN_NUMBERS;
    const { href, hostname, protocol } = await linkOf();
    if (href.length > MOST_BYTES) {
      code.replaceChildren(button("Open a class", () => doThere("openClass")));
      return `No code: the link has ${href.length.toLocaleString("en")} bytes, more than the ${MOST_BYTES} that a phone reads across a room. A class has a short code, and its phones follow the talk.`;
    }
    code.replaceChildren(drawCode(href));
    return `${isOfThisMachine(hostname, protocol) ? "Only this machine can open it." : ""}${leftOut()}`.trim();
  }
  async function saveTalk() {
    saveFile(await requests.fileOf(talkStore.talk), fileName("toml"), "application/toml");
    return "Saved.";
  }
  async function savePage() {
    report("The page is being made …");
    saveFile(await requests.pageOf(talkStore.talk), fileName("html"));
    return `Saved. The page opens without a server.${noNotes()}`;
  }
  const ways = { "Copy link": copyLink, "QR code": showCode, "↓ File": saveTalk, "↓ Page": savePage },
    buttons = Object.entries(ways).map(([name, act]) => sharing(name, act));
  return { buttons: [...buttons, takeaway], code, panel };
}

const MOST_CHARACTERS = 11_184_812; // of all uploads of a talk, as in core/limits.py
const TOO_LARGE = "A talk holds at most 8 MiB of your own numbers, and with these it would have more.";

// host: {site, give(position, what), open(moment)}: give() leads to a position in the talk, and there does "print", "printUnanswered" or "openClass".
export function makeTalkDock(talkStore, requests, host) {
  const chooser = h("input", { type: "file", accept: ".toml", hidden: true }),
    opening = button("Open a file", () => chooser.click());
  chooser.onchange = async () => {
    const [file] = chooser.files;
    chooser.value = "";
    if (file) openTalk({ file: await file.text() }, `Opened ${file.name}.`);
  };
  opening.dataset.always = "true";
  const give = ({ moment, present }, what) => {
    drawer.close();
    host.give({ lesson: ID, moment, present }, what);
  };
  const sharing = makeTalkSharing(talkStore, requests, host.site, {
    report: text => drawer.report(text),
    doThere: what => give({ moment: 1, present: false }, what),
  });
  const drawer = makeTalkDrawer(talkStore, requests, {
    give: (moment, what) => give({ moment, present: true }, what),
    open(moment) {
      drawer.close();
      host.open(moment);
    },
    ways: [...sharing.buttons, opening],
    code: sharing.code,
  });
  drawer.element.append(chooser, sharing.panel);
  const refuse = reason => {
    drawer.open();
    drawer.report(reason);
  };
  // Replaces the talk by another; Undo brings it back. Returns whether that worked.
  async function openTalk(request, done, refused = drawer.report) {
    try {
      const talk = await requests.talkOf(request);
      talkStore.change({ title: talk.title ?? "", moment: talk.moment ?? [] });
      drawer.report(`${done} Undo brings back what was here.`);
      return true;
    } catch (error) {
      refused(errorText(error));
      return false;
    }
  }
  return {
    attachTo: drawer.attachTo,
    open: () => drawer.open(),
    // Appends a scene with its thumbnail as a moment; `tab` is the tab with the uploads that it shows, if any.
    async collect({ at, picture, title }, tab) {
      const n = talkStore.talk.moment.length;
      if (n >= MOST_MOMENTS) return refuse(FULL);
      try {
        const uploads = tab ? await requests.uploadsOfScene(tab, at) : [],
          moment = { at, ...(title && { title }), ...(uploads.length && { uploads }) };
        if ((await requests.sizeOf([...talkStore.talk.moment, moment])) > MOST_CHARACTERS) return refuse(TOO_LARGE);
        talkStore.keepPicture(at, picture);
        talkStore.change(added(talkStore.talk, moment));
        drawer.open(n);
      } catch (error) {
        refuse(errorText(error));
      }
    },
    async collectFrom({ lesson, moment }) {
      drawer.open();
      if (lesson === ID) return;
      if (talkStore.talk.moment.length >= MOST_MOMENTS) return drawer.report(FULL);
      try {
        const { moment: all } = await requests.talkOf({ lesson });
        talkStore.change(added(talkStore.talk, all[moment - 1]));
        drawer.open(talkStore.talk.moment.length - 1);
      } catch (error) {
        drawer.report(errorText(error));
      }
    },
    async startFrom(lesson) {
      drawer.open();
      await openTalk({ lesson }, "");
    },
    // Opens the talk of a link. Returns whether that worked; the drawer shows why not.
    async openLink(hash) {
      try {
        const json = await unpacked(hash);
        return json !== null && (await openTalk({ json }, "", refuse));
      } catch (error) {
        refuse(errorText(error));
        return false;
      }
    },
  };
}
