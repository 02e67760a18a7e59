// The last screen of a talk, which says that it is over.
import { element, write } from "../elements/element.js";

// Returns {element, update(name)}: the name of what is over; empty where it is not.
export function makeTalkEnd() {
  const box = element("section", "talk-end"),
    name = element("h2");
  box.setAttribute("aria-label", "The end");
  box.append(name, element("p", "", "The end"));
  box.hidden = true;
  return {
    element: box,
    update: title => {
      box.hidden = !title;
      write(name, title);
    },
  };
}
