// The desk of one's own talk: the talk as it is kept, the drawer that shows it, and its ways out of this browser and into it.
import { button } from "../elements/button.js";
import { copyText, isOfThisMachine, reachOf } from "../elements/link.js";
import { element } from "../elements/element.js";
import { makeTakeaway } from "./takeaway.js";
import { saveFile } from "../viewer/download.js";
import { drawCode, MOST_BYTES } from "../viewer/qrCode.js";
import { makeTalkDrawer } from "./talkDrawer.js";
import { added, entryOf, ID, MOST_MOMENTS, nameOf } from "./talkList.js";
import { MOST, packed, unpacked } from "./talkLink.js";
import { MOST_CHARACTERS } from "./talkUploads.js";

const OWN_NUMBERS = "No link holds your own numbers: send the file, which has them, or the page.";
const TOO_LARGE = "A talk holds at most 8 MiB of your own numbers, and with these it would have more.";
const FULL = `A talk has at most ${MOST_MOMENTS} moments: delete one first.`;

// `own` is the talk as it is kept, `asking` what asks the server about it; host: {site, give(place, what), open(moment)}: give() leads to a
// place of the talk, and does there what is said, "print" or "openClass".
// Returns {standIn(home), collect({at, picture}, tab), open(), ...}.
export function makeTalkDesk(own, asking, host) {
  const chooser = element("input");
  Object.assign(chooser, { type: "file", accept: ".toml", hidden: true });
  chooser.onchange = async () => {
    const [file] = chooser.files;
    chooser.value = "";
    if (file) take({ file: await file.text() }, `Opened ${file.name}.`);
  };
  const opening = button("Open a file", () => chooser.click());
  opening.dataset.always = "true";
  const takeaway = makeTakeaway({
    title: () => nameOf(own.talk),
    questions: form => asking.questionsFileOf(own.talk, form),
    print: async () => doThere("print"),
  });
  takeaway.button.classList.remove("link"); // it stands among buttons
  const ways = [
    button("Copy link", () => attempt(copyLink)),
    button("QR code", () => attempt(showCode)),
    button("↓ File", () => attempt(saveTalk)),
    button("↓ Page", () => attempt(savePage)),
    takeaway.button,
    opening,
  ];
  const drawer = makeTalkDrawer(own, asking, {
    give: moment => {
      drawer.close();
      host.give({ lesson: ID, moment, present: true });
    },
    open: moment => {
      drawer.close();
      host.open(moment);
    },
    ways,
  });
  drawer.element.append(chooser, takeaway.panel);
  const doThere = what => {
    drawer.close();
    host.give({ lesson: ID, moment: 1, present: false }, what);
  };

  const attempt = async act => {
    drawer.code.replaceChildren();
    try {
      drawer.say((await act()) ?? "");
    } catch (error) {
      drawer.say(sayingOf(error));
    }
  };
  async function linkOf() {
    const url = new URL(`?lesson=${ID}`, host.site);
    url.hash = await packed(own.talk);
    return url;
  }
  const hasUploads = () => own.talk.moment.some(({ uploads }) => uploads?.length);
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
      drawer.code.replaceChildren(button("Open a class", () => doThere("openClass")));
      return `No code: the link has ${href.length.toLocaleString("en")} bytes, more than the ${MOST_BYTES} that a phone reads across a room. A class has a short code, and its phones follow the talk.`;
    }
    drawer.code.replaceChildren(drawCode(href));
    return isOfThisMachine(hostname, protocol) ? "Only this machine can open it." : "";
  }
  const fileName = ending =>
    `${
      nameOf(own.talk)
        .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
        .trim() || "talk"
    }.${ending}`;
  async function saveTalk() {
    saveFile(await asking.fileOf(own.talk), fileName("toml"), "application/toml");
    return "Saved.";
  }
  async function savePage() {
    drawer.say("The page is being made …");
    saveFile(await asking.pageOf(own.talk), fileName("html"));
    return "Saved. The page opens without a server.";
  }
  // Another talk takes the place of this one, which Undo brings back. Returns whether there is one.
  async function take(said, done) {
    try {
      const talk = await asking.talkOf(said);
      own.change({ title: talk.title ?? "", moment: talk.moment ?? [] });
      drawer.say(`${done} Undo brings back what was here.`);
      return true;
    } catch (error) {
      drawer.say(sayingOf(error));
      return false;
    }
  }
  return {
    standIn: drawer.standIn,
    open: () => drawer.open(),
    // Keeps a scene, and its small picture, as the last moment; `tab` is the one that has the files of one's own which it shows.
    async collect({ at, picture }, tab) {
      const n = own.talk.moment.length,
        refuse = said => {
          drawer.open();
          drawer.say(said);
        };
      if (n >= MOST_MOMENTS) return refuse(FULL);
      try {
        const uploads = tab ? await asking.uploadsOfScene(tab, at) : [],
          moment = uploads.length ? { at, uploads } : { at };
        if ((await asking.sizeOf([...own.talk.moment, moment])) > MOST_CHARACTERS) return refuse(TOO_LARGE);
        own.keepPicture(at, picture);
        own.change(added(own.talk, moment));
        drawer.open(n);
      } catch (error) {
        refuse(sayingOf(error));
      }
    },
    // A moment of a lesson, as the last one.
    async collectFrom({ lesson, moment }) {
      drawer.open();
      if (lesson === ID) return;
      if (own.talk.moment.length >= MOST_MOMENTS) return drawer.say(FULL);
      try {
        const { moment: all } = await asking.talkOf({ lesson });
        own.change(added(own.talk, all[moment - 1]));
        drawer.open(own.talk.moment.length - 1);
      } catch (error) {
        drawer.say(sayingOf(error));
      }
    },
    // A lesson, as a start.
    startFrom: async lesson => {
      drawer.open();
      await take({ lesson }, "");
    },
    // The talk of a link. Returns whether it is here now; what is wrong with it is said in the drawer.
    async arrive(hash) {
      let json = null;
      try {
        json = await unpacked(hash);
      } catch (error) {
        drawer.open();
        drawer.say(error.message);
      }
      if (json === null) return false;
      const isHere = await take({ json }, "");
      if (!isHere) drawer.open();
      return isHere;
    },
    entry: () => entryOf(own.talk),
    momentAt: ({ moment }) => own.talk.moment[moment - 1],
    fetched: ({ moment }) => asking.moment(own.talk.moment[moment - 1]),
    questions: form => asking.questionsFileOf(own.talk, form),
    talk: () => own.talk,
    onChange: own.onChange,
  };
}

function sayingOf(error) {
  return error instanceof TypeError ? "The server doesn’t answer. The talk is kept in this browser." : error.message;
}
