// The takeaways of a lesson or a talk: a handout on paper, and its questions as a file.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { makePopover } from "../elements/popover.js";
import { saveFile } from "../viewer/download.js";

const FORMS = [
  ["gift", "Questions for Moodle (GIFT)", "gift.txt", "text/plain"],
  ["slides", "Questions as slides (Markdown)", "md", "text/markdown"],
];

// host: {title(), questions(form), print()}: its name, a promise of the text of a file of its questions, and one of its printing.
// Returns {button, panel}.
export function makeTakeaway({ title, questions, print }) {
  const status = element("p", "status");
  status.setAttribute("role", "status");
  const trying = act => async () => {
    write(status, "");
    try {
      await act();
    } catch (error) {
      write(status, `That didn’t work: ${error instanceof Error ? error.message : error} Try again.`);
    }
  };
  const save = (form, ending, type) => async () =>
    saveFile(await questions(form), `${fileNameOf(title())}.${ending}`, type);
  const opener = button("Handout and questions", null, "link"),
    panel = makePopover(opener, "takeaway", "Handout and questions");
  panel.append(
    button("Print a handout", trying(print)),
    ...FORMS.map(([form, label, ending, type]) => button(label, trying(save(form, ending, type)))),
    status,
  );
  return { button: opener, panel };
}

// A name that every system takes for a file.
export function fileNameOf(title) {
  return title.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim() || "talk";
}
