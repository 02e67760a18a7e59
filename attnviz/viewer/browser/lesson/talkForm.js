// The form of a moment of one's own talk: what one says, a question that its pass has an answer to, notes and minutes.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { answerOf } from "./question.js";

const NONE = "none",
  OWN = "own";

// acts: {edit(parts, what), move(by), remove, give, open}: the last two show it as it is given, and as it was collected; asking is what asks the server. Returns {element, update(moment, place, n)}.
export function makeTalkForm(acts, asking) {
  const box = element("div", "moment-form"),
    answer = element("p", "answer");
  answer.setAttribute("role", "status");
  let now = null, // the moment
    offered = [], // questions, for the address `offeredAt`
    offeredAt = "";
  const edit = (name, value) => acts.edit({ [name]: value }, name);
  const text = lined(3, value => edit("text", value), check),
    after = lined(2, value => edit("after", value), check),
    notes = lined(2, value => edit("notes", value)),
    prompt = lined(2, value => acts.edit({ ask: { ...now.ask, prompt: value } }, "prompt"), check);
  const minutes = element("input");
  Object.assign(minutes, { type: "number", min: 0, max: 120, step: 0.5 });
  minutes.oninput = () => edit("minutes", Math.min(Math.max(Number(minutes.value) || 0, 0), 120));
  const question = element("select");
  question.onchange = () => {
    const { value } = question;
    if (value !== OWN) acts.edit({ ask: value === NONE ? null : offered[Number(value)].ask });
    check();
  };
  const prompted = labelled("Asked as", prompt),
    answered = labelled("Said with the answer", after);
  const up = button("Move up", () => acts.move(-1)),
    down = button("Move down", () => acts.move(1)),
    line = element("p", "acts");
  line.append(up, down, button("Try it", acts.give), button("Open it", acts.open), button("Delete", acts.remove));
  box.append(
    labelled("What you say", text),
    labelled("Question", question),
    prompted,
    answer,
    answered,
    labelled("Notes for yourself", notes),
    labelled("Minutes", minutes),
    line,
  );

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const isOffered = ({ ask }) => same({ ...ask, prompt: "" }, { ...now.ask, prompt: "" });
  function drawQuestions() {
    const at = offered.findIndex(isOffered),
      options = offered.map(({ ask }, nth) => optionOf(ask.prompt, String(nth)));
    if (now.ask && at < 0) options.unshift(optionOf(now.ask.prompt, OWN));
    question.replaceChildren(optionOf("No question", NONE), ...options);
    question.value = now.ask ? (at < 0 ? OWN : String(at)) : NONE;
  }
  async function offer() {
    const { at } = now;
    offeredAt = at;
    offered = [];
    const questions = await asking.questions(now).catch(() => []);
    if (now.at !== at) return;
    offered = questions;
    drawQuestions();
  }
  // Whether the pass has an answer, and which.
  async function check() {
    const moment = now;
    write(answer, "");
    const sentence = await asking
      .moment(moment)
      .then(({ question: given }) => (given ? `The answer: ${answerOf(given)}.` : ""), sayingOf);
    if (now === moment) write(answer, sentence);
  }
  return {
    element: box,
    update(moment, place, n) {
      const isOther = now?.at !== moment.at || !same(now?.ask ?? null, moment.ask ?? null);
      now = moment;
      for (const [control, value] of [
        [text, moment.text],
        [after, moment.after],
        [notes, moment.notes],
        [prompt, moment.ask?.prompt],
        [minutes, moment.minutes ? String(moment.minutes) : ""],
      ])
        if (control.value !== (value ?? "")) control.value = value ?? "";
      prompted.hidden = !moment.ask || moment.ask.prompt === undefined;
      answered.hidden = !moment.ask && !moment.after;
      up.disabled = place === 0;
      down.disabled = place === n - 1;
      if (offeredAt !== moment.at) offer();
      if (isOther) {
        drawQuestions();
        if (!box.contains(box.getRootNode().activeElement) || box.getRootNode().activeElement === question) check();
      }
    },
    focus: () => text.focus(),
  };
}

function sayingOf(error) {
  return error instanceof TypeError ? "The server doesn’t answer. What you typed is still here." : error.message;
}

function labelled(name, control) {
  const label = element("label");
  label.append(element("span", "", name), control);
  return label;
}

function lined(rows, act, end = () => {}) {
  const made = element("textarea");
  Object.assign(made, { rows, maxLength: 3000 });
  made.oninput = () => act(made.value);
  made.onchange = end;
  return made;
}

function optionOf(label, value) {
  const made = element("option", "", label);
  made.value = value;
  return made;
}
