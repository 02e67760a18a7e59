// Answers: what a model answers, beside the words at which it was trained to. A click leads to how that was computed.
import { element, redraw } from "./element.js";
import { percent } from "./numeral.js";

const VERDICTS = new Map([[true, { mark: "✓", said: "Right: " }], [false, { mark: "✗", said: "Wrong: " }], [null, { mark: "", said: "" }]]);

// [{place, index, label, share, isRight, before}] in the order of the words: isRight is null where nobody knows, `before` is
// what was answered without the numbers set by hand, null where that is the same.
export function answersOf(pass) {
  const { model, before } = pass.document;
  if (!model) return [];
  const old = Object.hasOwn(before, model.answers) ? pass.with(before) : null;
  return placesOf(model).map((place) => {
    const answer = likeliest(pass, model.answers, place), right = model.right[place];
    const was = old && likeliest(old, model.answers, place);
    return { place, ...answer, isRight: right === null ? null : right === answer.label, before: was && isOther(was, answer) ? was : null };
  });
}

// The last word, or each of which something is asked; where nobody knows what is asked, every word.
function placesOf({ read, right }) {
  const places = [...right.keys()];
  if (read === "last") return places.slice(-1);
  const asked = places.filter((place) => right[place] !== null);
  return asked.length ? asked : places;
}

function likeliest(pass, name, place) {
  const shares = pass.row(name, [place, 0]), share = Math.max(...shares), answer = shares.indexOf(share);
  return { index: [place, answer], label: pass.stages.get(name).axes[1].labels[answer], share };
}

function isOther(one, other) {
  return one.label !== other.label || percent(one.share) !== percent(other.share);
}

// `words` is the line of words that they stand beside.
export function makeAnswers({ pick, visit }, words) {
  const line = element("div"), box = element("div", "answers");
  line.append(words, box);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Answers");
  return {
    element: line,
    update(pass, _where, look) {
      const { model } = pass.document;
      box.hidden = !model;
      line.className = `spoken ${model?.read ?? ""}`;
      line.style.setProperty("--words", pass.document.words.query.length);
      redraw(box, answersOf(pass).map((answer) => {
        const { place, index } = answer;
        const made = drawAnswer(answer, look.shown(model.answers, index), () => {
          pick(model.answers, index);
          visit(model.answers);
        });
        if (model.read === "each") made.style.gridColumn = place + 1;
        return made;
      }));
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
  const now = element("span", "now");
  now.append(element("strong", "", label), element("span", "share", percent(share)), element("span", "mark", mark));
  made.append(now);
  if (before) made.append(element("span", "before", `was ${before.label} ${percent(before.share)}`));
  return made;
}
