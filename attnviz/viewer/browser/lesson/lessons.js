// Lessons: a list of moments, each with a text, a picture, and perhaps a question asked before its answer is shown.
import { element, write } from "../dom/element.js";
import { ID, makeMoments, searchOf } from "./course.js";
import { makePresenting } from "../model/present.js";
import { makeQrCode } from "../views/qrCode.js";
import { makeMemory } from "./memory.js";
import { makeMomentView } from "./momentView.js";
import { makeSurroundings } from "./surroundings.js";
import { makeTwoWindows } from "./speakerWindow.js";
import { makeWalk, makeWhereabouts } from "./walk.js";

const LATE_MS = 300;

// Returns {box, about, body, textBox, fill({picture, ways, foot, over, classBar}), announce(text), begin(), bringVerdict(), whileLate(coming)}: fill() puts it
// into `root` with the elements of the picture, of what is opened from above, of what stands below and over all; classBar, where there is
// one, is that of a class; announce() says something to screen readers.
function makeLessonFrame(root) {
  const box = element("div", "viewer lesson-page"),
    head = element("header", "lesson-head"),
    about = element("span", "about"),
    body = element("div", "lesson-body"),
    textBox = element("section", "lesson-said"),
    status = element("p", "heard");
  textBox.setAttribute("aria-label", "The moment");
  status.setAttribute("role", "status");
  return {
    box,
    about,
    body,
    textBox,
    fill({ picture, ways, foot, over, classBar }) {
      head.append(about, ...ways);
      body.append(textBox, picture);
      box.append(head, body, foot, status, ...over);
      if (classBar) {
        box.prepend(classBar.element);
        classBar.standIn(body);
        box.append(classBar.dialogs);
      }
      root.replaceChildren(box);
      root.ariaBusy = "false";
    },
    announce: text => write(status, text),
    // A phone has no room for all of a moment: one is read from its beginning, and then what is said of an answer.
    begin: () => box.scrollIntoView({ block: "start" }),
    bringVerdict: () => textBox.querySelector(".verdict:not(:empty)")?.scrollIntoView({ block: "nearest" }),
    // Dims while something is long in coming.
    async whileLate(coming) {
      const timer = setTimeout(() => box.classList.add("late"), LATE_MS);
      try {
        return await coming;
      } finally {
        clearTimeout(timer);
        box.classList.remove("late");
      }
    },
  };
}

const ENTER = ["Enter", " "];
const CONTROL = "a, button, input, select, textarea, summary, dfn, [role=grid], [role=listbox]";

// `here` are the whereabouts. actions: {press(), back(), collect(), present(is), goTo(number)}: what a press, Page Up and, where there is a talk
// of one's own, M do, and the ways into a talk and to a moment. Returns {follow(command), end()}; the commands are those of
// scene/shortcuts.js.
function makeRemote(document, here, { press, back, collect = null, present, goTo }) {
  let typed = 0; // the number of a moment that Enter leads to
  const onKey = event => {
    const held = event.composedPath().find(each => each.closest);
    if (!ENTER.includes(event.key) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (typed && event.key === "Enter") {
      event.preventDefault();
      goTo(typed);
      typed = 0;
      return;
    }
    if (held?.closest(CONTROL)) return;
    event.preventDefault();
    press();
  };
  document.addEventListener("keydown", onKey);
  return {
    follow(command) {
      const number = command.startsWith("band") ? Number(command.slice(5)) : 0,
        count = here.entry().nMoments,
        isPresented = here.place.present;
      typed = number <= count ? number : 0;
      if (command.startsWith("band")) return typed > 0;
      if (command === "first" || command === "last") return goTo(command === "first" ? 1 : count);
      if (command === "on") return press();
      if (command === "back") return back();
      if (command === "moment") return Boolean(collect?.());
      if (command === "present") return present(!isPresented);
      if (command === "leave") return isPresented && present(false);
      return false;
    },
    end: () => document.removeEventListener("keydown", onKey),
  };
}

// `here` are the whereabouts, classBar what the speaker of a class has, null where there can be none; isBlank() says whether nothing
// is on the screen. Returns {speaker(), people()}.
function makeReports(here, { mine: talk, moments, windows, classBar, view, isBlank }) {
  return {
    speaker() {
      const next = here.beside(1),
        { moment, place, isOver } = here;
      windows.update(
        { moment, next: next && moments.get(next), planned: here.entry().planned ?? [], nth: place.moment },
        { isBlank: isBlank(), isOver },
      );
    },
    people() {
      const { moment, place, isDone } = here,
        { picture, pass } = view,
        { question } = moment,
        isOwn = place.lesson === ID;
      classBar?.shows({
        at: isOwn ? moment.at : searchOf({ ...place, present: false }).slice(1),
        moment: isOwn ? talk.momentAt(place) : null,
        isShown: isDone(),
        question,
        title: question ? question.prompt.map(([, text]) => text.text ?? text).join("") : "",
        picture: picture.element,
        pass,
        scene: moment.at,
        selected: () => (isDone() ? picture.selected() : null),
      });
    },
  };
}

// `course` is LessonsPage of generated/contract.d.ts; host:
//   address, isLinked: the page's address, and whether somebody else can open it
//   fetched(place), has(place), hrefTo(place): what gives a moment, whether a place is on this page, the link to one
//   open(address, place), hrefOf(address): what opens a scene of a place in the walkthrough and says whether it can, and its link
//   questions(lesson, form): a promise of the questions of a lesson as a file
//   store(): where the browser keeps things
//   classBar(lead, changed, isPresented, turn), where a class can be opened: makes what its speaker has
//   talk, resumeSearch(), pause(place, next), onLeave(), with a talk of the user's (talkController.js): the talk's dock, where to resume it,
//   and what is called when the walkthrough is opened in mid-talk, and when the talk is left
// Returns {go(place), print(), openClass(), end()}.
export function mountLessons(root, course, host) {
  const talk = host.talk ?? null,
    memory = makeMemory(host.store),
    here = makeWhereabouts(course.lessons, talk, host.has),
    moments = makeMoments(at => (at.lesson === ID ? talk.fetched(at) : host.fetched(at)), here.nameOf),
    frame = makeLessonFrame(root);
  const walk = makeWalk(
    here,
    frame,
    { host, memory, moments },
    { present: is => presenting.show(is), update, redraw, sync: () => windows.sync() },
  );
  const view = makeMomentView(frame, here, memory.scoreOf, walk);
  const classBar =
    host.classBar?.(
      walk.lead,
      () => here.moment && update(),
      () => here.place?.present,
      turn,
    ) ?? null;
  const actions = {
    ...walk,
    hrefOf: host.hrefOf,
    hrefTo: host.hrefTo,
    present: () => remote.follow("present"),
    edit: talk?.open,
    collect: talk && (() => talk.collectFrom(here.place)),
    startFrom: talk && (() => talk.startFrom(here.place.lesson)),
    showSpeaker,
    openClass: classBar?.open,
    isClass: () => classBar?.isOpen,
  };
  const surroundings = makeSurroundings(frame, here, { host, given: course, memory, moments }, actions),
    code = makeQrCode(window, host.isLinked);
  frame.fill({
    picture: view.picture.element,
    ways: surroundings.ways,
    foot: surroundings.foot.element,
    over: [code.element, view.glossary.element, surroundings.over],
    classBar,
  });
  const remote = makeRemote(document, here, { ...actions, present: walk.present }),
    presenting = makePresenting(document, frame.box, remote.follow, code, () => {
      reports.speaker();
      windows.sync();
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
    reports = makeReports(here, { mine: talk, moments, windows, classBar, view, isBlank: presenting.isBlank });
  const stopFollowing = talk?.onChange(() => (here.place.lesson === ID ? walk.reread() : surroundings.list()));

  function update() {
    if (!frame.box.isConnected) return;
    surroundings.update();
    view.update();
    if (!here.moment) return;
    reports.speaker();
    reports.people();
  }
  // What had the keyboard among what is said goes, or can't be used any more.
  function redraw() {
    const isHeld = frame.textBox.contains(root.getRootNode().activeElement);
    update();
    if (isHeld) surroundings.foot.takeFocus();
  }
  // Another device of the speaker's has pressed on in this talk, or back; a speaker's window follows.
  function turn(by) {
    if (windows.isSpeakers) return;
    for (let presses = Math.abs(by); presses > 0; presses -= 1) (by > 0 ? walk.press : walk.back)();
  }
  function showSpeaker() {
    if (windows.open(name => host.hrefTo({ ...here.place, present: true, speaker: name }))) walk.present(true);
    else frame.announce("The browser didn’t open another window: allow it for this page.");
  }

  walk.arrive(start);
  return {
    go: walk.go,
    print: surroundings.print,
    openClass: classBar?.open,
    end() {
      for (const each of [remote, windows, surroundings, presenting, view, classBar]) each?.end();
      stopFollowing?.();
      stopListening();
    },
  };
}
