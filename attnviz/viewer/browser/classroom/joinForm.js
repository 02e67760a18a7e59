// The form in which one types the code of a class.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";

// `reason` is why one is asked for it; go(typed) is told what was typed.
export function drawJoinForm(code, reason, go) {
  const form = element("form", "class-form"),
    input = element("input", "typed"),
    join = button("Join", () => {}, "check");
  join.type = "submit";
  input.autocomplete = "off";
  input.maxLength = 6;
  input.setAttribute("aria-label", "The six letters of the class");
  input.value = code;
  form.onsubmit = event => {
    event.preventDefault();
    if (input.value.trim()) go(input.value.trim());
  };
  form.append(element("p", "", reason), element("label", "", "The six letters on the screen"), input, join);
  return form;
}
