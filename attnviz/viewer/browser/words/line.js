// Line: words beside each other, with what is said below each. Tab leads to one of them, arrow keys from word to word.
import { element, roomy, scaleOf, write } from "../elements/element.js";
import { PERCENTS } from "../pass/numeral.js";
import { setTabStop, rovingFocus } from "../elements/roving.js";

const SAID = 4.7; // letters of a word as wide as "under 1 %", which stands below it

// pick(line, place, isShifted) is called as a word is taken, inspect(place) as its share is.
export function makeLine(name, { pick, inspect }) {
  const list = element("div", "words");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
  list.setAttribute("aria-multiselectable", "true");
  let words = [],
    sided = [""];
  const line = {
    element: list,
    // Of two passes each share says which it is of: `sides` are "B " and "A ".
    write(texts, unit, sides = [""]) {
      list.ariaDescription = `Enter asks about a ${unit}, Shift and Enter about its share`;
      sided = sides;
      words = texts.map((text, place) => {
        const word = element("button");
        word.type = "button";
        word.setAttribute("role", "option");
        word.append(
          element("span", "text", text),
          ...sides.map((side, nth) => makeText(side, nth ? "said in-a" : "said")),
        );
        word.onclick = ({ target, shiftKey }) =>
          target.closest(".said") ? inspect(place) : pick(line, place, shiftKey);
        return word;
      });
      list.replaceChildren(...words);
      list.style.setProperty(
        "--letters",
        texts.reduce((sum, text) => sum + 0.5 + 0.55 * [...text].length, 0),
      );
      list.style.setProperty(
        "--in-line",
        texts.reduce((sum, text) => sum + 0.95 + 0.5 * [...text].length, SAID),
      );
      list.style.setProperty(
        "--ems",
        texts.reduce((sum, text) => sum + 1.1 + 0.55 * Math.max([...text].length, SAID), 0),
      );
    },
    // `held` is the key that is selected, whichever one points at: what is said beside it moves no word as one does. said(place,
    // nth) is of the so many-th side.
    light({ query, key, held }, textAt) {
      words.forEach((word, place) => {
        word.classList.toggle("held", place === held);
        word.classList.toggle("query", place === query);
        word.classList.toggle("key", place === key);
        word.setAttribute("aria-selected", place === query || place === key);
        word.ariaDescription = [...(place === query ? ["query"] : []), ...(place === key ? ["key"] : [])].join(" and ");
        for (const [nth, each] of [...word.querySelectorAll(".said")].entries())
          writeText(each, sided[nth], textAt(place, nth));
      });
      setTabStop(words, words[query ?? key]);
    },
    // The middle of each word.
    middles(origin) {
      const { left } = origin.getBoundingClientRect(),
        scale = scaleOf(origin);
      return words.map(word => {
        const at = word.getBoundingClientRect();
        return { x: (at.left - left + at.width / 2) / scale };
      });
    },
    show(place, scroller) {
      const word = words[place];
      if (!word || scroller.scrollWidth <= scroller.clientWidth) return;
      scroller.scrollLeft = word.offsetLeft + word.offsetWidth / 2 - scroller.clientWidth / 2;
    },
  };
  rovingFocus(list, () => [words]);
  return line;
}

// The text under a word, in the room of a percentage; of one of two passes it says first of which.
function makeText(side, className) {
  const made = roomy(
      "span",
      className,
      "",
      PERCENTS.map(share => side + share),
    ),
    line = element("span");
  line.append(element("span", "of"), "");
  made.append(line);
  return made;
}

function writeText({ firstChild: { firstChild: of, lastChild } }, side, text) {
  write(of, text && side);
  if (lastChild.data !== text) lastChild.data = text;
}
