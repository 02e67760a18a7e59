// The announcer: says once, to those who hear the page, what is another: the step, the selected number, the answer, what was
// written, and whether a pass is beside it.
import { answersOf } from "../words/modelAnswer.js";
import { besideText } from "../picture/beside.js";
import { element } from "../elements/element.js";
import { digits, percent } from "../pass/numeral.js";
import { pairingText } from "../words/pairing.js";
import { countedPlace } from "../scene/route.js";
import { focusOf, stepAt } from "../scene/state.js";

// While isPlaying() it keeps still, and says in the end what has become of it.
/** @returns {View} */
export function makeAnnouncer(isPlaying) {
  const line = element("p", "heard");
  line.setAttribute("role", "status");
  let known = null;
  return {
    element: line,
    update(pass, where, look) {
      if (isPlaying()) return;
      const now = {
        pairing: pairingText(pass),
        step: stepText(pass, where),
        written: writtenText(pass),
        names: pass.document.next?.names?.text ?? "",
        number: numberText(pass, where, look),
        answer: answerText(pass),
      };
      const isOther = what => known !== null && now[what] !== known[what];
      const changed = isOther("written") ? ["written"] : Object.keys(now).filter(isOther); // a letter moves every number
      const news = changed.map(what => now[what] || (what === "pairing" ? "A is let go." : "")).filter(Boolean);
      known = now;
      if (news.length) line.textContent = news.join(" ");
    },
  };
}

// Counted as one sees it (map/stepButtons.js).
/** @param {Pass} pass @param {Where} where */
function stepText(pass, where) {
  const counted = countedPlace(pass, where),
    { title } = stepAt(pass, where);
  return counted ? `${counted.charAt(0).toUpperCase()}${counted.slice(1)}: ${title}.` : `${title}.`;
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function numberText(pass, where, look) {
  const { name, index } = focusOf(pass, where),
    value = pass.number(name, index);
  if (value === undefined || !look.shown(name, index)) return "";
  const beside = besideText(pass, where, look, { name, index });
  return `${pass.nameOf(name, index)}${beside ? `: ${beside}` : ` = ${digits(value)}.`} ${pass
    .story(name, index, where.cell)
    .map(({ text }) => text)
    .join("")}`;
}

function answerText(pass) {
  const answers = answersOf(pass).map(({ label, share, verdict }) => `${label}, ${percent(share)}, ${verdict}`);
  return answers.length ? `The answer: ${answers.join("; ")}.` : "";
}

// The text that a model has written, and the next letter.
/** @param {Pass} pass */
function writtenText(pass) {
  const { next, model, link } = pass.document;
  if (!next) return "";
  const {
      axes: [tokens, { labels }],
    } = pass.stages.get(model.answers),
    share = pass.number(model.answers, [tokens.labels.length - 1, next.answer]);
  return `Written: “${link.sentence ?? ""}”. ${next.ends ? "It ends here." : next.isFull ? "The context is full." : `Next: “${labels[next.answer]}”, ${percent(share)}.`}`;
}
