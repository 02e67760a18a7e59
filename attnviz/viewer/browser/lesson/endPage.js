// The ends of lessons: the user's own words after each lesson, and the page after the last one, with three ways on.
import { button, h, write } from "../dom/element.js";
import { onPlainClick } from "../dom/link.js";
import { drawRuns } from "../dom/runs.js";

const KEPT = "Kept in this browser only.",
  LOST = "This browser keeps nothing: it is gone when you close the page.";
const MAX_CHARACTERS = 4000;

export const keptText = isKept => (isKept ? KEPT : LOST);

/** The text box for the user's own words, at the end of each lesson in turn. @param {ReturnType<import("./memory.js").makeMemory>} memory */
export function makeOwnWords(memory) {
  const props = { class: "own-words", placeholder: "In your own words", rows: 4, maxLength: MAX_CHARACTERS },
    box = h("textarea", { ...props, "aria-label": "In your own words" }),
    note = h("p", { class: "note", role: "status" });
  const drawNote = () => write(note, box.value && keptText(memory.isKept));
  return {
    elements: [box, note],
    update(lesson) {
      const text = memory.ownWordsOf(lesson);
      if (box.value !== text) box.value = text;
      drawNote();
      box.oninput = () => {
        memory.keepOwnWords(lesson, box.value);
        drawNote();
      };
    },
  };
}

// actions: {go(position), hrefTo(position), open(address), hrefOf(address), hrefOfPage(name), opensSentences}. `ownSentence` is the address of
// the user's own sentence in the walkthrough. Returns a function that draws its elements.
export function makeEndPage(state, memory, ownSentence, actions) {
  const { go, hrefTo, open, hrefOf, hrefOfPage, opensSentences } = actions;
  const linkTo = (lesson, moment, ...text) => {
    const to = { lesson, moment, present: false },
      link = h("a", { href: hrefTo(to) }, ...text);
    onPlainClick(link, () => go(to));
    return link;
  };
  function drawLesson({ id, terms, moments, nMoments, tell }) {
    const own = memory.ownWordsOf(id).trim(),
      numberOf = moment => moments.findIndex(each => each.id === moment) + 1,
      drawTerm = ({ name, moment }) => h("li", {}, linkTo(id, numberOf(moment), ...drawRuns(name))),
      ending = linkTo(id, nMoments, own ? "Change them" : "Put it in your own words"),
      note = h("span", { class: "note" }, own && "Your own words. ", ending);
    return h(
      "li",
      {},
      h("ul", { class: "terms" }, terms.map(drawTerm)),
      h("div", {}, own ? h("blockquote", {}, own) : drawRuns(tell), " ", note),
    );
  }
  function drawWay(title, text, href, follow = () => false) {
    const way = h("a", { href, class: "on" }, h("strong", {}, title), h("span", {}, text));
    onPlainClick(way, follow);
    return way;
  }
  return () => [
    h("h2", {}, `What you can explain ${memory.nextToDo() ? "after these lessons" : "now"}`),
    h(
      "p",
      { class: "lead" },
      "Cover the sentences, and say each word’s meaning aloud, as if to a friend. Then compare.",
    ),
    h("ol", { class: "explained" }, state.lessons.map(drawLesson)),
    h(
      "p",
      { class: "note" },
      state.lessons.some(({ id }) => memory.ownWordsOf(id).trim()) && `${keptText(memory.isKept)} `,
      button("Print this page", () => window.print(), "link"),
    ),
    h("h2", {}, "Ways on"),
    h(
      "nav",
      { class: "ways", "aria-label": "Ways on" },
      opensSentences &&
        drawWay("Your own sentence", "Type one, and open every number behind it.", hrefOf(ownSentence), () =>
          open(ownSentence),
        ),
      drawWay("microgpt", "Let the small language model write names, a letter at a time.", hrefOfPage("microgpt")),
      drawWay(
        "Your own code",
        "Write attention yourself, and see where its numbers differ from ours.",
        hrefOfPage("your_own_numbers"),
      ),
    ),
  ];
}
