// Tellings: what a speaker's own window, and a class, are told of where one is.
import { searchOf } from "./course.js";
import { ID } from "./talkList.js";

// `here` are the whereabouts, desk what the speaker of a class has, null where there can be none; isBlank() says whether nothing
// is on the screen. Returns {speaker(), people()}.
export function makeTellings(here, { mine, moments, windows, desk, view, isBlank }) {
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
      desk?.shows({
        at: isOwn ? moment.at : searchOf({ ...place, present: false }).slice(1),
        moment: isOwn ? mine.momentAt(place) : null,
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
