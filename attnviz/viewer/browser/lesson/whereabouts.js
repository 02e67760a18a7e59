// Whereabouts: where one is in the course, the moment that is there, what was shown of it, and what comes before and after.
import { answeredIn } from "./answered.js";
import { placeBeside } from "./course.js";
import { hasMore } from "./momentText.js";
import { ID } from "./talkList.js";

// `mine` is the talk of one's own, where there can be one; has(place) says whether a place is on this page. Returns {place,
// moment}, which are set by who goes there, and what follows from them.
export function makeWhereabouts(lessons, mine, has) {
  const own = () => mine?.entry() ?? null,
    course = () => (own() ? [...lessons, own()] : lessons),
    nameOf = at => (at.lesson === ID ? JSON.stringify(mine.momentAt(at)) : `${at.lesson} ${at.moment}`),
    entry = () => course().find(({ id }) => id === here.place.lesson),
    beside = by => placeBeside(course(), here.place, by),
    places = () => Array.from({ length: entry().nMoments }, (_, nth) => ({ ...here.place, moment: nth + 1 })),
    state = () => answeredIn(nameOf(here.place));
  const here = {
    place: null,
    moment: null,
    own,
    course,
    nameOf,
    entry,
    beside,
    places,
    state,
    isAt: ({ lesson, moment }) => here.place !== null && lesson === here.place.lesson && moment === here.place.moment,
    // What is needed soon: of a talk of one's own that is given, all that is left, so that it goes on without a server.
    soon: () => {
      const next = beside(1);
      if (here.place.present && entry().isOwn) return places().slice(here.place.moment);
      return next && has(next) ? [next] : [];
    },
    isDone: () => Boolean(here.moment) && (state().isShown || !hasMore(here.moment)),
    areWordsAlone: () => Boolean(here.moment?.saysWordsAlone) && !state().isShown,
  };
  return here;
}
