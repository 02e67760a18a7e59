// The ways of one's own talk out of this browser: its link, a code for phones, its file, its page, a handout and its questions.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { copyText, isOfThisMachine, reachOf } from "../elements/link.js";
import { saveFile } from "../viewer/download.js";
import { drawCode, MOST_BYTES } from "../viewer/qrCode.js";
import { fileNameOf, makeTakeaway } from "./takeaway.js";
import { sayingOf } from "./talkAsking.js";
import { MOST, packed } from "./talkLink.js";
import { ID, nameOf, uploadsOf } from "./talkList.js";

const OWN_NUMBERS = "No link holds your own numbers: send the file, which has them, or the page.";

// `own` and asking are as in makeTalkDesk; say(text) tells how it went, doThere(what) does it on the page of the talk. Returns {buttons,
// code, panel}: elements, of which `code` is what a QR code stands in.
export function makeTalkWays(own, asking, site, { say, doThere }) {
  const code = element("p", "code"),
    hasUploads = () => uploadsOf(own.talk.moment).length > 0,
    fileName = ending => `${fileNameOf(nameOf(own.talk))}.${ending}`;
  const takeaway = makeTakeaway({
    title: () => nameOf(own.talk),
    questions: form => asking.questionsFileOf(own.talk, form),
    print: async () => doThere("print"),
  });
  takeaway.button.classList.remove("link"); // it stands among buttons
  const way = (name, act) =>
    button(name, async () => {
      code.replaceChildren();
      say(await act().catch(sayingOf));
    });
  async function linkOf() {
    const url = new URL(`?lesson=${ID}`, site);
    url.hash = await packed(own.talk);
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
    saveFile(await asking.fileOf(own.talk), fileName("toml"), "application/toml");
    return "Saved.";
  }
  async function savePage() {
    say("The page is being made …");
    saveFile(await asking.pageOf(own.talk), fileName("html"));
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
