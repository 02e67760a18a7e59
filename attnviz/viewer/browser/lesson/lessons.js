// Lessons: a list of moments, each with a text, a picture, and perhaps a question that is asked before the answer is shown.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { makePresenting } from "../scene/present.js";
import { makeQrCode } from "../viewer/qrCode.js";
import { makeGlossary } from "../words/glossary.js";
import { answeredIn, coverAnswer, forgetShown, keepAnswer } from "./answered.js";
import { makeContents } from "./contents.js";
import { aboutOf, heardOf, placeIn, searchOf } from "./course.js";
import { fitText } from "./fitText.js";
import { makeFoot } from "./foot.js";
import { makeHandout } from "./handout.js";
import { makeLessonFrame } from "./lessonFrame.js";
import { makeMemory } from "./memory.js";
import { makeMomentPicture, pictureOf } from "./momentPicture.js";
import { makeMoments } from "./moments.js";
import { makeMomentText } from "./momentText.js";
import { candidateAt, makeQuestion } from "./question.js";
import { makeRemote } from "./remote.js";
import { makeTakeaway } from "./takeaway.js";
import { makeTalkEnd } from "./talkEnd.js";
import { ID } from "./talkList.js";
import { makeTellings } from "./tellings.js";
import { makeTwoWindows } from "./twoWindows.js";
import { verdictOn } from "./verdict.js";
import { makeWhereabouts } from "./whereabouts.js";

// `given` is LessonsPage of generated/contract.d.ts; host:
//   address, isLinked: the page's address, and whether somebody else can open it
//   fetched(place), has(place), hrefTo(place): what gives a moment, whether a place is on this page, the link to one
//   open(address, place), hrefOf(address): what opens a scene of a place in the walkthrough and says whether it can, and its link
//   questions(lesson, form): a promise of the questions of a lesson as a file
//   store(): where the browser keeps things
//   desk(lead, changed, isPresented, turn), where a class can be opened: makes what its speaker has
//   own, resumed(), leave(place, next), left(), where there is a talk of one's own (talkDesk.js): the talk, where one comes back to
//   in it, and what is called where one goes elsewhere in mid-talk, and where it is left
// Returns {go(place), print(), openClass(), end()}.
export function mountLessons(root, given, host) {
  const { lessons } = given,
    memory = makeMemory(host.store),
    { own: mine = null } = host,
    here = makeWhereabouts(lessons, mine, host.has),
    { nameOf, course, own, entry, beside, state, isDone, areWordsAlone } = here,
    moments = makeMoments(at => (at.lesson === ID ? mine.fetched(at) : host.fetched(at)), nameOf);
  let question = null,
    pass = null,
    failure = "",
    isOver = false; // the last moment of a talk is done, and it was asked to go on

  const frame = makeLessonFrame(root),
    { box, body, said, heard } = frame,
    picture = makeMomentPicture(answered),
    over = makeTalkEnd();
  const desk =
    host.desk?.(
      lead,
      () => here.moment && draw(),
      () => here.place?.present,
      turn,
    ) ?? null;
  const foot = makeFoot({
      press,
      back,
      open,
      hrefOf: host.hrefOf,
      present: () => remote.follow("present"),
      edit: () => mine.open(),
      showSpeaker,
      openClass: desk?.open,
    }),
    handout = makeHandout(window, box, each => pictureOf(each)),
    texts = makeMomentText({ numbers: picture, show: () => show(null), forget, scoreOf: memory.scoreOf }),
    takeaway = makeTakeaway({
      title: () => entry().name,
      questions: form => (here.place.lesson === ID ? mine.questions(form) : host.questions(here.place.lesson, form)),
      print,
    }),
    contents = makeContents({
      go,
      forget,
      hrefTo: host.hrefTo,
      edit: mine?.open,
      collect: mine && collect,
      startFrom: mine && (() => mine.startFrom(here.place.lesson)),
      openClass: desk?.open,
      isClass: () => desk?.isOpen,
    }),
    code = makeQrCode(window, host.isLinked),
    glossary = makeGlossary(box, ".lesson-said p");
  frame.fill({
    picture: picture.element,
    ways: [contents.button, contents.panel, takeaway.button, takeaway.panel],
    foot: foot.element,
    over: [code.element, glossary.element, over.element],
    desk,
  });

  const remote = makeRemote(document, {
    press,
    back,
    collect: mine && collect,
    present: is => go({ ...here.place, present: is }),
    isPresented: () => here.place.present,
    count: () => entry().nMoments,
    goTo: number => go({ ...here.place, moment: number }),
  });

  // What a remote's button does: show the answer, then go on.
  function press() {
    if (!here.moment) return true;
    if (!isDone()) show(null);
    else {
      const next = beside(1);
      if (next) go(next);
      else if (here.place.present) end(true);
    }
    return true;
  }
  function back() {
    const before = beside(-1);
    if (isOver) end(false);
    else if (before) go(before);
    return true;
  }
  function end(is) {
    isOver = is;
    draw();
    windows.tell();
  }
  function show(answer) {
    if (state().isShown) return;
    keepAnswer(nameOf(here.place), answer);
    windows.tell();
    if (answer !== null && here.place.lesson !== ID)
      memory.predicted(here.place, verdictOn(here.moment.question, answer).isRight);
    redrawSaid();
    said.querySelector(".verdict:not(:empty)")?.scrollIntoView({ block: "nearest" }); // a phone has no room for it all
  }
  // What had the keyboard among what is said goes, or can't be used any more.
  function redrawSaid() {
    const isHeld = said.contains(said.getRootNode().activeElement);
    draw();
    if (isHeld) foot.takeFocus();
  }
  // What is clicked in the picture may be an answer.
  function answered(clicked) {
    if (!here.moment.question || state().isShown) return false;
    const found = candidateAt(here.moment.question, clicked);
    if (found >= 0) show(found);
    return found >= 0;
  }
  // In mid-talk one comes back from there, to what comes next.
  function open(address) {
    if (address && here.place.present) host.leave?.(here.place, beside(1));
    if (!address) memory.opensWalkthrough = true;
    return host.open(address, here.place);
  }
  // Where another device of the speaker's has led the class.
  function lead(at, isShown) {
    const to = placeIn(lessons, `?${at}`);
    if (!to || !here.place) return false;
    if (!isShown) coverAnswer(nameOf(to));
    else if (!answeredIn(nameOf(to)).isShown) keepAnswer(nameOf(to), null);
    if (nameOf(to) !== nameOf(here.place)) go({ ...here.place, ...to, present: here.place.present });
    else if (here.moment) redrawSaid();
    return true;
  }
  // Another device of the speaker's has pressed on in this talk, or back; a speaker's window follows.
  function turn(by) {
    if (windows.isSpeakers) return;
    for (let left = Math.abs(by); left > 0; left -= 1) (by > 0 ? press : back)();
  }
  function forget() {
    memory.forget();
    forgetShown();
    redrawSaid();
  }
  function collect() {
    mine.collectFrom(here.place);
    return true;
  }
  async function print() {
    handout.print(entry().name, await Promise.all(here.places().map(moments.get)));
  }
  function showSpeaker() {
    const isOpen = windows.open(name => host.hrefTo({ ...here.place, present: true, speaker: name }));
    if (isOpen) go({ ...here.place, present: true });
    else write(heard, "The browser didn’t open another window: allow it for this page.");
  }
  // Where the other window of a talk has gone.
  function goWith({ isShown, isBlank, isOver: isOverThere, ...at }) {
    const to = { ...here.place, ...at },
      isElsewhere = nameOf(to) !== nameOf(here.place);
    if (isShown && !answeredIn(nameOf(to)).isShown) keepAnswer(nameOf(to), null);
    presenting.blank(isBlank);
    if (isElsewhere) {
      arrive(to);
      host.address.write(searchOf(to), false);
    }
    isOver = isOverThere;
    if (!isElsewhere) redrawSaid();
  }
  function go(to) {
    if (!host.has(to)) {
      window.location.assign(host.hrefTo(to));
      return true;
    }
    const isLeft = here.place?.present && !to.present;
    const isOtherLesson = here.place !== null && to.lesson !== here.place.lesson;
    arrive(to);
    host.address.write(searchOf(to), isOtherLesson);
    memory.at(to);
    windows.tell();
    if (isLeft) host.left?.();
    return true;
  }
  async function arrive(to) {
    const isSame = here.isAt(to);
    here.place = to;
    isOver = false;
    presenting.show(here.place.present);
    box.classList.toggle("presenting", here.place.present);
    if (isSame && here.moment) return draw();
    failure = "";
    const timer = setTimeout(() => box.classList.add("late"), 300);
    try {
      const found = await moments.get(to);
      if (!here.isAt(to)) return; // one has gone on meanwhile
      here.moment = found;
      question = here.moment.question && makeQuestion(here.moment.question, show);
      moments.ahead(here.soon());
    } catch (error) {
      if (here.place !== to) return;
      here.moment = null;
      failure = error instanceof TypeError ? "the server doesn’t answer." : error.message;
    } finally {
      clearTimeout(timer);
      box.classList.remove("late");
    }
    draw();
    write(heard, heardOf(entry(), here.place, here.moment));
  }

  function draw() {
    if (!box.isConnected) return;
    const lesson = entry(),
      isFirst = areWordsAlone() && lesson === lessons[0];
    write(frame.about, aboutOf(lesson, lessons));
    contents.button.hidden = course().length === 1;
    contents.update(lessons, here.place, memory, own());
    over.update(isOver ? lesson.name : "");
    takeaway.button.hidden = isFirst; // a first visit is a question, and little else
    box.classList.toggle("words-alone", areWordsAlone());
    foot.update({
      place: here.place,
      entry: lesson,
      moment: here.moment,
      isDone: isDone(),
      isFirst,
      isTalk: lesson.isOwn || lessons.length === 1, // which the page of one alone is of
      isStart: beside(-1) === null,
      isEnd: beside(1) === null,
      ownSentence: given.ownSentence,
      prefersWalkthrough: memory.opensWalkthrough,
      isClass: desk?.isOpen,
    });
    if (!here.moment) return drawFailure();
    question?.element.remove();
    said.classList.toggle("answered", state().isShown);
    redraw(
      said,
      texts.draw(here.moment, {
        ...here.place,
        ...state(),
        areWordsAlone: areWordsAlone(),
        question: question?.element,
      }),
    );
    question?.update(state());
    box.classList.toggle("says-nothing", !said.textContent.trim());
    if (areWordsAlone()) picture.clear();
    else picture.show(here.moment, !state().isShown, here.place.present);
    fitText(said, here.place.present);
    explainTerms();
    tellings.speaker(isOver);
    tellings.people(pass);
  }
  function drawFailure() {
    const again = button("Try again", () => arrive({ ...here.place }));
    said.replaceChildren(element("p", "", `This moment didn’t come: ${failure}`), again);
    picture.clear();
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    if (pass?.document !== here.moment.document) pass = readPass(here.moment.document);
    const { cell } = here.moment.document.where;
    glossary.update(pass, { cell, present: here.place.present || areWordsAlone() }, { tellsNumbers: isDone() });
  }
  const presenting = makePresenting(document, box, remote.follow, code, () => {
    tellings.speaker(isOver);
    windows.tell();
  });
  const observer = new ResizeObserver(() => fitText(said, here.place.present));
  observer.observe(body);
  const first = { lesson: lessons[0].id, moment: 1, present: false };
  const read = search => (search ? placeIn(course(), search) : null);
  const stopListening = host.address.onArrival(() => arrive(read(host.address.read()) ?? first));
  const resumed = read(host.resumed?.()),
    asked = resumed ?? read(host.address.read()),
    left = memory.last && read(searchOf(memory.last));
  if (resumed || (!asked && left)) host.address.write(searchOf(resumed ?? left), false);
  const now = () => ({
    lesson: here.place.lesson,
    moment: here.place.moment,
    isShown: state().isShown,
    isBlank: presenting.isBlank(),
    isOver,
  });
  const windows = makeTwoWindows(window, asked?.speaker ?? "", { box, body }, { now, follow: goWith });
  const tellings = makeTellings(here, { mine, moments, windows, desk, picture, isBlank: presenting.isBlank });
  const stopFollowing = mine?.onChange(() => {
    if (here.place.lesson !== ID) return contents.update(lessons, here.place, memory, own());
    here.moment = null; // it may be another one
    arrive(own() ? { ...here.place, moment: Math.min(here.place.moment, own().nMoments) } : first);
  });
  arrive(asked ?? left ?? first);
  return {
    go,
    print,
    openClass: desk?.open,
    end: () => {
      remote.end();
      stopFollowing?.();
      windows.end();
      observer.disconnect();
      handout.end();
      presenting.end();
      glossary.end();
      desk?.end();
      picture.leave();
      stopListening();
    },
  };
}
