// The frame of a page of lessons: what stands above a moment, what is said, its picture, and what stands below.
import { element, write } from "../elements/element.js";

const LATE_MS = 300;

// Returns {box, about, body, said, fill({picture, ways, foot, over, desk}), tell(text), begin(), bringVerdict(), whileLate(coming)}: fill() puts it
// into `root` with the elements of the picture, of what is opened from above, of what stands below and over all; desk, where there is
// one, is that of a class; tell() says something to who hears the page.
export function makeLessonFrame(root) {
  const box = element("div", "viewer lesson-page"),
    head = element("header", "lesson-head"),
    about = element("span", "about"),
    body = element("div", "lesson-body"),
    said = element("section", "lesson-said"),
    heard = element("p", "heard");
  said.setAttribute("aria-label", "The moment");
  heard.setAttribute("role", "status");
  return {
    box,
    about,
    body,
    said,
    fill({ picture, ways, foot, over, desk }) {
      head.append(about, ...ways);
      body.append(said, picture);
      box.append(head, body, foot, heard, ...over);
      if (desk) {
        box.prepend(desk.element);
        desk.standIn(body);
        box.append(desk.dialogs);
      }
      root.replaceChildren(box);
      root.ariaBusy = "false";
    },
    tell: text => write(heard, text),
    // A phone has no room for all of a moment: one is read from its beginning, and then what is said of an answer.
    begin: () => box.scrollIntoView({ block: "start" }),
    bringVerdict: () => said.querySelector(".verdict:not(:empty)")?.scrollIntoView({ block: "nearest" }),
    // Dims while something is long in coming.
    async whileLate(coming) {
      const timer = setTimeout(() => box.classList.add("late"), LATE_MS);
      try {
        return await coming;
      } finally {
        clearTimeout(timer);
        box.classList.remove("late");
      }
    },
  };
}
