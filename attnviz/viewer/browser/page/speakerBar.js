// The bar of a class, with its speaker, who outlasts a page.
import { makeClassBar } from "../classroom/classBar.js";
import { makeSpeaker } from "../classroom/classSpeaker.js";
import { makeClassLine } from "../shell/server.js";
import { openFor, openTalk } from "./classLinks.js";

let speaker = /** @type {ReturnType<typeof makeSpeaker> | null} */ (null);

export function makeSpeakerBar(site, templates, host) {
  speaker ??= makeSpeaker(makeClassLine(site, templates), () => sessionStorage);
  const mine = speaker,
    open = at => openFor(site, mine, mine.now.number, at, host.isPresented());
  return makeClassBar(mine, site, { ...host, open, openTalk: () => openTalk(site, mine) });
}
