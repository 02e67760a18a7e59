// A lesson on a page of the site: its moments are in the page, and "look around from here" opens the viewer in their place. Where
// one is stands behind the # of the address: `moment=3`, or `look=3` with what the viewer writes.
import { element } from "../elements/element.js";
import { searchOf } from "../lesson/course.js";
import { mountLessons } from "../lesson/lessons.js";
import { heldIn } from "../lesson/moments.js";
import { hashOf } from "../seams/hash.js";
import { makeTemplates } from "../talk/templates.js";
import { unpooled } from "../talk/pool.js";
import { showPass } from "./sitePass.js";

const LOOKS = "look";

export function showLesson(main, given) {
  const moments = unpooled(given.moments),
    fetched = heldIn(moments, makeTemplates()),
    hash = hashOf(window);
  let shown = null,
    looksAt = null; // the number of a moment
  const numberOfLook = () => {
    const number = Number(new URLSearchParams(hash.read()).get(LOOKS));
    return moments[number - 1] ? number : null;
  };
  const momentNow = () => Number(new URLSearchParams(hash.read()).get("moment") ?? 1);
  const host = {
    address: addressIn(given.lesson, hash),
    fetched,
    has: ({ lesson }) => lesson === given.lesson,
    hrefTo: place => `${place.lesson === given.lesson ? "" : given.pages[place.lesson]}${hashTo(place)}`,
    open: address => {
      if (address !== moments[momentNow() - 1]?.at) return false; // a link
      hash.write(`?${LOOKS}=${momentNow()}`, true);
      draw();
      return true;
    },
    hrefOf: address =>
      address === given.course.own ? given.own : address ? `#${LOOKS}=${momentNow()}` : given.walkthrough,
    questions: (_, form) => Promise.resolve(given.questions[form]),
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
      shown = mountLessons(root, given.course, host);
    } else {
      const { document: pass } = await fetched({ moment: number });
      shown = lookAround(main, number, pass, hash);
    }
  };
  hash.onArrival(draw);
  draw();
}

// The viewer below a way back.
function lookAround(main, number, pass, hash) {
  const way = element("a", "", "← Back to the lesson"),
    place = element("div", "around"),
    root = element("div");
  way.href = hashTo({ moment: number, present: false });
  place.append(way, root);
  main.replaceChildren(place);
  return showPass(root, pass, hash);
}

function hashTo({ moment, present }) {
  return `#moment=${moment}${present ? "&present=1" : ""}`;
}

// The address of a lesson that a page is of, as mountLessons takes it: the hash, with its name.
function addressIn(lesson, hash) {
  return {
    read: () => {
      const query = new URLSearchParams(hash.read());
      return searchOf({ lesson, moment: query.get("moment") ?? 1, present: query.get("present") === "1" });
    },
    write: (search, isNewPlace) => {
      const query = new URLSearchParams(search);
      query.delete("lesson");
      hash.write(`?${query}`, isNewPlace);
    },
    onArrival: hash.onArrival,
  };
}
