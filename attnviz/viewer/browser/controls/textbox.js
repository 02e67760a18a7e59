// Textbox: a line of text. What is typed into a live one is sent as the person pauses, into another on leaving; Enter leaves it.
// An answer of the server never comes in between while somebody types.
import { element, write } from "../elements/element.js";
import { isHalfTyped } from "./halftyped.js";
import { makeLabelled } from "./labelled.js";

const PAUSE_MS = 150; // after the last key
const LONG_PAUSE_MS = 1500; // where a word is half typed: another pass, and back with its last letter, would be a flicker
const NEARLY_FULL = 0.75; // of the limit: from then on one sees how much there is

export function makeTextbox(act) {
  const input = element("input", "typed"),
    counter = element("span", "counter"),
    frame = element("span", "frame");
  const labelled = makeLabelled("text", input, frame);
  let control = null,
    held = "",
    timer = null,
    isWaiting = false,
    isNews = false; // held: what was sent or said last
  input.type = "text";
  input.autocomplete = "off";
  input.spellcheck = false;
  counter.setAttribute("aria-hidden", "true");
  frame.append(input, counter);

  const count = () => {
    write(counter, `${input.value.length}/${control.limit}`);
    frame.style.setProperty("--counted", `${counter.textContent.length}ch`);
    frame.classList.toggle("nearly-full", input.value.length > NEARLY_FULL * control.limit);
  };
  const follow = () => {
    if (!isNews || isWaiting || input.value !== held) return;
    isNews = false;
    held = control.value;
    replace(input, held);
    count();
  };
  const send = () => {
    clearTimeout(timer);
    if (input.value === held) return follow();
    isNews = false; // what was said while somebody typed is older than this
    held = input.value;
    act(control.event, held);
  };
  const typed = ({ isComposing }) => {
    count();
    clearTimeout(timer);
    if (control.live && !isComposing)
      timer = setTimeout(send, isHalfTyped(input.value, control.words ?? []) ? LONG_PAUSE_MS : PAUSE_MS);
  };
  input.oninput = typed;
  input.addEventListener("compositionend", typed);
  input.onblur = send;
  input.onkeydown = ({ key, isComposing }) => {
    if (key !== "Enter" || isComposing) return;
    send();
    input.blur(); // keys are shortcuts again
  };
  return {
    element: labelled.element,
    update(next, waits) {
      const isNew = !control;
      isNews ||= isNew || next.value !== control.value;
      control = next;
      isWaiting = waits && !isNew; // what has just come has nothing to wait for
      labelled.update(next);
      labelled.element.classList.toggle("live", next.live);
      input.maxLength = next.limit;
      input.placeholder = next.placeholder ?? "";
      count();
      follow();
    },
    send,
  };
}

// Another text, with the selection where it was.
function replace(input, text) {
  if (input.value === text) return;
  const { selectionStart, selectionEnd } = input;
  input.value = text;
  input.setSelectionRange(selectionStart, selectionEnd);
}
