// Lessons: a list of moments, each with a text, a picture, and perhaps a question that is asked before the answer is shown.
import { makePresenting } from "../scene/present.js";
import { makeQrCode } from "../viewer/qrCode.js";
import { makeLessonFrame } from "./lessonFrame.js";
import { makeMemory } from "./memory.js";
import { makeMoments } from "./moments.js";
import { makeMomentView } from "./momentView.js";
import { makeRemote } from "./remote.js";
import { makeSurroundings } from "./surroundings.js";
import { ID } from "./talkList.js";
import { makeTellings } from "./tellings.js";
import { makeTwoWindows } from "./twoWindows.js";
import { makeWalk } from "./walk.js";
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
  const mine = host.own ?? null,
    memory = makeMemory(host.store),
    here = makeWhereabouts(given.lessons, mine, host.has),
    moments = makeMoments(at => (at.lesson === ID ? mine.fetched(at) : host.fetched(at)), here.nameOf),
    frame = makeLessonFrame(root);
  const walk = makeWalk(
    here,
    frame,
    { host, memory, moments },
    { present: is => presenting.show(is), update, redraw, tell: () => windows.tell() },
  );
  const view = makeMomentView(frame, here, memory.scoreOf, walk);
  const desk =
    host.desk?.(
      walk.lead,
      () => here.moment && update(),
      () => here.place?.present,
      turn,
    ) ?? null;
  const acts = {
    ...walk,
    hrefOf: host.hrefOf,
    hrefTo: host.hrefTo,
    present: () => remote.follow("present"),
    edit: mine?.open,
    collect: mine && (() => mine.collectFrom(here.place)),
    startFrom: mine && (() => mine.startFrom(here.place.lesson)),
    showSpeaker,
    openClass: desk?.open,
    isClass: () => desk?.isOpen,
  };
  const around = makeSurroundings(frame, here, { host, given, memory, moments }, acts),
    code = makeQrCode(window, host.isLinked);
  frame.fill({
    picture: view.picture.element,
    ways: around.ways,
    foot: around.foot.element,
    over: [code.element, view.glossary.element, around.over],
    desk,
  });
  const remote = makeRemote(document, here, { ...acts, present: walk.present }),
    presenting = makePresenting(document, frame.box, remote.follow, code, () => {
      tellings.speaker();
      windows.tell();
    });
  const stopListening = host.address.onArrival(() => walk.arrive(here.placeOf(host.address.read()) ?? here.first)),
    start = walk.start();
  const windows = makeTwoWindows(window, start.speaker ?? "", frame, {
      now: () => ({ ...here.now(), isBlank: presenting.isBlank() }),
      follow(now) {
        presenting.blank(now.isBlank);
        walk.follow(now);
      },
    }),
    tellings = makeTellings(here, { mine, moments, windows, desk, view, isBlank: presenting.isBlank });
  const stopFollowing = mine?.onChange(() => (here.place.lesson === ID ? walk.reread() : around.list()));

  function update() {
    if (!frame.box.isConnected) return;
    around.update();
    view.update();
    if (!here.moment) return;
    tellings.speaker();
    tellings.people();
  }
  // What had the keyboard among what is said goes, or can't be used any more.
  function redraw() {
    const isHeld = frame.said.contains(root.getRootNode().activeElement);
    update();
    if (isHeld) around.foot.takeFocus();
  }
  // Another device of the speaker's has pressed on in this talk, or back; a speaker's window follows.
  function turn(by) {
    if (windows.isSpeakers) return;
    for (let left = Math.abs(by); left > 0; left -= 1) (by > 0 ? walk.press : walk.back)();
  }
  function showSpeaker() {
    if (windows.open(name => host.hrefTo({ ...here.place, present: true, speaker: name }))) walk.present(true);
    else frame.tell("The browser didn’t open another window: allow it for this page.");
  }

  walk.arrive(start);
  return {
    go: walk.go,
    print: around.print,
    openClass: desk?.open,
    end() {
      for (const each of [remote, windows, around, presenting, view, desk]) each?.end();
      stopFollowing?.();
      stopListening();
    },
  };
}
