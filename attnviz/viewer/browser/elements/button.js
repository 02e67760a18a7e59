// Buttons: how they are made, also several of which one is on.
import { element } from "./element.js";

export function button(text, act, className = "") {
  const made = element("button", className, text);
  made.type = "button";
  made.onclick = act;
  return made;
}

// Buttons for some texts, the present one pressed; act(text) is called as one is clicked. Ids are drawn by their `labels`.
export function choice(texts, present, act, labels = {}) {
  const line = element("span", "choice");
  line.append(
    ...texts.map(text => {
      const made = button(labels[text] ?? text, () => act(text));
      made.setAttribute("aria-pressed", text === present);
      return made;
    }),
  );
  return line;
}
