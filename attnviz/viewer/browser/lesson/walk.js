// Walking through the moments of a lesson: where one is, what was answered, and the way on and back.
import { ID, heardOf, placeBeside, placeIn, searchOf } from "./course.js";
import { hasMore } from "./momentView.js";
import { candidateAt, verdictOn } from "./question.js";

const NOTHING = { answer: null, isShown: false };
const states = new Map(); // by the moment's name; lasts as long as the page

/** @returns {{answer: any, isShown: boolean}} */
function answeredIn(name) {
  return states.get(name) ?? NOTHING;
}

// `answer` is null if the answer was shown without one.
function storeAnswer(name, answer) {
  states.set(name, { answer, isShown: true });
}

// Hides an answer again.
function hideAnswer(name) {
  states.delete(name);
}

export function forgetAnswers() {
  states.clear();
}

// `talk` is the dock of the user's talk, null where there can be none; has(place) says whether a place is on this page. Returns {place, moment,
// failure, isOver}, which are set by who goes there, and what follows from them: why there is no moment; whether one has gone on from
// the last of a talk.
export function makeWhereabouts(lessons, talk, has) {
  const talkEntry = () => talk?.entry() ?? null,
    course = () => (talkEntry() ? [...lessons, talkEntry()] : lessons),
    nameOf = at => (at.lesson === ID ? JSON.stringify(talk.momentAt(at)) : `${at.lesson} ${at.moment}`),
    entry = () => course().find(({ id }) => id === here.place.lesson),
    neighbour = by => placeBeside(course(), here.place, by),
    places = () => Array.from({ length: entry().nMoments }, (_, nth) => ({ ...here.place, moment: nth + 1 })),
    state = () => answeredIn(nameOf(here.place)),
    areWordsAlone = () => Boolean(here.moment?.saysWordsAlone) && !state().isShown;
  const here = {
    place: null,
    moment: null,
    failure: "",
    isOver: false,
    lessons,
    first: { lesson: lessons[0].id, moment: 1, present: false },
    own: talkEntry,
    course,
    nameOf,
    entry,
    beside: neighbour,
    places,
    state,
    areWordsAlone,
    placeOf: search => (search ? placeIn(course(), search) : null),
    isAt: ({ lesson, moment }) => here.place !== null && lesson === here.place.lesson && moment === here.place.moment,
    // The moments to prefetch: the rest of a talk that is being presented, so that it needs no server; else the next one.
    soon: () => {
      const next = neighbour(1);
      if (here.place.present && entry().isOwn) return places().slice(here.place.moment);
      return next && has(next) ? [next] : [];
    },
    isDone: () => Boolean(here.moment) && (state().isShown || !hasMore(here.moment)),
    now: () => ({
      lesson: here.place.lesson,
      moment: here.place.moment,
      isShown: state().isShown,
      isOver: here.isOver,
    }),
    isFirst: () => areWordsAlone() && entry() === lessons[0], // a first visit shows a question and little else
    isTalk: () => entry().isOwn || lessons.length === 1, // which the page of one alone is of
  };
  return here;
}

// `here` are the whereabouts, which it alone changes, host and frame those of the page. page: {present(is), update(), redraw(), sync()}: a
// talk begins or ends; what is shown becomes another, after a press, too; and the other window of a talk follows.
export function makeWalk(here, frame, { host, memory, moments }, page) {
  const { nameOf, beside, state } = here;

  // What a presenter remote does: show the answer, then go on.
  function press() {
    if (!here.moment) return true;
    if (!here.isDone()) show(null);
    else {
      const next = beside(1);
      if (next) go(next);
      else if (here.place.present) end(true);
    }
    return true;
  }
  function back() {
    const before = beside(-1);
    if (here.isOver) end(false);
    else if (before) go(before);
    return true;
  }
  function end(is) {
    here.isOver = is;
    page.update();
    page.sync();
  }
  function show(answer) {
    if (state().isShown) return;
    storeAnswer(nameOf(here.place), answer);
    page.sync();
    if (answer !== null && here.place.lesson !== ID)
      memory.predicted(here.place, verdictOn(here.moment.question, answer).isRight);
    page.redraw();
    frame.bringVerdict();
  }
  // Shown in the other window.
  function uncover(to) {
    if (!answeredIn(nameOf(to)).isShown) storeAnswer(nameOf(to), null);
  }
  function go(to) {
    if (!host.has(to)) {
      window.location.assign(host.hrefTo(to));
      return true;
    }
    const isLeft = here.place?.present && !to.present,
      isOtherLesson = here.place !== null && to.lesson !== here.place.lesson;
    arrive(to);
    host.address.write(searchOf(to), isOtherLesson);
    memory.at(to);
    page.sync();
    if (isLeft) host.onLeave?.();
    return true;
  }
  async function arrive(to) {
    const isThere = here.isAt(to) && here.moment !== null;
    here.place = to;
    here.isOver = false;
    page.present(to.present);
    if (isThere) return page.update();
    here.failure = "";
    try {
      const moment = await frame.whileLate(moments.get(to));
      if (!here.isAt(to)) return; // the user has moved on meanwhile
      here.moment = moment;
      moments.ahead(here.soon());
    } catch (error) {
      if (here.place !== to) return;
      here.moment = null;
      here.failure = error instanceof TypeError ? "the server doesn’t answer." : error.message;
    }
    page.update();
    frame.begin();
    frame.announce(heardOf(here.entry(), here.place, here.moment));
  }
  return {
    press,
    back,
    show,
    go,
    arrive,
    goTo: moment => go({ ...here.place, moment }),
    present: present => go({ ...here.place, present }),
    // Where to start: where a talk was interrupted, where the address leads, or the last visit.
    start() {
      const linked = here.placeOf(host.address.read()),
        resumed =
          here.placeOf(host.resumeSearch?.()) ?? (linked ? null : memory.last && here.placeOf(searchOf(memory.last)));
      if (resumed) host.address.write(searchOf(resumed), false);
      return resumed ?? linked ?? here.first;
    },
    // A click in the picture may be an answer.
    answered(clicked) {
      if (!here.moment.question || state().isShown) return false;
      const candidate = candidateAt(here.moment.question, clicked);
      if (candidate >= 0) show(candidate);
      return candidate >= 0;
    },
    // Opens a scene in the walkthrough. A talk can be resumed from there.
    open(address) {
      if (address && here.place.present) host.pause?.(here.place, beside(1));
      if (!address) memory.opensWalkthrough = true;
      return host.open(address, here.place);
    },
    // Follows the speaker's other device.
    lead(at, isShown) {
      const to = placeIn(here.lessons, `?${at}`);
      if (!to || !here.place) return false;
      if (isShown) uncover(to);
      else hideAnswer(nameOf(to));
      if (nameOf(to) !== nameOf(here.place)) go({ ...here.place, ...to, present: here.place.present });
      else if (here.moment) page.redraw();
      return true;
    },
    // Follows the other window of a talk.
    follow({ lesson, moment, isShown, isOver }) {
      const to = { ...here.place, lesson, moment },
        isElsewhere = nameOf(to) !== nameOf(here.place);
      if (isShown) uncover(to);
      if (isElsewhere) {
        arrive(to);
        host.address.write(searchOf(to), false);
      }
      here.isOver = isOver;
      if (!isElsewhere) page.redraw();
    },
    forget() {
      memory.forget();
      forgetAnswers();
      page.redraw();
    },
    // The user's talk has changed.
    reread() {
      const talkEntry = here.own();
      here.moment = null;
      arrive(talkEntry ? { ...here.place, moment: Math.min(here.place.moment, talkEntry.nMoments) } : here.first);
    },
  };
}
