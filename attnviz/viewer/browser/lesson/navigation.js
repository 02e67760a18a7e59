// Moving through the moments of a lesson: the current position, what was answered, and the way on and back.
import { CONTENTS, END, END_POSITION, ID, nextPosition, orderOf, positionIn, searchOf } from "./course.js";
import { OPTIONAL } from "./momentText.js";
import { UNANSWERED, hasMore, nextPress, pressed } from "./presses.js";
import { candidateAt, verdictOn } from "./question.js";
import { plainText } from "./sentence.js";

/** @typedef {import("./course.js").Position} Position */
/** @type {Map<string, import("./presses.js").Answered>} */
const answers = new Map(); // by the moment's name; lasts as long as the page

export function forgetAnswers() {
  answers.clear();
}

// Where the user is in a course. `talk` is the dock of the user's talk, null where there can be none. has(position) returns whether this page
// holds a position; isWrong("lesson.id") returns whether the user's answer to that question was wrong. makeNavigation sets position, moment,
// failure, isOver and isLoading. If a moment can't be loaded, `moment` is null and `failure` says why; isOver is true after a talk's last moment.
export function makeLessonState(lessons, talk, has, isWrong) {
  const talkEntry = () => talk?.entry() ?? null,
    entries = () => [...lessons, ...(talkEntry() ? [talkEntry()] : [])],
    first = { lesson: lessons[0].id, moment: 1, present: false };
  const state = {
    position: /** @type {Position} */ (/** @type {unknown} */ (null)), // until start()
    moment: /** @type {any} */ (null),
    failure: "",
    isOver: false,
    isLoading: false, // then `moment` is still the one before
    around: "", // CONTENTS or END while that page is shown instead of the moment
    lessons,
    first: /** @type {Position} */ (first),
    talkEntry,
    entries, // the lessons, and the talk if there is one
    entry: () => entries().find(({ id }) => id === state.position.lesson),
    nameOf: ({ lesson, moment }) => (lesson === ID ? talk.nameOf({ moment }) : `${lesson} ${moment}`),
    // The numbers of a lesson's moments as Next shows them. A presenter has prepared the order of the file.
    order: (entry = state.entry()) => orderOf(entry, state.position.present ? undefined : isWrong),
    // Its place in that order, from 1; 0 if it is optional.
    nth: () => state.order().indexOf(state.position.moment) + 1,
    next: by => nextPosition(entries(), state.position, by, state.order),
    // The optional moment that this one has a link to.
    optional: () => {
      const { moment } = state.position,
        entry = state.entry().moments?.[moment];
      return entry?.isOptional ? { title: entry.title, position: { ...state.position, moment: moment + 1 } } : null;
    },
    isAtEnd: () => state.around === END,
    // Whether the end page comes next.
    leadsToEnd: () => state.next(1) === null && lessons.length > 1 && !state.entry().isTalk && !state.position.present,
    positions: () =>
      Array.from({ length: state.entry().nMoments }, (_, nth) => ({ ...state.position, moment: nth + 1 })),
    positionIn: search => (search ? positionIn(entries(), search) : null),
    isAt: ({ lesson, moment }) => lesson === state.position?.lesson && moment === state.position.moment,
    answered: () => answers.get(state.nameOf(state.position)) ?? UNANSWERED,
    isWordsAlone: () => Boolean(state.moment?.saysWordsAlone) && !state.answered().isShown,
    isDone: () => Boolean(state.moment) && (state.answered().isShown || !hasMore(state.moment)),
    isClass: () => false, // whether a class answers (lessons.js)
    pressed: by => state.moment && pressed(state.moment, state.answered(), by, state.isClass()),
    nextPress: () => nextPress(state.moment, state.answered(), state.isClass()),
    isFirst: () => !state.isClass() && state.isWordsAlone() && state.isAt({ lesson: lessons[0].id, moment: 1 }), // a first visit shows a question and little else
    now: () => {
      const { lesson, moment } = state.position,
        { isShown, lines, wasShown, showsClass } = state.answered();
      return { lesson, moment, isShown, lines, wasShown, showsClass, isOver: state.isOver };
    },
    // The positions to prefetch: the rest of a talk that is being presented, so that it needs no server; else the next one.
    upcoming: () => {
      const next = state.next(1);
      if (state.position.present && state.entry().isTalk) return state.positions().slice(state.position.moment);
      return next && has(next) ? [next] : [];
    },
  };
  return state;
}

// page: present(is) begins or ends presenting, redraw() follows a press, sync() updates the other window of a talk, forget() empties questions.
export function makeNavigation(state, frame, { host, memory, moments }, page) {
  const { nameOf, next, answered } = state;
  let nWaiting = 0; // presses made while a moment loads; they are applied once it has loaded, as if the network were fast
  // What a presenter remote does: show the next line, the answers of the class, or the answer, then go on.
  function press() {
    if (state.around === CONTENTS) return go(resume() ?? state.first);
    if (state.around || !state.moment) return true;
    if (state.isLoading) {
      nWaiting += 1;
      return true;
    }
    if (pressHere(1)) return true;
    const to = next(1);
    if (to) go(to);
    else if (state.leadsToEnd()) go(END_POSITION);
    else if (state.position.present) setOver(true);
    return true;
  }
  function back() {
    const { id, nMoments } = /** @type {any} */ (state.lessons.at(-1)),
      to = next(-1);
    if (state.isAtEnd()) return go({ lesson: id, moment: nMoments, present: false });
    if (state.around) return true;
    if (nWaiting) nWaiting -= 1;
    else if (state.isOver) setOver(false);
    else if ((state.isLoading || !pressHere(-1)) && to) go(to);
    return true;
  }
  // Shows or hides something of this moment; returns whether there was something.
  function pressHere(by) {
    const { moment } = state,
      to = state.pressed(by);
    if (!to) return false;
    if (to.isShown && !moment.worked.length) return show(null);
    set(to);
    if (by > 0 && moment.worked.length) frame.announce(plainText(moment.worked[to.lines - 1] ?? moment.after));
    return true;
  }
  function set(shown) {
    answers.set(nameOf(state.position), shown);
    page.sync();
    page.redraw();
    frame.scrollToVerdict();
  }
  function setOver(is) {
    state.isOver = is;
    page.update();
    page.sync();
  }
  function show(answer) {
    if (state.isLoading || answered().isShown) return true;
    noteDone(answer === null ? null : verdictOn(state.moment.question, answer).isRight);
    set({ ...answered(), isShown: true, answer });
    return true;
  }
  function reveal() {
    if (state.moment?.question) show(null);
  }
  function noteDone(isRight) {
    const { position, moment } = state;
    if (position.lesson !== ID && !moment.isOptional)
      memory.answered(position.lesson, moment.id || position.moment, isRight);
  }
  // Reveals of a moment what another window or device has revealed.
  function follow(position, shown) {
    const { answer, ...here } = answers.get(nameOf(position)) ?? UNANSWERED;
    answers.set(nameOf(position), { ...here, ...shown, answer: here.isShown && shown.isShown ? answer : null });
  }
  function go(to) {
    if (!state.around && state.isDone()) noteDone(null);
    if (to.lesson === END) {
      host.address.write(searchOf(to), true);
      memory.at(to);
      return showAround(END);
    }
    if (!host.has(to)) {
      window.location.assign(host.hrefTo(to));
      return true;
    }
    const hasLeft = state.position?.present && !to.present,
      isNewPlace = state.position !== null && (state.around !== "" || to.lesson !== state.position.lesson);
    load(to);
    host.address.write(searchOf(to), isNewPlace);
    memory.at(to);
    page.sync();
    if (hasLeft) host.onLeave?.();
    return true;
  }
  // The last visit's position; null without one.
  function resume() {
    const { last } = memory;
    if (last?.lesson === END) return END_POSITION;
    return last && state.positionIn(searchOf({ ...last, present: false }));
  }
  function showAround(name) {
    const last = resume();
    state.around = name;
    nWaiting = 0;
    state.position = { ...(state.position ?? (last === END_POSITION ? null : last) ?? state.first), present: false };
    page.present(false);
    page.update();
    frame.scrollToTop();
    frame.announce(name === END ? "The end: what you can explain now" : "All lessons");
    return true;
  }
  // Shows what the address names. Without a lesson that is the first moment, or All lessons for a returning user.
  function readAddress() {
    const search = host.address.read(),
      to = state.positionIn(search),
      lesson = new URLSearchParams(search).get("lesson");
    if (lesson === END && state.lessons.length > 1) return showAround(END);
    if (lesson === null && resume()) return showAround(CONTENTS);
    return load(to ?? state.first);
  }
  function takeWaiting() {
    const n = nWaiting;
    nWaiting = 0;
    return n;
  }
  async function load(to) {
    const isThere = state.isAt(to) && state.moment !== null && !state.isLoading;
    nWaiting = 0;
    state.around = "";
    state.position = to;
    state.isOver = false;
    page.present(to.present);
    if (isThere) return page.update();
    state.failure = "";
    state.isLoading = true;
    try {
      const moment = await frame.whileLate(moments.get(to));
      if (!state.isAt(to)) return; // the user has moved on meanwhile
      state.moment = moment;
      moments.prefetch(state.upcoming());
    } catch (error) {
      if (state.position !== to) return;
      nWaiting = 0;
      state.moment = null;
      state.failure = error instanceof TypeError ? "the server doesn’t answer." : /** @type {Error} */ (error).message;
    }
    state.isLoading = false;
    page.update();
    frame.scrollToTop();
    const title = state.moment?.title ? `: ${state.moment.title}` : "",
      nth = state.nth();
    frame.announce(`${state.entry().name}, ${nth ? `moment ${nth} of ${state.order().length}` : OPTIONAL}${title}`);
    for (let n = takeWaiting(); n > 0; n -= 1) press();
  }
  return {
    press,
    back,
    // What was pressed on the speaker's other device.
    turn(what) {
      if (what === "back") back();
      else if (what === "reveal") reveal();
      else if (what === "next" || state.nextPress() === "Show answers") press();
    },
    reveal,
    showClass: is => set({ ...answered(), showsClass: is }),
    show,
    go,
    load,
    goTo: nth => go({ ...state.position, moment: state.order()[nth - 1] }),
    present: present => go({ ...state.position, present }),
    readAddress,
    resume,
    // Sets the address to where a talk was interrupted. Returns the name of this speaker's window; "" for any other window.
    start() {
      const resumed = state.positionIn(host.resumeSearch?.());
      if (resumed) host.address.write(searchOf(resumed), false);
      return state.positionIn(host.address.read())?.speaker ?? "";
    },
    answerClick(clicked) {
      if (!state.moment.question || answered().isShown) return false;
      const candidate = candidateAt(state.moment.question, clicked);
      if (candidate >= 0) show(candidate);
      return candidate >= 0;
    },
    // Opens a scene in the walkthrough. A talk can be resumed from there.
    open(address) {
      if (address && state.position.present) host.pause?.(state.position, next(1));
      if (!address) memory.opensWalkthrough = true;
      return host.open(address, state.position);
    },
    lead(search, isShown, showsClass) {
      const to = positionIn(state.lessons, `?${search}`);
      if (!to || !state.position) return false;
      follow(to, { isShown, showsClass, lines: 0, wasShown: false });
      if (nameOf(to) !== nameOf(state.position)) go({ ...state.position, ...to, present: state.position.present });
      else if (state.around) load(state.position);
      else if (state.moment) page.redraw();
      return true;
    },
    follow({ lesson, moment, isOver, ...shown }) {
      const to = { ...state.position, lesson, moment },
        isElsewhere = nameOf(to) !== nameOf(state.position);
      follow(to, shown);
      if (isElsewhere) {
        load(to);
        host.address.write(searchOf(to), false);
      }
      state.isOver = isOver;
      if (!isElsewhere) page.redraw();
    },
    askAnew() {
      forgetAnswers();
      page.forget();
    },
    forget() {
      memory.forget();
      forgetAnswers();
      page.forget();
      page.redraw();
    },
    reread() {
      const talk = state.talkEntry(),
        { position } = state;
      state.moment = null;
      load(talk ? { ...position, moment: Math.min(position.moment, talk.nMoments) } : state.first);
    },
  };
}
