// Choices: a question that is answered by one of some words, cells, answers or lines of code, each a button.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";

// answer(place) is called as one is chosen. Returns {element, update(state)}; a state is that of question.js.
export function makeChoices({ candidates, right, isCode = false }, { answer, verb: _verb }) {
  const box = element("div", `choices${isCode ? " code" : ""}`),
    made = candidates.map(({ label }, place) => button(isCode ? "" : label, () => answer(place)));
  if (isCode) for (const [place, each] of made.entries()) each.append(element("code", "", candidates[place].label));
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Answers");
  box.append(...made);
  return {
    element: box,
    update: state =>
      made.forEach((each, place) => {
        const isRight = state.isShown && right.includes(place),
          isOwn = state.isShown && state.answer === place;
        each.classList.toggle("right", isRight);
        each.classList.toggle("wrong", isOwn && !isRight);
        each.classList.toggle("own", !state.isShown && state.answer === place);
        each.disabled = state.isShown || state.isClosed === true;
        const marks = [state.answer === place ? "your answer" : "", isRight ? "right" : isOwn ? "wrong" : ""]
          .filter(Boolean)
          .join(", ");
        if (marks) each.setAttribute("aria-label", `${candidates[place].label}: ${marks}`);
        else each.removeAttribute("aria-label");
      }),
  };
}
