// What Streamlit calls, on every run of the page. The modules of this folder reach it as one text (../bundle.py).
import { shownIn, show } from "./viewer.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".picture");
  const before = shownIn(root);
  if (data.scene && before && before.scene !== data.scene) turnPage();
  show(root, data, setTriggerValue, getComputedStyle(root).getPropertyValue("--st-background-color"));
}

// A new step is read from its top. And a step that was clicked in the row of steps must not keep the keyboard, or the
// arrow keys would move inside the row; one that was reached by keyboard keeps it.
function turnPage() {
  document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 });
  const held = document.activeElement;
  if (held?.closest(".st-key-step") && !held.matches(":focus-visible")) held.blur();
}
