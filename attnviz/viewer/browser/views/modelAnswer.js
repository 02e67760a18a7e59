// Model answers: what a model says, beside the words at which it was trained to. A click leads to how that was computed.
import { percent, PERCENTS } from "../model/numeral.js";
import { ties } from "../model/story.js";
import { button, element, h, redraw, roomy } from "../dom/element.js";

const VERDICTS = new Map([
  ["right", { mark: "✓", title: "Right" }],
  ["guess", { mark: "guess", title: "Right by a lucky guess: nothing has been learnt yet" }],
  ["wrong", { mark: "✗", title: "Wrong" }],
  ["tied", { mark: "?", title: "Undecided: several answers are equally likely" }],
  ["unknown", { mark: "?", title: "No answer is right: the model was not made for this text" }],
  ["next", { mark: "", title: "The most probable continuation" }],
  ["to-come", { mark: "", title: "" }],
]);
const TIED = "tied";

// [{position, index, label, share, verdict, before}] in the order of the words: `before` is what was answered without the numbers
// set by hand, null where that is the same.
/** @param {Pass} pass */
export function answersOf(pass) {
  const { model, before } = pass.document;
  if (!model) return [];
  const old = Object.hasOwn(before, model.answers) ? pass.with(before) : null;
  return placesOf(model).map(place => {
    const answer = likeliest(pass, model.answers, place),
      right = model.right[place];
    const was = old && likeliest(old, model.answers, place);
    return {
      place,
      index: answer.index,
      label: answer.label,
      share: answer.share,
      verdict: verdictOn(answer, right, model),
      before: was && isOther(was, answer) ? was : null,
    };
  });
}

function verdictOn({ label, isTied }, right, { guesses, isOpen }) {
  if (isOpen) return isTied ? "tied" : "next";
  if (right === null) return "unknown";
  if (isTied) return "tied";
  if (right !== label) return "wrong";
  return guesses ? "guess" : "right";
}

// The positions that the model was trained to answer at: the last word, or those with a right answer, or all if none has one.
function placesOf({ read, right }) {
  const positions = [...right.keys()];
  if (read === "last") return positions.slice(-1);
  const answered = positions.filter(position => right[position] !== null);
  return answered.length ? answered : positions;
}

/** @param {Pass} pass */
function likeliest(pass, name, position) {
  const shares = pass.row(name, [position, 0]),
    share = Math.max(...shares),
    answer = shares.indexOf(share);
  const isTied = shares.filter(each => ties(share, each)).length > 1;
  return {
    index: [position, answer],
    label: isTied ? TIED : pass.stages.get(name).axes[1].labels[answer],
    share,
    isTied,
  };
}

function isOther(one, other) {
  return one.label !== other.label || percent(one.share) !== percent(other.share);
}

// `words` is the line of words that they stand beside.
/** @returns {View} */
export function makeAnswers({ pick, visit, wantFlips }, words) {
  const box = h("div", { class: "answers", role: "group", "aria-label": "Answers" });
  const line = h("div", {}, words, box);
  return {
    element: line,
    update(pass, _where, look) {
      const { model } = pass.document;
      box.hidden = !model;
      line.className = `spoken ${model?.read ?? ""}`;
      line.style.setProperty("--words", pass.document.words.query.length);
      if (model) line.style.setProperty("--label", Math.max(...roomIn(pass).labels.map(({ length }) => length)));
      redraw(
        box,
        answersOf(pass).flatMap(answer => {
          const { place, index } = answer;
          const made = drawAnswer(look.shown(model.answers, index) ? answer : null, roomIn(pass), () => {
            pick(model.answers, index);
            visit(model.answers);
          });
          if (model.read === "each") made.style.gridColumn = place + 1;
          const isAsked = model.read === "last" && !made.disabled; // of each of many the panel asks
          return isAsked
            ? [made, button("What would flip it?", () => wantFlips(model.answers, index), "link flip")]
            : [made];
        }),
      );
    },
  };
}

// Every label that an answer may get while numbers change: the widest is reserved, so that no word moves.
function roomIn({ stages, document: { model, before } }) {
  const labels = [...stages.get(model.answers).axes[1].labels, TIED];
  return {
    labels,
    befores: Object.hasOwn(before, model.answers)
      ? labels.flatMap(label => PERCENTS.map(share => `was ${label} ${share}`))
      : [],
  };
}

// An answer, or a question mark in its space until it is shown.
function drawAnswer(answer, { labels, befores }, lead) {
  const kind = answer?.verdict ?? "to-come",
    { mark, title } = VERDICTS.get(kind);
  const now = element("span", "now"),
    verdict = element("span", "mark", mark);
  const made = h("button", { class: `answer ${kind}`, type: "button", disabled: !answer });
  if (answer) {
    made.onclick = lead;
    made.title = `${title}. See how this answer was computed.`;
    verdict.setAttribute("role", "img");
    verdict.setAttribute("aria-label", title);
  }
  now.append(
    roomy("strong", "", answer?.label ?? "?", labels),
    roomy("span", "share", answer ? percent(answer.share) : "", PERCENTS),
    verdict,
  );
  made.append(now);
  if (befores.length)
    made.append(
      roomy(
        "span",
        "before",
        answer?.before ? `was ${answer.before.label} ${percent(answer.before.share)}` : "",
        befores,
      ),
    );
  return made;
}
