// Answers: what a model answers, beside the words at which it was trained to. A click leads to how that was computed.
import { element, redraw } from "./element.js";
import { percent } from "./numeral.js";

const LAST = "last"; // answers at the last word alone, else at each
const VERDICTS = new Map([[true, { mark: "✓", said: "Right: " }], [false, { mark: "✗", said: "Wrong: " }], [null, { mark: "", said: "" }]]);

// [{place, index, label, share, isRight, before}] in the order of the words: isRight is null where nobody knows, `before` is
// what was answered without the numbers set by hand, null where that is the same.
export function answersOf(pass) {
  const { model, before } = pass.document;
  if (!model) return [];
  const old = Object.hasOwn(before, model.answers) ? pass.with(before) : null;
  const places = [...model.right.keys()];
  return (model.read === LAST ? places.slice(-1) : places).map((place) => {
    const answer = likeliest(pass, model.answers, place), right = model.right[place];
    const was = old && likeliest(old, model.answers, place);
    return { place, ...answer, isRight: right === null ? null : right === answer.label, before: was && isOther(was, answer) ? was : null };
  });
}

function likeliest(pass, name, place) {
  const shares = pass.row(name, [place, 0]), share = Math.max(...shares), answer = shares.indexOf(share);
  return { index: [place, answer], label: pass.stages.get(name).axes[1].labels[answer], share };
}

function isOther(one, other) {
  return one.label !== other.label || percent(one.share) !== percent(other.share);
}

export function makeAnswers({ pick }) {
  const box = element("div", "answers");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Answers");
  return {
    element: box,
    update(pass, _where, look) {
      const { model } = pass.document, answers = answersOf(pass);
      box.hidden = !model;
      box.className = `answers ${model?.read ?? ""}`;
      redraw(box, answers.map((answer) => drawAnswer(answer, look.shown(model.answers, answer.index), () => pick(model.answers, answer.index))));
    },
  };
}

function drawAnswer({ label, share, isRight, before }, isShown, lead) {
  const made = element("button", isRight === false ? "answer wrong" : "answer");
  made.type = "button";
  if (!isShown) {
    made.disabled = true;
    made.append("?");
    return made;
  }
  const { mark, said } = VERDICTS.get(isRight);
  made.onclick = lead;
  made.title = `${said}see how this answer was computed`;
  made.append(element("strong", "", label), element("span", "share", percent(share)), element("span", "mark", mark));
  if (before) made.append(element("span", "before", `was ${before.label} ${percent(before.share)}`));
  return made;
}
