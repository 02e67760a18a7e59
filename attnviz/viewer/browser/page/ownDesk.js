// One's own talk in the app: its desk, which stands in every page that collects or gives it, and the way back to it in mid-talk.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { spelledOut } from "../elements/link.js";
import { searchOf } from "../lesson/course.js";
import { makeOwnTalk } from "../lesson/ownTalk.js";
import { makeTalkAsking } from "../lesson/talkAsking.js";
import { makeTalkDesk } from "../lesson/talkDesk.js";
import { smallPictureOf } from "../lesson/talkPicture.js";
import { searchAt } from "../scene/address.js";
import { addressOf } from "../seams/history.js";

const UNDER_WAY = "attnviz talk under way"; // {here, next, from}: addresses; from is where the talk was begun
let desk = null;

export function ownTalkAt(site, templates) {
  desk ??= makeDesk(site, templates);
  return desk;
}

function makeDesk(site, templates) {
  const way = element("div", "viewer talk-goes-on"),
    onward = button("Back to the talk", () => goOn("here")),
    over = button("Leave it", () => {
      keep({});
      draw();
    });
  onward.title = "Page Down goes on with it, Page Up comes back to where you were";
  way.append(onward, over);
  let home = null, // what the way stands in
    toLessons = () => {}, // opens the page of lessons
    lessons = null, // what is mounted there
    open = null; // opens a scene from there in the walkthrough
  const ownTalk = makeOwnTalk(() => localStorage, window);
  const talkDesk = makeTalkDesk(ownTalk, makeTalkAsking(site, templates), {
    site,
    give: place => {
      if (lessons) return lessons.go(place);
      keep({ here: searchOf(place), next: null, from: window.location.search.slice(1) });
      toLessons();
    },
    open: at => (open ? open(at) : window.location.assign(new URL(`walkthrough?${at}`, site))),
  });
  const draw = () => {
    if (lessons !== null || !kept().here) way.remove();
    else if (way.parentNode !== home) home.append(way);
  };
  function goOn(which) {
    const { here, next, from } = kept();
    keep({ here: (which === "next" && next) || here, next: null, from });
    toLessons();
  }
  window.addEventListener(
    "keydown",
    event => {
      if (!way.isConnected || !["PageDown", "PageUp"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      goOn(event.key === "PageDown" ? "next" : "here");
    },
    true,
  );
  return {
    collect: (pass, where) => {
      const { search } = new URL(spelledOut(window.location.href, pass.document.link));
      const at = searchAt(pass, { ...where, present: false, reveal: null }, search).slice(1);
      return talkDesk.collect({ at, picture: smallPictureOf(pass, where) });
    },
    // Sets the act that opens the page of lessons from here.
    leadsTo: act => {
      toLessons = act;
      lessons = null;
      open = null;
    },
    standIn: root => {
      home = root;
      talkDesk.standIn(root);
      draw();
    },
    // The host's part for the page of lessons.
    ofLessons: opens => ({
      own: talkDesk,
      resumed: () => kept().here ?? "",
      leave: (place, next) => keep({ ...kept(), here: searchOf(place), next: next && searchOf(next) }),
      left: () => {
        const { from } = kept();
        keep({});
        if (from) opens(from);
      },
    }),
    // The page of lessons is there; the talk of a link is put into it.
    async arrive(page, opens) {
      lessons = page;
      open = opens;
      keep({ from: kept().from });
      if (!window.location.hash.startsWith("#talk=")) return;
      const { hash } = window.location;
      addressOf(window).dropHash();
      if (await talkDesk.arrive(hash)) page.go({ lesson: "talk", moment: 1, present: false });
    },
  };
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(UNDER_WAY)) ?? {};
  } catch {
    return {};
  }
}

function keep(parts) {
  try {
    sessionStorage.setItem(UNDER_WAY, JSON.stringify(parts));
  } catch {} // then a talk is begun and left where it is shown
}
