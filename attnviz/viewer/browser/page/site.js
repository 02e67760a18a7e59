// Entry point of the pages of the static site: lessons, passes and articles, drawn from the data in the page.
import { h } from "../dom/element.js";
import { PARAMETERS } from "../../generated/where.js";
import { END, positionIn, searchOf } from "../lesson/course.js";
import { mountLessons } from "../lesson/lessons.js";
import { hashOf, showPass } from "./serverless.js";
import { loadScript } from "./together.js";
import { makeTemplates, unpool } from "../shell/templates.js";
import { makePiece } from "../views/pieces.js";

const LOOKS = "look"; // in the hash: the number of the moment whose pass is explored
const LIGHTENED =
  "To keep this page small, the largest matrices of parameters are not in it, nor all heads of a large pass. The app has them all.";

function showLesson(main, data) {
  const moments = unpool(data.moments),
    templates = makeTemplates(),
    fetchMoment = ({ moment }) => Promise.resolve(templates.completeMoment(moments[moment - 1])),
    hash = hashOf(window);
  let shown = /** @type {{ end: () => any } | null} */ (null),
    explored = /** @type {number | null} */ (null); // the number of a moment
  const query = () => new URLSearchParams(hash.read()),
    numberNow = () => positionIn(data.course.lessons, address.read())?.moment ?? 1,
    address = lessonAddress(data, hash);
  // Where in the present moment's pass an address leads.
  const placeOf = address => {
    const place = [...new URLSearchParams(address)].filter(([name]) => Object(PARAMETERS).includes(name));
    return new URLSearchParams([[LOOKS, String(numberNow())], ...place]);
  };
  const host = {
    address,
    fetchMoment,
    loadScript,
    has: ({ lesson }) => lesson === data.lesson,
    hrefTo: position =>
      `${position.lesson === data.lesson ? "" : (data.pages[position.lesson] ?? "")}${hashTo(position)}`,
    open(address) {
      if (!address || address === data.course.ownSentence) return false; // a link
      hash.write(`?${placeOf(address)}`, true);
      draw();
      return true;
    },
    hrefOf(address) {
      if (address === data.course.ownSentence) return data.own;
      return address ? `#${placeOf(address)}` : data.walkthrough;
    },
    hrefOfPage: name => (name === "microgpt" ? data.microgpt : data.own),
    questions: (_, form) => Promise.resolve(data.questions[form]),
    store: () => localStorage,
    isLinked: window.location.protocol !== "file:",
  };
  const draw = async () => {
    const asked = Number(query().get(LOOKS)),
      number = moments[asked - 1] ? asked : null;
    if (shown && number === explored) return; // what is shown follows by itself
    shown?.end();
    explored = number;
    if (number === null) {
      const root = h("div", { class: "attnviz lessons" });
      main.replaceChildren(root);
      shown = mountLessons(root, data.course, host);
    } else {
      const { document: pass } = await fetchMoment({ moment: number });
      shown = explore(main, number, pass, hash, data.lightened.includes(number) && LIGHTENED);
    }
  };
  hash.onNavigate(draw);
  draw();
}

function explore(main, moment, pass, hash, note) {
  const root = h("div"),
    way = h("a", { href: hashTo({ moment, present: false }) }, "← Back to the lesson");
  main.replaceChildren(h("div", { class: "around" }, way, note && h("p", { class: "note" }, note), root));
  return showPass(root, pass, hash);
}

const hashTo = ({ lesson = "", moment, present, speaker = "" }) =>
  lesson === END
    ? `#lesson=${END}`
    : `#moment=${moment}${present ? "&present=1" : ""}${speaker && `&speaker=${speaker}`}`;

// The address of a lesson that has a page of its own, as mountLessons takes it: the hash, with the lesson's name.
const lessonAddress = ({ lesson, course }, hash) => ({
  read() {
    const query = new URLSearchParams(hash.read()),
      isEnd = query.get("lesson") === END,
      [moment, present, speaker] = ["moment", "present", "speaker"].map(name => query.get(name) ?? "");
    const number = positionIn(course.lessons, `?lesson=${lesson}&moment=${moment || 1}`)?.moment ?? 1;
    return searchOf({ lesson: isEnd ? END : lesson, moment: number, present: present === "1", speaker });
  },
  write(search, isNewPlace) {
    const query = new URLSearchParams(search);
    if (query.get("lesson") !== END) query.delete("lesson");
    hash.write(`?${query}`, isNewPlace);
  },
  onNavigate: hash.onNavigate,
});

function showArticle(main, { pieces, doors }) {
  const open = door => window.location.assign(doors[door]);
  main.replaceChildren(h("div", { class: "article" }, ...pieces.map(each => makePiece(each, { open }).element)));
}

const KINDS = {
  lesson: showLesson,
  pass: (main, { pass }) => showPass(main, makeTemplates().completeDocument(pass), hashOf(window)),
  article: showArticle,
};

const data = JSON.parse(document.querySelector("#given")?.textContent ?? "{}");
KINDS[data.kind](document.querySelector("main"), data);
