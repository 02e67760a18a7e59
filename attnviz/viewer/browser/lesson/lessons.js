// Lessons: a list of moments, each with a text, a picture, and perhaps a question that is asked before the answer is shown.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { makePresenting } from "../scene/present.js";
import { makeQrCode } from "../viewer/qrCode.js";
import { makeGlossary } from "../words/glossary.js";
import { answeredIn, coverAnswer, forgetShown, keepAnswer } from "./answered.js";
import { makeContents } from "./contents.js";
import { aboutOf, heardOf, placeBeside, placeIn, searchOf } from "./course.js";
import { fitText } from "./fitText.js";
import { makeFoot } from "./foot.js";
import { makeHandout } from "./handout.js";
import { makeLessonFrame } from "./lessonFrame.js";
import { makeMemory } from "./memory.js";
import { makeMomentPicture, pictureOf } from "./momentPicture.js";
import { makeMoments } from "./moments.js";
import { hasMore, makeMomentText } from "./momentText.js";
import { candidateAt, makeQuestion } from "./question.js";
import { makeRemote } from "./remote.js";
import { makeTakeaway } from "./takeaway.js";
import { makeTalkEnd } from "./talkEnd.js";
import { ID } from "./talkList.js";
import { makeTwoWindows } from "./twoWindows.js";
import { verdictOn } from "./verdict.js";

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
    own = () => mine?.entry() ?? null,
    course = () => (own() ? [...lessons, own()] : lessons),
    nameOf = at => (at.lesson === ID ? JSON.stringify(mine.momentAt(at)) : `${at.lesson} ${at.moment}`),
    moments = makeMoments(at => (at.lesson === ID ? mine.fetched(at) : host.fetched(at)), nameOf);
  let place = null,
    moment = null,
    question = null,
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
      () => moment && draw(),
      () => place?.present,
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
      questions: form => (place.lesson === ID ? mine.questions(form) : host.questions(place.lesson, form)),
      print,
    }),
    contents = makeContents({
      go,
      forget,
      hrefTo: host.hrefTo,
      edit: mine?.open,
      collect: mine && collect,
      startFrom: mine && (() => mine.startFrom(place.lesson)),
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

  const entry = () => course().find(({ id }) => id === place.lesson);
  const beside = by => placeBeside(course(), place, by);
  const places = () => Array.from({ length: entry().nMoments }, (_, nth) => ({ ...place, moment: nth + 1 }));
  // What is needed soon: of a talk of one's own that is given, all that is left, so that it goes on without a server.
  const soon = () => {
    const next = beside(1);
    if (place.present && entry().isOwn) return places().slice(place.moment);
    return next && host.has(next) ? [next] : [];
  };
  const state = () => answeredIn(nameOf(place));
  const isDone = () => Boolean(moment) && (state().isShown || !hasMore(moment));
  const areWordsAlone = () => Boolean(moment?.saysWordsAlone) && !state().isShown;
  const remote = makeRemote(document, {
    press,
    back,
    collect: mine && collect,
    present: is => go({ ...place, present: is }),
    isPresented: () => place.present,
    count: () => entry().nMoments,
    goTo: number => go({ ...place, moment: number }),
  });

  // What a remote's button does: show the answer, then go on.
  function press() {
    if (!moment) return true;
    if (!isDone()) show(null);
    else {
      const next = beside(1);
      if (next) go(next);
      else if (place.present) end(true);
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
    keepAnswer(nameOf(place), answer);
    windows.tell();
    if (answer !== null && place.lesson !== ID) memory.predicted(place, verdictOn(moment.question, answer).isRight);
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
    if (!moment.question || state().isShown) return false;
    const found = candidateAt(moment.question, clicked);
    if (found >= 0) show(found);
    return found >= 0;
  }
  // In mid-talk one comes back from there, to what comes next.
  function open(address) {
    if (address && place.present) host.leave?.(place, beside(1));
    if (!address) memory.opensWalkthrough = true;
    return host.open(address, place);
  }
  // Where another device of the speaker's has led the class.
  function lead(at, isShown) {
    const to = placeIn(lessons, `?${at}`);
    if (!to || !place) return false;
    if (!isShown) coverAnswer(nameOf(to));
    else if (!answeredIn(nameOf(to)).isShown) keepAnswer(nameOf(to), null);
    if (nameOf(to) !== nameOf(place)) go({ ...place, ...to, present: place.present });
    else if (moment) redrawSaid();
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
    mine.collectFrom(place);
    return true;
  }
  async function print() {
    handout.print(entry().name, await Promise.all(places().map(moments.get)));
  }
  function showSpeaker() {
    const isOpen = windows.open(name => host.hrefTo({ ...place, present: true, speaker: name }));
    if (isOpen) go({ ...place, present: true });
    else write(heard, "The browser didn’t open another window: allow it for this page.");
  }
  // Where the other window of a talk has gone.
  function goWith({ isShown, isBlank, isOver: isOverThere, ...at }) {
    const to = { ...place, ...at },
      isElsewhere = nameOf(to) !== nameOf(place);
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
    const isLeft = place?.present && !to.present;
    const isOtherLesson = place !== null && to.lesson !== place.lesson;
    arrive(to);
    host.address.write(searchOf(to), isOtherLesson);
    memory.at(to);
    windows.tell();
    if (isLeft) host.left?.();
    return true;
  }
  async function arrive(to) {
    const isSame = place && to.lesson === place.lesson && to.moment === place.moment;
    place = to;
    isOver = false;
    presenting.show(place.present);
    box.classList.toggle("presenting", place.present);
    if (isSame && moment) return draw();
    failure = "";
    const timer = setTimeout(() => box.classList.add("late"), 300);
    try {
      const found = await moments.get(to);
      if (place !== to && (place.lesson !== to.lesson || place.moment !== to.moment)) return; // one has gone on meanwhile
      moment = found;
      question = moment.question && makeQuestion(moment.question, show);
      moments.ahead(soon());
    } catch (error) {
      if (place !== to) return;
      moment = null;
      failure = error instanceof TypeError ? "the server doesn’t answer." : error.message;
    } finally {
      clearTimeout(timer);
      box.classList.remove("late");
    }
    draw();
    write(heard, heardOf(entry(), place, moment));
  }

  function draw() {
    if (!box.isConnected) return;
    const here = entry(),
      isFirst = areWordsAlone() && here === lessons[0];
    write(frame.about, aboutOf(here, lessons));
    contents.button.hidden = course().length === 1;
    contents.update(lessons, place, memory, own());
    over.update(isOver ? here.name : "");
    takeaway.button.hidden = isFirst; // a first visit is a question, and little else
    box.classList.toggle("words-alone", areWordsAlone());
    foot.update({
      place,
      entry: here,
      moment,
      isDone: isDone(),
      isFirst,
      isTalk: here.isOwn || lessons.length === 1, // which the page of one alone is of
      isStart: beside(-1) === null,
      isEnd: beside(1) === null,
      ownSentence: given.ownSentence,
      prefersWalkthrough: memory.opensWalkthrough,
      isClass: desk?.isOpen,
    });
    if (!moment) return drawFailure();
    question?.element.remove();
    said.classList.toggle("answered", state().isShown);
    redraw(
      said,
      texts.draw(moment, { ...place, ...state(), areWordsAlone: areWordsAlone(), question: question?.element }),
    );
    question?.update(state());
    box.classList.toggle("says-nothing", !said.textContent.trim());
    if (areWordsAlone()) picture.clear();
    else picture.show(moment, !state().isShown, place.present);
    fitText(said, place.present);
    explainTerms();
    tellSpeaker();
    tellClass();
  }
  function drawFailure() {
    const again = button("Try again", () => arrive({ ...place }));
    said.replaceChildren(element("p", "", `This moment didn’t come: ${failure}`), again);
    picture.clear();
  }
  function tellSpeaker() {
    const next = beside(1);
    windows.update(
      { moment, next: next && moments.get(next), planned: entry().planned ?? [], nth: place.moment },
      { isBlank: presenting.isBlank(), isOver },
    );
  }
  function tellClass() {
    const isOwn = place.lesson === ID,
      { question: about } = moment;
    desk?.shows({
      at: isOwn ? moment.at : searchOf({ ...place, present: false }).slice(1),
      moment: isOwn ? mine.momentAt(place) : null,
      isShown: isDone(),
      question: about,
      title: about ? about.prompt.map(([, text]) => text.text ?? text).join("") : "",
      picture: picture.element,
      pass,
      scene: moment.at,
      selected: () => (isDone() ? picture.selected() : null),
    });
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    if (pass?.document !== moment.document) pass = readPass(moment.document);
    const { cell } = moment.document.where;
    glossary.update(pass, { cell, present: place.present || areWordsAlone() }, { tellsNumbers: isDone() });
  }
  const presenting = makePresenting(document, box, remote.follow, code, () => {
    tellSpeaker();
    windows.tell();
  });
  const observer = new ResizeObserver(() => fitText(said, place.present));
  observer.observe(body);
  const first = { lesson: lessons[0].id, moment: 1, present: false };
  const read = search => (search ? placeIn(course(), search) : null);
  const stopListening = host.address.onArrival(() => arrive(read(host.address.read()) ?? first));
  const resumed = read(host.resumed?.()),
    asked = resumed ?? read(host.address.read()),
    left = memory.last && read(searchOf(memory.last));
  if (resumed || (!asked && left)) host.address.write(searchOf(resumed ?? left), false);
  const now = () => ({
    lesson: place.lesson,
    moment: place.moment,
    isShown: state().isShown,
    isBlank: presenting.isBlank(),
    isOver,
  });
  const windows = makeTwoWindows(window, asked?.speaker ?? "", { box, body }, { now, follow: goWith });
  const stopFollowing = mine?.onChange(() => {
    if (place.lesson !== ID) return contents.update(lessons, place, memory, own());
    moment = null; // it may be another one
    arrive(own() ? { ...place, moment: Math.min(place.moment, own().nMoments) } : first);
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
