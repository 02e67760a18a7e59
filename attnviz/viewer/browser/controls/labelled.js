// Labelled: a box beside its label, which is seen unless it is quiet, and heard; and what helps with the box.
import { element, write } from "../elements/element.js";

// `frame` is what stands beside the label: the box, or something that holds it.
export function makeLabelled(kind, box, frame = box) {
  const line = element("label", `labelled ${kind}`),
    name = element("span", "name");
  line.append(name, frame);
  return {
    element: line,
    update({ label, quiet, help }) {
      write(name, label);
      name.hidden = Boolean(quiet);
      line.classList.toggle("quiet", Boolean(quiet));
      say(box, "aria-label", quiet && label);
      explain(line, box, help);
    },
  };
}

// Help that a pointer sees over the line, and is heard with the box.
export function explain(line, box, help) {
  say(line, "title", help);
  say(box, "aria-description", help);
}

function say(each, attribute, text) {
  if (text === each.getAttribute(attribute)) return; // which costs, even so
  if (text) each.setAttribute(attribute, text);
  else each.removeAttribute(attribute);
}
