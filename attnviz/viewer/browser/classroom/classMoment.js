// What a phone in a class shows: a moment with its question, or the viewer.
import { afterFrame, h, redraw } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { readWhere } from "../model/address.js";
import { focusOf } from "../model/state.js";
import { mount } from "../views/viewer.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";
import { answerText, candidateAt, drawWorking, makeQuestion, verdictOn } from "../lesson/question.js";
import { drawMoment } from "../lesson/momentView.js";
import { drawSentence } from "../lesson/sentence.js";

const ALONE = "Here the speaker chooses words and settings. To choose them yourself, open the walkthrough.";

// touched(cell) is called once the phone explores by itself. Returns {element, show(moment, now), cell(), end()}.
export function makeClassViewer({ touched }) {
  const box = h("div", { class: "viewer class-view" });
  let search = "",
    listener = () => {},
    isFollowing = false, // whether the next address written is the class's
    shown = null,
    mounted = /** @type {any} */ (null),
    pass = /** @type {Pass | null} */ (null);
  const cell = () => {
    if (!pass) return "";
    const { name, index } = focusOf(pass, readWhere(pass, search));
    return pass.address(name, index);
  };
  const address = {
    read: () => search,
    write(written) {
      search = written;
      if (!isFollowing) touched(cell());
      isFollowing = false;
    },
    onArrival(act) {
      listener = act;
      return () => {};
    },
  };
  return {
    element: box,
    show(moment, { at }) {
      search = `?${at}`;
      if (moment.document === shown) return listener();
      shown = moment.document;
      pass = readPass(shown);
      isFollowing = true;
      mounted ??= mount(box, { alone: ALONE, send: () => false, type: () => {}, address });
      mounted.show({ ...shown, where: readWhere(pass, search) });
    },
    cell,
    end: () => mounted?.end(),
  };
}

// touched(cell) is called once the phone explores by itself, at a cell or "". `answered` is this phone's answer, null without one.
export function makeClassMoment({ answer, touched }) {
  const textBox = h("section", { class: "lesson-said", "aria-label": "The moment" }),
    picture = makeMomentPicture(onClick),
    workingBox = h("div", { class: "lesson-picture of-working" }),
    status = h("div", { class: "class-own", role: "status" }),
    body = h("div", { class: "lesson-body" }, textBox, workingBox, picture.element);
  let moment = /** @type {any} */ (null),
    question = /** @type {any} */ (null),
    wasShown = false,
    isOpen = false;
  const numbers = {
    point: picture.point,
    open(link) {
      touched(link.cell);
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
    show(shown, { round, isShown }, answered) {
      const isNew = shown !== moment;
      if (isNew) {
        moment = shown;
        question = moment.question && makeQuestion(moment.question, answer, "Send", numbers);
        redraw(workingBox, [moment.workedSolution && drawWorking(moment.workedSolution)]);
      }
      isOpen = Boolean(moment.question && round?.isOpen && !isShown);
      const isWordsAlone = moment.saysWordsAlone && !isShown,
        own = moment.question ? ownAnswerRuns(moment, answered, isOpen, isShown) : [],
        ownLines = own.map(runs => drawSentence(runs, numbers)),
        isRight = isShown && answered !== null && verdictOn(moment.question, answered).isRight,
        verdict = isShown && answered !== null ? (isRight ? "right" : "wrong") : "";
      question?.element.remove();
      body.classList.toggle("words-alone", isWordsAlone);
      textBox.classList.toggle("answered", isShown);
      status.className = `class-own verdict ${verdict}`;
      redraw(status, ownLines);
      redraw(textBox, drawMoment(moment, "phone", { isShown, numbers, question: question?.element, verdict: status }));
      question?.update({ answer: answered, isShown, isClosed: !isOpen });
      // a phone can't show all of it; scroll once the picture is drawn
      if (isShown && !wasShown && !isNew) afterFrame(() => status.scrollIntoView({ block: "nearest" }));
      wasShown = isShown;
      workingBox.hidden = !moment.workedSolution;
      picture.element.hidden = Boolean(moment.workedSolution);
      if (isWordsAlone || moment.workedSolution) picture.clear();
      else picture.show(moment, !isShown && Boolean(moment.question), false);
    },
    end: () => picture.leave(),
  };
}

function ownAnswerRuns({ question, after }, answered, isOpen, isShown) {
  if (isShown) return verdictOn(question, answered, after).sentences;
  if (question.kind === "gaps") return []; // a class isn't asked
  if (answered === null) return [[["", isOpen ? "Answers are anonymous." : "No more answers are taken."]]];
  const text = question.kind === "fill" ? answerText(question, answered) : question.candidates[answered].label,
    rest = isOpen ? " is your answer. You can change it until it is shown." : " is your answer.";
  const own = [question.isCode ? "code" : "strong", text];
  return [[own, ["", rest]]];
}
