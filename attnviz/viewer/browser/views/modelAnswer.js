// Model answers: the model's prediction at each word where it was trained to answer. A click leads to how it was computed.
import { PERCENTS, percent } from "../model/numeral.js";
import { ties } from "../model/story.js";
import { haveSameQueries } from "../model/words.js";
import { button, h, redraw, roomy } from "../dom/element.js";

const VERDICTS = {
  right: { mark: "✓", title: "Right" },
  guess: { mark: "guess", title: "Right by a lucky guess: nothing has been learnt yet" },
  wrong: { mark: "✗", title: "Wrong" },
  tied: { mark: "?", title: "Undecided: several answers are equally likely" },
  unknown: { mark: "?", title: "No answer is right: the model was not made for this text" },
  next: { mark: "", title: "The most probable continuation" },
  "to-come": { mark: "", title: "" },
};
const TIED = "tied";

// The answers in the order of the words: `before` is the answer without the numbers set by hand, null where that is the same.
/** @param {Pass} pass */
export function answersOf(pass) {
  const { model, before } = pass.document;
  if (!model) return [];
  const old = Object.hasOwn(before, model.answers) ? pass.with(before) : null;
  return positionsOf(model).map(place => {
    const answer = likeliest(pass, model.answers, place),
      was = old && likeliest(old, model.answers, place),
      { index, label, share } = answer;
    const verdict = verdictOn(answer, model.right[place], model);
    return { place, index, label, share, verdict, before: was && isOther(was, answer) ? was : null };
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
function positionsOf({ read, right }) {
  const positions = [...right.keys()],
    answered = positions.filter(position => right[position] !== null);
  if (read === "last") return positions.slice(-1);
  return answered.length ? answered : positions;
}

/** @param {Pass} pass */
function likeliest(pass, name, position) {
  const shares = pass.row(name, [position, 0]),
    share = Math.max(...shares),
    answer = shares.indexOf(share),
    isTied = shares.filter(each => ties(share, each)).length > 1,
    label = isTied ? TIED : pass.stages.get(name).axes[1].labels[answer];
  return { index: [position, answer], label, share, isTied };
}

const isOther = (one, other) => one.label !== other.label || percent(one.share) !== percent(other.share);

/** `words` is the line of words that they stand at. @returns {View} */
export function makeAnswers({ pick, visit, wantFlips }, words) {
  const box = h("div", { class: "answers", role: "group", "aria-label": "Answers" }),
    line = h("div", {}, words, box);
  return {
    element: line,
    update(pass, where, look) {
      const { model, words } = pass.document;
      box.hidden = !model || !haveSameQueries(pass.wordsAt(where.step), words); // they stand at words of the last layer
      line.className = `spoken ${model?.read ?? ""}`;
      line.style.setProperty("--words", pass.wordsAt(where.step).query.length);
      if (!model) return redraw(box, []);
      const { labels, befores } = roomIn(pass);
      line.style.setProperty("--label", String(Math.max(...labels.map(({ length }) => length))));
      const drawn = answersOf(pass).flatMap(answer => {
        const { place, index } = answer;
        const made = drawAnswer(look.shown(model.answers, index) ? answer : null, labels, befores, () => {
          pick(model.answers, index);
          visit(model.answers);
        });
        if (model.read === "each") made.style.gridColumn = String(place + 1);
        if (model.read !== "last" || made.disabled) return [made]; // the panel asks about one of many
        return [made, button("What would flip it?", () => wantFlips(model.answers, index), "link flip")];
      });
      redraw(box, drawn);
    },
  };
}

// Every label that an answer may get while numbers change: the widest is reserved, so that no word moves.
function roomIn({ stages, document: { model, before } }) {
  const labels = [...stages.get(model.answers).axes[1].labels, TIED],
    canChange = Object.hasOwn(before, model.answers);
  return { labels, befores: canChange ? labels.flatMap(label => PERCENTS.map(share => `was ${label} ${share}`)) : [] };
}

// An answer, or a question mark in its space until it is shown.
function drawAnswer(answer, labels, befores, lead) {
  const kind = answer?.verdict ?? "to-come",
    { mark, title } = VERDICTS[kind],
    before = answer?.before;
  const now = h(
    "span",
    { class: "now" },
    roomy("strong", "", answer?.label ?? "?", labels),
    roomy("span", "share", answer ? percent(answer.share) : "", PERCENTS),
    h("span", { class: "mark", ...(answer && { role: "img", "aria-label": title }) }, mark),
  );
  const beforeText = before ? `was ${before.label} ${percent(before.share)}` : "",
    beforeLine = befores.length ? [roomy("span", "before", beforeText, befores)] : [];
  const made = h("button", { class: `answer ${kind}`, type: "button", disabled: !answer }, now, ...beforeLine);
  if (answer) Object.assign(made, { onclick: lead, title: `${title}. See how this answer was computed.` });
  return made;
}
