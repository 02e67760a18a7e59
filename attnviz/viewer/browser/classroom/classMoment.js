// A moment on a phone in a class: its text and question, and a small picture of its pass until the user opens the whole one.
import { afterFrame, button, h, redraw, write } from "../dom/element.js";
import { OWN_PICTURES } from "../lesson/ownPictures.js";
import { drawMoment } from "../lesson/momentText.js";
import { answerRun, candidateAt, drawWorking, makeQuestion, verdictOn } from "../lesson/question.js";
import { drawSentence, plainText } from "../lesson/sentence.js";
import { drawGiven } from "../lesson/given.js";
import { makeGlance } from "./glance.js";

// answer(value, sure) sends an answer and how sure it is; touched(cell) is called once the phone explores by itself, at a cell or "". `drafts` keep
// what is typed (phoneAnswers.js). open() loads the whole moment: then `makePicture` is makeMomentPicture, which is null before. Returns {element,
// show(moment, now, {answered, sure}, message), open, end()}; `answered` is this phone's answer, null without one, and `message` says how the
// loading goes. Its open(cell) opens a number.
export function makeClassMoment({ answer, touched, open, makePicture, drafts }) {
  const textBox = h("section", { class: "lesson-said", "aria-label": "The moment" }),
    picture = makePicture ? makePicture(onClick) : makeLightPicture(open),
    workingBox = h("div", { class: "lesson-picture of-working" }),
    status = h("div", { class: "class-own", role: "status" }),
    howSure = makeHowSure(sure => answer(given, sure)),
    verdictBox = h("div", { class: "own-said" }, status, howSure.element),
    body = h("div", { class: `lesson-body${makePicture ? "" : " light"}` }, textBox, workingBox, picture.element);
  let moment = /** @type {any} */ (null),
    question = /** @type {any} */ (null),
    wasShown = false,
    drawn = "", // what the drawing depends on: who is typing keeps the keyboard
    given = /** @type {any} */ (null), // this phone's answer
    isOpen = false;
  const numbers = {
    point: picture.point,
    open(link) {
      if (makePicture) touched(link.cell);
      picture.open(link);
    },
  };
  function onClick(clicked) {
    const candidate = isOpen ? candidateAt(moment.question, clicked) : -1;
    if (candidate >= 0) answer(candidate);
    else touched(clicked.cell ?? "");
    return candidate >= 0;
  }
  return {
    element: body,
    show(shown, { at, round, isShown }, { answered, sure }, message = "") {
      const isNew = shown !== moment,
        state = JSON.stringify([round, isShown, answered, sure, message]);
      if (!isNew && state === drawn) return;
      drawn = state;
      if (isNew) {
        moment = shown;
        question =
          moment.question &&
          makeQuestion(moment.question, { answer, verb: "Send", numbers, draft: drafts.of(draftName(at, moment)) });
        redraw(workingBox, [moment.workedSolution && drawWorking(moment.workedSolution)]);
      }
      isOpen = Boolean(moment.question && round?.isOpen && !isShown);
      const isWordsAlone = moment.saysWordsAlone && !isShown,
        isInGlance = !makePicture && !isWordsAlone && areWords(moment),
        own = moment.question ? ownAnswerRuns(moment, answered, isOpen, isShown) : [],
        ownLines = own.map(runs => drawSentence(runs, numbers)),
        isRight = isShown && answered !== null ? verdictOn(moment.question, answered).isRight : null,
        verdict = isRight === null ? "" : isRight ? "right" : "wrong";
      given = answered;
      howSure.update(sure, moment.asksConfidence && isOpen && answered !== null);
      body.classList.toggle("words-alone", isWordsAlone);
      body.classList.toggle("asks-words", isInGlance);
      textBox.classList.toggle("answered", isShown);
      status.className = `class-own verdict ${verdict}`;
      redraw(status, ownLines);
      const givenRows = !isShown && !makePicture && drawGiven(moment.given), // an opened picture has them
        ofText = isInGlance ? null : question?.element;
      redraw(
        textBox,
        drawMoment(moment, "phone", { isShown, numbers, given: givenRows, question: ofText, verdict: verdictBox }),
      );
      question?.update({ answer: answered, isShown, isClosed: !isOpen });
      // a phone can't show all of it; scroll once the picture is drawn
      if (isShown && !wasShown && !isNew) afterFrame(() => status.scrollIntoView({ block: "nearest" }));
      wasShown = isShown;
      workingBox.hidden = !moment.workedSolution;
      picture.element.hidden = Boolean(moment.workedSolution);
      const isCovered = !isShown && Boolean(moment.question);
      if (isWordsAlone || moment.workedSolution) picture.clear();
      else picture.show(moment, { isCovered, message, answers: isInGlance ? question.element : null });
    },
    open: cell => numbers.open({ cell }),
    end: () => picture.leave(),
  };
}

// Identifies a question whose answer is typed, wherever the class comes back to it.
const draftName = (at, { title, question }) => JSON.stringify([at, title, plainText(question.prompt)]);

const SURE = ["I guessed", "Fairly sure", "Very sure"]; // 1 to 3

// Asks how sure the user is of an answer: choose(sure) sends it.
function makeHowSure(choose) {
  const buttons = SURE.map((text, nth) => button(text, () => choose(nth + 1))),
    box = h("fieldset", { class: "how-sure", hidden: true }, h("legend", {}, "How sure are you?"), buttons);
  return {
    element: box,
    update(sure, isAsked) {
      box.hidden = !isAsked;
      for (const [nth, each] of buttons.entries()) each.setAttribute("aria-pressed", String(sure === nth + 1));
    },
  };
}

// A picture as makeMomentPicture has it, without the viewer: a glance at a pass, with a button that opens it, or a picture of the moment's own.
function makeLightPicture(open) {
  const box = h("div", { class: "lesson-picture" }),
    glance = makeGlance(),
    opening = button("Open the picture", () => open(""), "open-picture"),
    line = h("p", { class: "note", role: "status" }),
    ofPass = h("div", { class: "at-a-glance" }, glance.element, h("div", { class: "opening" }, opening, line));
  glance.element.onclick = ({ target }) => {
    if (!target.closest("button, .choices")) open("");
  };
  let own = /** @type {any} */ (null),
    kind = "";
  return {
    element: box,
    show(moment, { isCovered, message, answers }) {
      const { picture } = moment;
      write(line, message);
      if (!picture && !moment.glance) return box.replaceChildren();
      if (picture && picture.kind !== kind) own = OWN_PICTURES[picture.kind]();
      kind = picture?.kind ?? "";
      const element = picture ? own.element : ofPass;
      if (element.parentNode !== box) box.replaceChildren(element);
      if (picture) own.show(moment, { isCovered, isPresented: false });
      else glance.update(moment.glance, isCovered ? moment.covers : [], answers);
    },
    clear: () => box.replaceChildren(),
    point: () => {},
    open: link => open(link.cell),
    leave: () => glance.end(),
  };
}

// Whether the answers are all words that a glance has, in order: then they stand for the sentence.
function areWords({ question, picture, glance }) {
  const words = glance?.keys ?? glance?.words;
  return question?.kind === "pick" && !picture && words?.length === question.candidates.length
    ? question.candidates.every(({ word }, nth) => word === nth)
    : false;
}

function ownAnswerRuns({ question, after }, answered, isOpen, isShown) {
  if (isShown) return verdictOn(question, answered, after).sentences;
  if (question.kind === "gaps") return []; // a class isn't asked
  if (answered === null) return [[["", isOpen ? "Answers are anonymous." : "No more answers are taken."]]];
  const change = isOpen ? "You can change it until the answers are shown." : "It can’t be changed any more.",
    rest = ` is your answer. ${change}`;
  return [[answerRun(question, answered), ["", rest]]];
}
