// Moving through the moments of a lesson: the current position, what was answered, and the way on and back.
import { ID, nextPosition, positionIn, searchOf } from "./course.js";
import { hasMore } from "./momentView.js";
import { candidateAt, verdictOn } from "./question.js";

/** @typedef {import("./course.js").Position} Position */
/** @typedef {{ answer: any, isShown: boolean }} Answered `answer` is null if the right one was shown without any */

/** @type {Answered} */
const UNANSWERED = { answer: null, isShown: false };
/** @type {Map<string, Answered>} */
const answers = new Map(); // by the moment's name; lasts as long as the page

export function forgetAnswers() {
  answers.clear();
}

// Where the user is in a course. `talk` is the dock of the user's talk, null where there can be none; has(position) says whether a position
// is on this page. makeNavigation sets {position, moment, failure, isOver}: a moment that didn't come is null, and `failure` says why;
// isOver is true after the last moment of a talk.
export function makeLessonState(lessons, talk, has) {
  const talkEntry = () => talk?.entry() ?? null,
    entries = () => [...lessons, ...(talkEntry() ? [talkEntry()] : [])],
    first = { lesson: lessons[0].id, moment: 1, present: false };
  const state = {
    position: /** @type {Position} */ (/** @type {unknown} */ (null)), // until start()
    moment: /** @type {any} */ (null),
    failure: "",
    isOver: false,
    isReturn: false, // whether the last visit's moment is resumed
    lessons,
    first: /** @type {Position} */ (first),
    talkEntry,
    entries, // the lessons, and the talk if there is one
    entry: () => entries().find(({ id }) => id === state.position.lesson),
    nameOf: ({ lesson, moment }) => (lesson === ID ? JSON.stringify(talk.momentAt({ moment })) : `${lesson} ${moment}`),
    next: by => nextPosition(entries(), state.position, by),
    positions: () =>
      Array.from({ length: state.entry().nMoments }, (_, nth) => ({ ...state.position, moment: nth + 1 })),
    positionIn: search => (search ? positionIn(entries(), search) : null),
    isAt: ({ lesson, moment }) => lesson === state.position?.lesson && moment === state.position.moment,
    answered: () => answers.get(state.nameOf(state.position)) ?? UNANSWERED,
    isWordsAlone: () => Boolean(state.moment?.saysWordsAlone) && !state.answered().isShown,
    isDone: () => Boolean(state.moment) && (state.answered().isShown || !hasMore(state.moment)),
    isFirst: () => state.isWordsAlone() && state.entry() === lessons[0], // a first visit shows a question and little else
    now: () => {
      const { lesson, moment } = state.position;
      return { lesson, moment, isShown: state.answered().isShown, isOver: state.isOver };
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

// page: present(is) begins or ends presenting, redraw() follows a press, sync() updates the other window of a talk.
export function makeNavigation(state, frame, { host, memory, moments }, page) {
  const { nameOf, next, answered } = state;
  // What a presenter remote does: show the answer, then go on.
  function press() {
    if (!state.moment) return true;
    if (!state.isDone()) show(null);
    else {
      const to = next(1);
      if (to) go(to);
      else if (state.position.present) setOver(true);
    }
    return true;
  }
  function back() {
    const to = next(-1);
    if (state.isOver) setOver(false);
    else if (to) go(to);
    return true;
  }
  function setOver(is) {
    state.isOver = is;
    page.update();
    page.sync();
  }
  function show(answer) {
    const { position, moment } = state;
    if (answered().isShown) return;
    answers.set(nameOf(position), { answer, isShown: true });
    page.sync();
    if (answer !== null && position.lesson !== ID)
      memory.predicted(position, verdictOn(moment.question, answer).isRight);
    page.redraw();
    frame.bringVerdict();
  }
  // Shows an answer that another window or device shows.
  function reveal(position) {
    if (!answers.get(nameOf(position))?.isShown) answers.set(nameOf(position), { answer: null, isShown: true });
  }
  function go(to) {
    if (!host.has(to)) {
      window.location.assign(host.hrefTo(to));
      return true;
    }
    const hasLeft = state.position?.present && !to.present,
      isOtherLesson = state.position !== null && to.lesson !== state.position.lesson;
    load(to);
    host.address.write(searchOf(to), isOtherLesson);
    memory.at(to);
    page.sync();
    if (hasLeft) host.onLeave?.();
    return true;
  }
  async function load(to) {
    const isThere = state.isAt(to) && state.moment !== null;
    state.position = to;
    state.isOver = false;
    page.present(to.present);
    if (isThere) return page.update();
    state.failure = "";
    try {
      const moment = await frame.whileLate(moments.get(to));
      if (!state.isAt(to)) return; // the user has moved on meanwhile
      state.moment = moment;
      moments.prefetch(state.upcoming());
    } catch (error) {
      if (state.position !== to) return;
      state.moment = null;
      state.failure = error instanceof TypeError ? "the server doesn’t answer." : /** @type {Error} */ (error).message;
    }
    page.update();
    frame.begin();
    const { name, nMoments } = state.entry(),
      title = state.moment?.title ? `: ${state.moment.title}` : "";
    frame.announce(`${name}, moment ${state.position.moment} of ${nMoments}${title}`);
  }
  return {
    press,
    back,
    show,
    go,
    load,
    goTo: moment => go({ ...state.position, moment }),
    present: present => go({ ...state.position, present }),
    // Where to start: where a talk was interrupted, where the address leads, or the last visit.
    start() {
      const linked = state.positionIn(host.address.read()),
        last = linked || !memory.last ? null : state.positionIn(searchOf(memory.last)),
        resumed = state.positionIn(host.resumeSearch?.()) ?? last;
      if (resumed) host.address.write(searchOf(resumed), false);
      state.isReturn = last !== null;
      return resumed ?? linked ?? state.first;
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
    lead(search, isShown) {
      const to = positionIn(state.lessons, `?${search}`);
      if (!to || !state.position) return false;
      if (isShown) reveal(to);
      else answers.delete(nameOf(to));
      if (nameOf(to) !== nameOf(state.position)) go({ ...state.position, ...to, present: state.position.present });
      else if (state.moment) page.redraw();
      return true;
    },
    follow({ lesson, moment, isShown, isOver }) {
      const to = { ...state.position, lesson, moment },
        isElsewhere = nameOf(to) !== nameOf(state.position);
      if (isShown) reveal(to);
      if (isElsewhere) {
        load(to);
        host.address.write(searchOf(to), false);
      }
      state.isOver = isOver;
      if (!isElsewhere) page.redraw();
    },
    forget() {
      memory.forget();
      forgetAnswers();
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
