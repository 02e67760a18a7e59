// Menu items to take a lesson or a talk away: its handout on paper, and its questions as files.
import { button, h, write } from "../dom/element.js";
import { saveFile } from "../views/download.js";
import { fileNameOf } from "./course.js";

const FORMS = [
  ["gift", "Questions for Moodle (GIFT)", "gift.txt", "text/plain"],
  ["slides", "Questions as slides (Markdown)", "md", "text/markdown"],
];

// title() is the name of the lesson or talk, questions(form) resolves to a file of its questions, print(hasAnswers) prints its handout.
export function makeTakeaway({ title, questions, print }) {
  const status = h("p", { class: "status", role: "status" });
  const reporting = act => async () => {
    write(status, "");
    try {
      await act();
    } catch (error) {
      write(status, `That didn’t work: ${error instanceof Error ? error.message : error} Try again.`);
    }
  };
  const saving = FORMS.map(([form, label, ending, type]) => {
    const save = async () => saveFile(await questions(form), `${fileNameOf(title())}.${ending}`, type);
    return button(label, reporting(save));
  });
  const handout = button(
      "Print a handout",
      reporting(() => print(true)),
    ),
    unanswered = button(
      "Print it without answers",
      reporting(() => print(false)),
    );
  return [handout, unanswered, ...saving, status];
}
