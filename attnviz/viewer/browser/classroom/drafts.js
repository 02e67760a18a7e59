// What was typed on a phone and isn't sent: it is there again once the class is back at its question, and after a reload.
import { readStored, removeStored, writeStored } from "../lesson/memory.js";

const NAME = "attnviz drafts";
const MAX_KEPT = 20;

// storeOf() returns a Storage that ends with the tab.
export function makeDrafts(storeOf) {
  let texts = /** @type {Record<string, string>} */ (readStored(storeOf, NAME) ?? {});
  return {
    /** The draft of a question. @param {string} name @returns {import("../lesson/textField.js").Draft} */
    of: name => ({
      get text() {
        return texts[name] ?? "";
      },
      keep(text) {
        const { [name]: _, ...others } = texts,
          kept = Object.entries(others).slice(1 - MAX_KEPT);
        texts = Object.fromEntries(text ? [...kept, [name, text]] : kept);
        writeStored(storeOf, NAME, texts);
      },
    }),
    forget() {
      texts = {};
      removeStored(storeOf, NAME);
    },
  };
}
