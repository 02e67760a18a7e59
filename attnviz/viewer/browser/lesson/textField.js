// A field for a short text, with a count of its characters.
import { h, write } from "../dom/element.js";

export const MAX_CHARACTERS = 140; // as classroom/written.py has it

/** What was typed and not yet sent; it outlives the field. @typedef {{ readonly text: string, keep(text: string): void }} Draft */
/** @type {Draft} */
export const NO_DRAFT = { text: "", keep: () => {} };

/** send(text) is called with what was typed. @param {{ label: string, verb: string, draft?: Draft, send(text: string): void }} props */
export function makeTextField({ label, verb, draft = NO_DRAFT, send }) {
  const props = { rows: 3, maxLength: MAX_CHARACTERS, autocomplete: "off", enterKeyHint: "send" },
    input = h("textarea", { ...props, "aria-label": `${label}, at most ${MAX_CHARACTERS} characters`, dir: "auto" }),
    counter = h("span", { class: "counter" }),
    check = h("button", { class: "check", type: "submit" }, verb);
  const count = () => write(counter, `${input.value.length} / ${MAX_CHARACTERS}`);
  const onsubmit = event => {
    event.preventDefault(); // no page load
    if (input.value.trim()) send(input.value.trim());
  };
  input.oninput = () => {
    draft.keep(input.value);
    count();
  };
  input.onkeydown = event => {
    if (event.key === "Enter" && !event.isComposing) onsubmit(event);
  };
  input.value = draft.text;
  count();
  return {
    element: h("form", { class: "text-field", onsubmit }, input, h("p", {}, counter, check)),
    // Puts in what was sent before, unless something else is typed.
    set(text) {
      if (!input.value) input.value = text;
      count();
    },
    clear() {
      input.value = "";
      input.oninput();
    },
    close(isClosed) {
      input.disabled = check.hidden = counter.hidden = isClosed;
    },
  };
}
