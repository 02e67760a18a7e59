// Entry point of a phone in a class, which works without Streamlit. Its HTML (app/class_pages.py) names the room and the pictures' script.
import { mountClass } from "../classroom/classPage.js";
import { makeSpeaker, hrefOf, openOnOtherPage, openTalk } from "../classroom/classSpeaker.js";
import { makeClassApi } from "../shell/server.js";
import { makeTemplates } from "../shell/templates.js";

const FIRST = "lesson=who-is-it&moment=1"; // where a class starts

const root = /** @type {HTMLElement} */ (document.querySelector("main")),
  { room: code, pictures } = /** @type {Record<string, string>} */ (root.dataset),
  site = new URL(".", location.href),
  api = makeClassApi(site, makeTemplates()),
  speaker = makeSpeaker(api, () => sessionStorage);

async function loadPictures() {
  const { default: made, styles } = await import(new URL(pictures, site).href),
    sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets = [sheet];
  return made();
}

const leave = ({ at, number }) => openOnOtherPage(site, speaker, number, at || FIRST);

mountClass(root, code, {
  speaker: speaker.room?.code === code ? speaker : null,
  leave,
  api,
  hash: location.hash.slice(1),
  hrefOf: at => hrefOf(site, at),
  stores: [() => localStorage, () => sessionStorage],
  go: typed => location.assign(new URL(`?room=${encodeURIComponent(typed)}`, site)),
  pictures: loadPictures,
  // Joins as another device of the speaker.
  speak(seat) {
    speaker.take(seat);
    openTalk(site, speaker);
  },
});
