// Whereabouts: where one is in the course, the moment that is there, what was shown of it, and what comes before and after.
import { answeredIn } from "./answered.js";
import { placeBeside, placeIn } from "./course.js";
import { hasMore } from "./momentText.js";
import { ID } from "./talkList.js";

// `mine` is the talk of one's own, where there can be one; has(place) says whether a place is on this page. Returns {place, moment,
// failure, isOver}, which are set by who goes there, and what follows from them: why there is no moment; whether one has gone on from
// the last of a talk.
export function makeWhereabouts(lessons, mine, has) {
  const own = () => mine?.entry() ?? null,
    course = () => (own() ? [...lessons, own()] : lessons),
    nameOf = at => (at.lesson === ID ? JSON.stringify(mine.momentAt(at)) : `${at.lesson} ${at.moment}`),
    entry = () => course().find(({ id }) => id === here.place.lesson),
    beside = by => placeBeside(course(), here.place, by),
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
    own,
    course,
    nameOf,
    entry,
    beside,
    places,
    state,
    areWordsAlone,
    placeOf: search => (search ? placeIn(course(), search) : null),
    isAt: ({ lesson, moment }) => here.place !== null && lesson === here.place.lesson && moment === here.place.moment,
    // The moments that are needed soon: of a talk of one's own that is given, all that is left, so that it goes on without a server.
    soon: () => {
      const next = beside(1);
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
    isFirst: () => areWordsAlone() && entry() === lessons[0], // a first visit is a question, and little else
    isTalk: () => entry().isOwn || lessons.length === 1, // which the page of one alone is of
  };
  return here;
}
