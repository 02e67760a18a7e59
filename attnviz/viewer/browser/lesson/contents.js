// The contents: all lessons, to choose from, with how far one was in each and what one predicted.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { onPlainClick } from "../elements/link.js";
import { makePopover } from "../elements/popover.js";
import { minutesText } from "./course.js";

const KEPT = "Only this browser knows.",
  LOST = "This browser keeps nothing, so it is forgotten once you leave this page.";

// `here` are the whereabouts. go(place) leads to a lesson, hrefTo(place) is its link; forget() makes this browser forget; edit(),
// collect() and startFrom(), where there is a talk of one's own, open it, add this moment to it and make it of the lesson that one is in;
// openClass(), where that can be, opens a class, and isClass() says whether it is open. Returns {button, panel, update()}.
export function makeContents(here, memory, { go, forget, hrefTo, edit, collect, startFrom, openClass, isClass }) {
  const opener = button("All lessons", null, "link"),
    panel = makePopover(opener, "contents", "All lessons"),
    list = element("ol"),
    score = element("p", "score"),
    forgetting = button("Forget my answers", forget);
  const mine = element("p", "own-talk"),
    saying = element("span"),
    shut = act => () => {
      panel.hidePopover();
      act();
    };
  mine.hidden = !edit;
  if (edit)
    mine.append(
      saying,
      button("Your own talk", shut(edit)),
      button("Add this moment", shut(collect)),
      button("Begin one with this lesson", shut(startFrom)),
    );
  const ofLessons = [...mine.querySelectorAll("button")].slice(1),
    inClass = button("Open a class: phones follow you", shut(openClass));
  panel.append(list, inClass, mine, score, forgetting);
  return {
    button: opener,
    panel,
    update() {
      const { lessons, place } = here,
        own = here.own();
      opener.hidden = here.course().length === 1;
      write(
        saying,
        own ? `${own.name}: ${own.nMoments} moments. ` : "A talk of your own, of moments that you collect: ",
      );
      inClass.hidden = !openClass || isClass();
      for (const each of ofLessons) each.hidden = place.lesson === own?.id;
      list.replaceChildren(
        ...lessons.map(each => {
          const line = element("li"),
            door = element("a", "", each.name),
            reached = memory.reached[each.id],
            { right, asked } = memory.scoreOf(each.id);
          const there = {
            lesson: each.id,
            moment: reached && reached < each.nMoments ? reached : 1,
            present: place.present,
          };
          door.href = hrefTo(there);
          if (each.id === place.lesson) door.setAttribute("aria-current", "page");
          onPlainClick(door, () => {
            panel.hidePopover();
            return go(there);
          });
          const far = reached ? `at ${reached} of ${each.nMoments}` : "",
            predicted = asked ? `predicted ${right} of ${asked}` : "";
          line.append(
            door,
            element("span", "note", [minutesText(each.minutes), far, predicted].filter(Boolean).join(" · ")),
            element("p", "", each.says),
          );
          return line;
        }),
      );
      const { right, asked } = memory.scoreOf(null);
      write(score, asked ? `You predicted ${right} of ${asked}. ${memory.isKept ? KEPT : LOST}` : "");
      forgetting.hidden = !asked;
    },
  };
}
