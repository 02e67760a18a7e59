// A moment as the class sees it: its text, its question, answers that can be changed until it is closed, and its picture, in
// which what would give the answer away is covered until the speaker shows it. Where a number is asked for, what it is computed
// from stands in place of that.
import { afterFrame } from "../elements/afterFrame.js";
import { element, redraw } from "../elements/element.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";
import { candidateAt, makeQuestion } from "../lesson/question.js";
import { drawSaid } from "../lesson/said.js";
import { drawWorking } from "../lesson/working.js";
import { answerText, verdictOn } from "../lesson/verdict.js";

// answer(value) tells the class; touched(cell) that somebody looks around, at a cell or "". Returns {element, show(moment, now,
// own, isPresented), end()}: `own` is what one answered, or null.
export function makeClassMoment({ answer, touched }) {
  const body = element("div", "lesson-body"),
    said = element("section", "lesson-said"),
    picture = makeMomentPicture(clicked),
    given = element("div", "lesson-picture of-working"),
    status = element("div", "class-own");
  let moment = null,
    question = null,
    wasShown = false,
    isOpen = false;
  said.setAttribute("aria-label", "The moment");
  status.setAttribute("role", "status");
  body.append(said, given, picture.element);
  const numbers = {
    point: picture.point,
    open: link => {
      touched(link.cell);
      picture.open(link);
    },
  };
  function clicked(what) {
    const candidate = isOpen ? candidateAt(moment.question, what) : -1;
    if (candidate >= 0) answer(candidate);
    else touched(what.cell ?? "");
    return candidate >= 0;
  }
  return {
    element: body,
    show: (shown, { round, isShown }, own) => {
      const isNew = shown !== moment;
      if (isNew) {
        moment = shown;
        question = moment.question && makeQuestion(moment.question, answer, "Send");
        redraw(given, moment.working ? [drawWorking(moment.working)] : []);
      }
      isOpen = Boolean(moment.question && round?.isOpen && !isShown);
      const areWordsAlone = moment.saysWordsAlone && !isShown;
      question?.element.remove();
      body.classList.toggle("words-alone", areWordsAlone);
      said.classList.toggle("answered", isShown);
      const { title, text, after, ending } = moment;
      redraw(status, moment.question ? drawOwn(moment, own, isOpen, isShown).map(runs => drawSaid(runs, numbers)) : []);
      status.className = `class-own verdict ${isShown && own !== null ? (verdictOn(moment.question, own).isRight ? "right" : "wrong") : ""}`;
      redraw(said, [
        ...(title ? [element("h2", "", title)] : []),
        ...(text.length ? [drawSaid(text, numbers, "p", "text")] : []),
        ...(moment.question
          ? [drawSaid(moment.question.prompt, numbers, "p", "prompt"), question.element, status]
          : []),
        ...(isShown && after.length && !moment.question ? [drawSaid(after, numbers)] : []),
        ...(ending
          ? [
              drawSaid(ending.explain, numbers, "p", "prompt"),
              ...(isShown ? [drawSaid(ending.answer, numbers, "div", "verdict shown")] : []),
            ]
          : []),
      ]);
      question?.update({ answer: own, isShown, isClosed: !isOpen });
      // a phone has no room for it all; its picture is drawn first
      if (isShown && !wasShown && !isNew) afterFrame(() => status.scrollIntoView({ block: "nearest" }));
      wasShown = isShown;
      given.hidden = !moment.working;
      picture.element.hidden = Boolean(moment.working);
      if (areWordsAlone || moment.working) picture.clear();
      else picture.show(moment, !isShown && Boolean(moment.question), false);
    },
    end: () => picture.leave(),
  };
}

// The sentences on one's own answer.
function drawOwn({ question, after }, own, isOpen, isShown) {
  if (isShown) return verdictOn(question, own, after).said;
  if (own === null) return [[["", isOpen ? "Nobody sees who says what." : "No more answers are taken."]]];
  const text = question.kind === "fill" ? answerText(question, own) : question.candidates[own].label;
  return [
    [
      [question.isCode ? "code" : "strong", text],
      ["", isOpen ? " is your answer. You can change it until it is shown." : " is your answer."],
    ],
  ];
}
