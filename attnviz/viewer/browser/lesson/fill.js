// Fill: a question that is answered by a number: a share on a slider, any other in a box.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { answerText } from "./verdict.js";

const HALF = 50; // per cent: where a slider stands first
const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;

// The number that somebody typed, as people write one; null if it is none. A share may be in per cent.
export function numberIn(text) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(/\s/g, "");
  return NUMBER.test(plain) ? Number(plain.replace(",", ".")) : null;
}

// answer(number) is called as one is checked. Returns {element, update(state)}; a state is {answer, isShown}.
export function makeFill(question, acts) {
  return question.isShare ? makeSlider(question, acts) : makeBox(question, acts);
}

function makeSlider(question, { answer }) {
  const box = element("div", "slider"),
    track = element("div", "track"),
    input = element("input"),
    own = element("output", "own"),
    right = element("span", "right", question.text),
    check = button("Check", () => answer(Number(input.value) / 100), "check");
  Object.assign(input, { type: "range", min: "0", max: "100", step: "1", value: String(HALF) });
  input.setAttribute("aria-label", "Your share, in per cent");
  const draw = () => {
    write(own, `you: ${input.value} %`);
    input.setAttribute("aria-valuetext", `${input.value} %`);
    box.style.setProperty("--own", String(Number(input.value) / 100));
  };
  input.oninput = draw;
  input.onkeydown = event => {
    if (event.key === "Enter") check.click();
  };
  box.style.setProperty("--right", String(Math.min(Math.max(question.right, 0), 1)));
  track.append(own, input, right);
  box.append(track, check);
  draw();
  return {
    element: box,
    update: ({ answer: given, isShown }) => {
      if (isShown && given !== null) input.value = String(Math.round(100 * given));
      draw();
      own.hidden = isShown && given === null;
      input.disabled = isShown;
      box.classList.toggle("unanswered", isShown && given === null);
      right.hidden = !isShown;
      check.hidden = isShown;
    },
  };
}

function makeBox(question, { answer }) {
  const box = element("form", "number-box"),
    input = element("input", "typed"),
    unit = element("span", "unit", question.unit ?? ""),
    check = button("Check", () => {}, "check"),
    help = element("p", "help");
  check.type = "submit";
  input.type = "text";
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.maxLength = 30;
  input.setAttribute("aria-label", question.unit ? `Your number, ${question.unit}` : "Your number");
  help.setAttribute("role", "status");
  const send = event => {
    event.preventDefault(); // a page sends nothing by a form
    const number = numberIn(input.value);
    write(help, number === null ? "A number, please, such as 3, −0.25 or 1.5." : "");
    if (number !== null) answer(number);
  };
  box.onsubmit = send;
  box.append(input, unit, check, help);
  return {
    element: box,
    update: ({ answer: given, isShown }) => {
      if (isShown) input.value = given === null ? "" : answerText({ isShare: false, unit: "" }, given);
      input.disabled = isShown;
      box.classList.toggle("unanswered", isShown && given === null);
      check.hidden = isShown;
    },
  };
}
