// What a phone in a class shows: a moment with its question, or the viewer.
import { element, redraw } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { readPlace } from "../model/address.js";
import { focusOf } from "../model/state.js";
import { mount } from "../views/viewer.js";
import { afterFrame } from "../dom/timing.js";
import { makeMomentPicture } from "../lesson/momentPicture.js";
import { answerText, candidateAt, drawWorking, makeQuestion, verdictOn } from "../lesson/question.js";
import { drawSentence } from "../lesson/momentView.js";

const ALONE = "Here the speaker chooses words and settings. To choose them yourself, open the walkthrough.";

// touched(cell) is called once the phone explores by itself. Returns {element, show(moment, now), cell(), end()}.
export function makeClassViewer({ touched }) {
  const box = element("div", "viewer class-view");
  let search = "",
    listener = () => {},
    isGiven = false, // whether what is written next is where the class is
    shown = null,
    pass = null;
  const cellAt = () => {
    if (!pass) return "";
    const { name, index } = focusOf(pass, readPlace(pass, search));
    return pass.address(name, index);
  };
  const address = {
    read: () => search,
    write: written => {
      search = written;
      if (!isGiven) touched(cellAt());
      isGiven = false;
    },
    onArrival: act => {
      listener = act;
      return () => {};
    },
  };
  let mounted = null;
  return {
    element: box,
    show: (moment, { at }) => {
      search = `?${at}`;
      if (moment.document === shown) return listener();
      shown = moment.document;
      pass = readPass(shown);
      isGiven = true;
      mounted ??= mount(box, { alone: ALONE, send: () => false, type: () => {}, address });
      mounted.show({ ...shown, where: readPlace(pass, search) });
    },
    cell: cellAt,
    end: () => mounted?.end(),
  };
}

// answer(value) sends an answer; touched(cell) is called once the phone explores by itself, at a cell or "". Returns {element, show(moment, now,
// ownAnswer), end()}: `ownAnswer` is null without one.
export function makeClassMoment({ answer, touched }) {
  const body = element("div", "lesson-body"),
    textBox = element("section", "lesson-said"),
    picture = makeMomentPicture(clicked),
    workingBox = element("div", "lesson-picture of-working"),
    status = element("div", "class-own");
  let moment = null,
    question = null,
    wasShown = false,
    isOpen = false;
  textBox.setAttribute("aria-label", "The moment");
  status.setAttribute("role", "status");
  body.append(textBox, workingBox, picture.element);
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
    show: (shown, { round, isShown }, ownAnswer) => {
      const isNew = shown !== moment;
      if (isNew) {
        moment = shown;
        question = moment.question && makeQuestion(moment.question, answer, "Send");
        redraw(workingBox, moment.working ? [drawWorking(moment.working)] : []);
      }
      isOpen = Boolean(moment.question && round?.isOpen && !isShown);
      const areWordsAlone = moment.saysWordsAlone && !isShown;
      question?.element.remove();
      body.classList.toggle("words-alone", areWordsAlone);
      textBox.classList.toggle("answered", isShown);
      const { title, text, after, ending } = moment;
      redraw(
        status,
        moment.question
          ? drawOwnAnswer(moment, ownAnswer, isOpen, isShown).map(runs => drawSentence(runs, numbers))
          : [],
      );
      status.className = `class-own verdict ${isShown && ownAnswer !== null ? (verdictOn(moment.question, ownAnswer).isRight ? "right" : "wrong") : ""}`;
      redraw(textBox, [
        ...(title ? [element("h2", "", title)] : []),
        ...(text.length ? [drawSentence(text, numbers, "p", "text")] : []),
        ...(moment.question
          ? [drawSentence(moment.question.prompt, numbers, "p", "prompt"), question.element, status]
          : []),
        ...(isShown && after.length && !moment.question ? [drawSentence(after, numbers)] : []),
        ...(ending
          ? [
              drawSentence(ending.explain, numbers, "p", "prompt"),
              ...(isShown ? [drawSentence(ending.answer, numbers, "div", "verdict shown")] : []),
            ]
          : []),
      ]);
      question?.update({ answer: ownAnswer, isShown, isClosed: !isOpen });
      // a phone can't show all of it; scroll once the picture is drawn
      if (isShown && !wasShown && !isNew) afterFrame(() => status.scrollIntoView({ block: "nearest" }));
      wasShown = isShown;
      workingBox.hidden = !moment.working;
      picture.element.hidden = Boolean(moment.working);
      if (areWordsAlone || moment.working) picture.clear();
      else picture.show(moment, !isShown && Boolean(moment.question), false);
    },
    end: () => picture.leave(),
  };
}

// The sentences about the phone's own answer.
function drawOwnAnswer({ question, after }, ownAnswer, isOpen, isShown) {
  if (isShown) return verdictOn(question, ownAnswer, after).sentences;
  if (ownAnswer === null) return [[["", isOpen ? "Nobody sees who says what." : "No more answers are taken."]]];
  const text = question.kind === "fill" ? answerText(question, ownAnswer) : question.candidates[ownAnswer].label;
  return [
    [
      [question.isCode ? "code" : "strong", text],
      ["", isOpen ? " is your answer. You can change it until it is shown." : " is your answer."],
    ],
  ];
}
