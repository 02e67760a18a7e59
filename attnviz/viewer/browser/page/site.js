// The pages of the site, which need no server: lessons, passes and articles, drawn from the data in the page.
import { element } from "../dom/element.js";
import { momentsFrom, searchOf } from "../lesson/course.js";
import { mountLessons } from "../lesson/lessons.js";
import { hashOf, showPass } from "./serverless.js";
import { makeTemplates, unpool } from "../shell/templates.js";
import { makePiece } from "../views/pieces.js";

const LOOKS = "look";
const LIGHTENED =
  "To keep this page small, the largest matrices of parameters are not in it, nor all heads of a large pass. The app has them all.";

function showLesson(main, data) {
  const moments = unpool(data.moments),
    fetched = momentsFrom(moments, makeTemplates()),
    hash = hashOf(window);
  let shown = null,
    looksAt = null; // the number of a moment
  const numberOfLook = () => {
    const number = Number(new URLSearchParams(hash.read()).get(LOOKS));
    return moments[number - 1] ? number : null;
  };
  const momentNow = () => Number(new URLSearchParams(hash.read()).get("moment") ?? 1);
  const host = {
    address: addressIn(data.lesson, hash),
    fetched,
    has: ({ lesson }) => lesson === data.lesson,
    hrefTo: place => `${place.lesson === data.lesson ? "" : data.pages[place.lesson]}${hashTo(place)}`,
    open: address => {
      if (address !== moments[momentNow() - 1]?.at) return false; // a link
      hash.write(`?${LOOKS}=${momentNow()}`, true);
      draw();
      return true;
    },
    hrefOf: address =>
      address === data.course.ownSentence ? data.own : address ? `#${LOOKS}=${momentNow()}` : data.walkthrough,
    questions: (_, form) => Promise.resolve(data.questions[form]),
    store: () => localStorage,
    isLinked: window.location.protocol !== "file:",
  };
  const draw = async () => {
    const number = numberOfLook();
    if (shown && number === looksAt) return; // what is shown follows by itself
    shown?.end();
    looksAt = number;
    if (number === null) {
      const root = element("div", "attnviz lessons");
      main.replaceChildren(root);
      shown = mountLessons(root, data.course, host);
    } else {
      const { document: pass } = await fetched({ moment: number });
      shown = lookAround(main, number, pass, hash, data.lightened.includes(number) ? LIGHTENED : "");
    }
  };
  hash.onArrival(draw);
  draw();
}

// The viewer below a way back, and a note on what it lacks.
function lookAround(main, number, pass, hash, note) {
  const way = element("a", "", "← Back to the lesson"),
    place = element("div", "around"),
    root = element("div");
  way.href = hashTo({ moment: number, present: false });
  place.append(way, ...(note ? [element("p", "note", note)] : []), root);
  main.replaceChildren(place);
  return showPass(root, pass, hash);
}

function hashTo({ moment, present, speaker = "" }) {
  return `#moment=${moment}${present ? "&present=1" : ""}${speaker && `&speaker=${speaker}`}`;
}

// The address of a lesson that a page is of, as mountLessons takes it: the hash, with its name.
function addressIn(lesson, hash) {
  return {
    read: () => {
      const query = new URLSearchParams(hash.read());
      const [moment, present, speaker] = ["moment", "present", "speaker"].map(name => query.get(name) ?? "");
      return searchOf({ lesson, moment: moment || 1, present: present === "1", speaker });
    },
    write: (search, isNewPlace) => {
      const query = new URLSearchParams(search);
      query.delete("lesson");
      hash.write(`?${query}`, isNewPlace);
    },
    onArrival: hash.onArrival,
  };
}

const KINDS = {
  lesson: showLesson,
  pass: (main, { pass }) => showPass(main, makeTemplates().whole({ pass }).pass, hashOf(window)),
  article: showArticle,
};

function showArticle(main, { pieces, doors }) {
  const box = element("div", "article");
  box.append(...pieces.map(each => makePiece(each, { open: door => window.location.assign(doors[door]) }).element));
  main.replaceChildren(box);
}

const data = JSON.parse(document.querySelector("#given").textContent);
KINDS[data.kind](document.querySelector("main"), data);
