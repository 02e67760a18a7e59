// Fill: a question that is answered by a number: a share on a slider, any other in a box.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { answerText } from "./verdict.js";

const HALF = 50; // per cent: where a slider stands first
const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;

// The number that somebody typed, as people write one: a decimal, a fraction or a percentage; null if it is none. With
// `isPart`, what is asked for is a part of one, and 88 % is 0.88; else it is 88, as where one asks "how many per cent".
export function numberIn(text, isPart = false) {
  const plain = text.trim().replaceAll("−", "-").replaceAll(/\s/g, ""),
    isPercentage = plain.endsWith("%"),
    numbers = (isPercentage ? plain.slice(0, -1) : plain).split("/");
  if (numbers.length > 2 || !numbers.every(each => NUMBER.test(each))) return null;
  const [above, below = 1] = numbers.map(each => Number(each.replace(",", ".")));
  return below === 0 ? null : above / below / (isPercentage && isPart ? 100 : 1);
}

// answer(number) is called as one is checked. Returns {element, update(state)}; a state is that of question.js.
export function makeFill(question, acts) {
  return question.isShare ? makeSlider(question, acts) : makeBox(question, acts);
}

function makeSlider(question, { answer, verb }) {
  const box = element("div", "slider"),
    track = element("div", "track"),
    input = element("input"),
    own = element("output", "own"),
    right = element("span", "right", question.text),
    check = button(verb, () => answer(Number(input.value) / 100), "check");
  Object.assign(input, { type: "range", min: "0", max: "100", step: "1", value: String(HALF) });
  input.setAttribute("aria-label", "Your share, in per cent");
  const draw = () => {
    write(own, `you: ${input.value} %`);
    input.setAttribute("aria-valuetext", `${input.value} %`);
    box.style.setProperty("--own", String(Number(input.value) / 100));
  };
  input.oninput = draw;
  input.onkeydown = event => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the way on, which gets the keyboard then, isn't pressed too
    check.click();
  };
  box.style.setProperty("--right", String(Math.min(Math.max(question.right, 0), 1)));
  track.append(own, input, right);
  box.append(track, check);
  draw();
  return {
    element: box,
    update: ({ answer: given, isShown, isClosed = false }) => {
      if (isShown && given !== null) input.value = String(Math.round(100 * given));
      draw();
      own.hidden = isShown && given === null;
      input.disabled = isShown || isClosed;
      box.classList.toggle("unanswered", isShown && given === null);
      right.hidden = !isShown;
      check.hidden = isShown || isClosed;
    },
  };
}

function makeBox(question, { answer, verb }) {
  const box = element("form", "number-box"),
    input = element("input", "typed"),
    unit = element("span", "unit", question.unit ?? ""),
    check = button(verb, () => {}, "check"),
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
    const number = numberIn(input.value, Math.abs(question.right) <= 1);
    write(help, number === null ? "A number, please, such as 3, −0.25, 6/7 or 88 %." : "");
    if (number !== null) answer(number);
  };
  box.onsubmit = send;
  box.append(input, unit, check, help);
  return {
    element: box,
    update: ({ answer: given, isShown, isClosed = false }) => {
      if (isShown) input.value = given === null ? "" : answerText({ isShare: false, unit: "" }, given);
      input.disabled = isShown || isClosed;
      box.classList.toggle("unanswered", isShown && given === null);
      check.hidden = isShown || isClosed;
    },
  };
}
