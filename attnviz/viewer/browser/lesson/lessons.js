// Lessons: a list of moments, each with a text, a picture, and perhaps a question asked before its answer is shown.
import { h, write } from "../dom/element.js";
import { ID, makeMoments, searchOf } from "./course.js";
import { makePresenting } from "../model/present.js";
import { makeMemory } from "./memory.js";
import { makeMomentView } from "./momentView.js";
import { makeMenus } from "./menus.js";
import { makeTwoWindows } from "./windowPair.js";
import { makeLessonState, makeNavigation } from "./navigation.js";

const LATE_MS = 300;
const SHOWN_LAST = ".verdict:not(:empty), .worked > :not(.to-come), .worked ~ .after, .tell"; // the last of these

// The page's layout. fill() renders it into `root`, with the elements that the rest of the page makes.
function makeLessonFrame(root) {
  const about = h("span", { class: "about" }),
    head = h("header", { class: "lesson-head" }, about),
    textBox = h("section", { class: "lesson-said", "aria-label": "The moment" }),
    body = h("div", { class: "lesson-body" }, textBox),
    status = h("p", { class: "sr-only", role: "status" }),
    box = h("div", { class: "viewer lesson-page" }, head, body);
  return {
    box,
    about,
    body,
    textBox,
    fill({ topElements, picture, given, foot, around, over, classBar }) {
      head.append(...topElements);
      body.append(picture);
      box.append(around, given, foot, status, ...over);
      if (classBar) {
        box.prepend(classBar.element);
        classBar.attachTo(body);
        box.append(classBar.dialogs);
      }
      root.replaceChildren(box);
      root.ariaBusy = "false";
    },
    announce: text => write(status, text), // to screen readers
    // A phone can't show all of a moment: it scrolls to its beginning, later to the verdict or the next line.
    scrollToTop: () => box.scrollIntoView({ block: "start" }),
    scrollToVerdict: () => [...textBox.querySelectorAll(SHOWN_LAST)].at(-1)?.scrollIntoView({ block: "nearest" }),
    // Dims the page while something takes long to load.
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

const CONTROL = "a, button, input, select, textarea, summary, dfn, [role=grid], [role=listbox]";

// Keys and presenter remotes; the commands are those of model/shortcuts.js.
function makeRemote(document, state, { press, back, collect, present, goTo }) {
  let typed = 0; // the number of a moment, which Enter goes to
  const onKey = event => {
    const target = event.composedPath().find(each => each.closest);
    if (!["Enter", " "].includes(event.key) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (typed && event.key === "Enter") {
      event.preventDefault();
      goTo(typed);
      typed = 0;
    } else if (!target?.closest(CONTROL)) {
      event.preventDefault();
      press();
    }
  };
  document.addEventListener("keydown", onKey);
  return {
    follow(command) {
      const number = command.startsWith("band") ? Number(command.slice(5)) : 0,
        count = state.order().length,
        isPresented = state.position.present;
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

// This moment as a place that the speaker leads the class to.
function classPlace(state, talk, { picture, pass, fit }) {
  const { moment, position } = state,
    { question } = moment,
    isTalk = position.lesson === ID,
    isShown = state.isDone() || state.answered().wasShown; // a speaker's way back through lines leads no phone back
  return {
    at: isTalk ? moment.at : searchOf({ ...position, present: false }).slice(1),
    moment: isTalk ? talk.momentAt(position) : null,
    image: isTalk ? () => talk.imageAt(position) : null,
    isShown,
    showsClass: state.answered().showsClass,
    question,
    title: question?.prompt ?? [],
    picture: picture.element,
    fit,
    pass,
    scene: moment.at,
    selected: () => (isShown ? picture.selected() : null),
  };
}

// The QR code of the page's address, whose script loads when it opens; a page without a link has none.
function makeLateCode(host, box) {
  let code = /** @type {any} */ (null);
  async function open() {
    const { makeQrCode } = await host.loadScript("teaching");
    code ??= makeQrCode(window);
    if (!code.element.isConnected) box.append(code.element);
    code.open();
  }
  return { open: () => host.isLinked && open(), close: () => code?.close() ?? false };
}

// `course` is LessonsPage of generated/contract.d.ts; host:
//   address, isLinked: the page's address, and whether others can open it
//   fetchMoment(position), has(position), hrefTo(position): fetch a moment; whether it is on this page; its link
//   open(address, position), hrefOf(address): open a scene in the walkthrough and return whether that worked; its link
//   opensSentences: whether any sentence can be opened there; hrefOfPage(name): the link of another page
//   questions(lesson, form): a promise of the questions of a lesson as a file
//   store(): a Storage
//   loadScript(name): a promise of the exports of a script that the first moment doesn't need: "lessonPictures", "talk", "teaching"
//   onDrawn(), in the app: called each time the page has been drawn
//   classBar(host), where a class can be opened: makes the speaker's bar; its host is as in makeClassBar
//   talk, resumeSearch(), pause(position, next), onLeave(), with a talk of the user's (talkController.js): the talk's dock, where to resume
//   it, and what is called when the walkthrough is opened in mid-talk, and when the talk is left
// Returns {go(position), print(), openClass(), end()}.
export function mountLessons(root, course, host) {
  const talk = host.talk ?? null,
    memory = makeMemory(host.store, course.lessons),
    state = makeLessonState(course.lessons, talk, host.has, memory.isWrong),
    fetchMoment = position => (position.lesson === ID ? talk : host).fetchMoment(position),
    moments = makeMoments(fetchMoment, state.nameOf),
    frame = makeLessonFrame(root);
  const page = {
      present: is => presenting.show(is),
      update,
      redraw,
      sync: () => windows?.sync(),
      forget: () => view.forget(),
    },
    navigation = makeNavigation(state, frame, { host, memory, moments }, page),
    view = makeMomentView(frame, state, memory, navigation, host.opensSentences ? course.ownSentence : "");
  let windows = /** @type {ReturnType<typeof makeTwoWindows> | null} */ (null), // made last, as it needs the others
    hasEnded = false;
  state.isClass = () => (classBar ? classBar.isOpen : Boolean(windows?.isClass()));
  const speakerOf = navigation.start(), // "" unless this is a speaker's window, which gets the class's report from the other window
    classBar = speakerOf ? null : (host.classBar?.(makeClassHost()) ?? null);
  const actions = {
    ...navigation,
    hrefOf: host.hrefOf,
    hrefOfPage: host.hrefOfPage,
    exploreAddress: () => view.picture.address(state.moment),
    hrefTo: host.hrefTo,
    opensSentences: host.opensSentences,
    present: () => remote.follow("present"),
    edit: talk?.open,
    talkLabel: talk?.label,
    collect: talk && (() => talk.collectFrom(state.position)),
    startFrom: talk && (() => talk.startFrom(state.position.lesson)),
    showSpeaker,
    openClass: classBar?.open,
    isClass: state.isClass,
  };
  const menus = makeMenus(frame, state, { host, course, memory, moments }, actions),
    code = makeLateCode(host, frame.box);
  frame.fill({
    topElements: menus.topElements,
    picture: view.picture.element,
    given: view.given,
    foot: menus.foot.element,
    around: menus.around,
    over: [menus.over],
    classBar,
  });
  const remote = makeRemote(document, state, { ...actions, present: navigation.present }),
    presenting = makePresenting(document, frame.box, remote.follow, code, () => {
      updateSpeaker();
      windows?.sync();
    });
  const stopListening = host.address.onNavigate(navigation.readAddress);
  const makePanel = async (act, name) => (await host.loadScript("talk")).makeSpeakerPanel(act, name);
  windows = makeTwoWindows(window, speakerOf, frame, makePanel, {
    now: () => ({ ...state.now(), isBlank: presenting.isBlank() }),
    follow(now) {
      presenting.blank(now.isBlank);
      navigation.follow(now);
    },
    hello: () => classBar?.sendReport(),
    act: what => classBar?.act(what),
    classChanged: update,
    reveal: navigation.reveal,
  });
  const stopFollowing = talk?.onChange(() =>
    state.position.lesson === ID ? navigation.reread() : menus.drawContents(),
  );
  function updateSpeaker() {
    const next = state.next(1),
      { moment, position, isOver } = state,
      coming = next && moments.get(next);
    windows?.update(
      { moment, next: coming, planned: state.entry().planned ?? [], number: position.moment },
      { isBlank: presenting.isBlank(), isOver, nextPress: state.nextPress() },
    );
  }
  function update() {
    if (!frame.box.isConnected) return;
    menus.update();
    if (!state.around) view.update();
    host.onDrawn?.();
    if (state.around || !state.moment || state.isLoading) return;
    updateSpeaker();
    classBar?.setPlace(classPlace(state, talk, view));
  }
  // The focused element may disappear or become disabled.
  function redraw() {
    const isHeld = frame.textBox.contains(root.getRootNode().activeElement);
    update();
    if (isHeld) menus.foot.takeFocus();
  }
  // For a class that begins all questions are open again.
  function makeClassHost() {
    const changed = () => {
      if (state.isClass()) navigation.askAnew();
      if (state.moment || state.around) update();
    };
    const { lead, turn, showClass } = navigation,
      isPresented = () => state.position?.present,
      sendReport = report => windows?.sendReport(report);
    return { lead, turn, showClass, changed, isPresented, showSpeaker, sendReport };
  }
  function showSpeaker() {
    const isOpen = windows?.open(name => host.hrefTo({ ...state.position, present: true, speaker: name }));
    if (isOpen) navigation.present(true);
    else frame.announce("The browser didn’t open another window: allow it for this page.");
  }
  // A first screen of words alone needs no picture, so the moment loads before the pictures' script.
  async function loadPictures(first) {
    if (state.isAt(state.first) || state.around) await first;
    const script = await host.loadScript("lessonPictures");
    if (hasEnded) return;
    view.addPictures(script);
    if (state.moment && !state.around && !state.isLoading) classBar?.setPlace(classPlace(state, talk, view));
  }
  loadPictures(navigation.readAddress());
  return {
    go: navigation.go,
    print: menus.print,
    printUnanswered: () => menus.print(false),
    openClass: classBar?.open,
    end() {
      hasEnded = true;
      for (const each of [remote, windows, menus, presenting, view, classBar]) each?.end();
      stopFollowing?.();
      stopListening();
    },
  };
}
