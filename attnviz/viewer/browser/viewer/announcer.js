// The announcer: says once, to those who hear the page, that the step, the selected number or an answer is another.
import { answersOf } from "../words/modelAnswer.js";
import { element } from "../elements/element.js";
import { digits, percent } from "../pass/numeral.js";
import { focusOf, stepAt, stepsOf } from "../scene/state.js";

// While isPlaying() it keeps still, and says in the end what has become of it.
export function makeAnnouncer(isPlaying) {
  const line = element("p", "heard");
  line.setAttribute("role", "status");
  let known = null;
  return {
    element: line,
    update(pass, where, look) {
      if (isPlaying()) return;
      const now = [stepText(pass, where), numberText(pass, where, look), answerText(pass)];
      const news = known ? now.filter((text, place) => text && text !== known[place]) : [];
      known = now;
      if (news.length) line.textContent = news.join(" ");
    },
  };
}

function stepText(pass, where) {
  const steps = stepsOf(pass), { title } = stepAt(pass, where);
  return `Step ${steps.indexOf(where.step) + 1} of ${steps.length}: ${title}.`;
}

function numberText(pass, where, look) {
  const { name, index } = focusOf(pass, where), value = pass.number(name, index);
  if (value === undefined || !look.shown(name, index)) return "";
  return `${pass.nameOf(name, index)} = ${digits(value)}. ${pass.story(name, index, where.cell).map(({ text }) => text).join("")}`;
}

function answerText(pass) {
  const answers = answersOf(pass).map(({ label, share, verdict }) => `${label}, ${percent(share)}, ${verdict}`);
  return answers.length ? `The answer: ${answers.join("; ")}.` : "";
}
