// The user's own words at the end of a lesson, which the browser keeps with that lesson.
import { h, write } from "../dom/element.js";

const KEPT = "Kept in this browser only.",
  LOST = "This browser keeps nothing: it is gone when you close the page.";
const MAX_CHARACTERS = 4000;

export const keptText = isKept => (isKept ? KEPT : LOST);

/** The box for them, which stands at the end of each lesson in turn. @param {ReturnType<import("./memory.js").makeMemory>} memory */
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
