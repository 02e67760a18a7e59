// The surroundings of a moment: which lesson it is of, all lessons, the ways on and out, what one takes away, and the end.
import { write } from "../elements/element.js";
import { makeContents } from "./contents.js";
import { aboutOf } from "./course.js";
import { makeFoot } from "./foot.js";
import { makeHandout } from "./handout.js";
import { pictureOf } from "./momentPicture.js";
import { makeTakeaway } from "./takeaway.js";
import { makeTalkEnd } from "./talkEnd.js";
import { ID } from "./talkList.js";

// `here` are the whereabouts, acts those of makeFoot and makeContents. Returns {ways, foot, over, list(), update(), print(), end()}: list()
// draws the contents alone.
export function makeSurroundings({ box, about }, here, { host, given, memory, moments }, acts) {
  const foot = makeFoot(here, acts),
    contents = makeContents(here, memory, acts),
    takeaway = makeTakeaway({
      title: () => here.entry().name,
      questions: form =>
        here.place.lesson === ID ? host.own.questions(form) : host.questions(here.place.lesson, form),
      print,
    }),
    handout = makeHandout(window, box, each => pictureOf(each)),
    over = makeTalkEnd();
  async function print() {
    handout.print(here.entry().name, await Promise.all(here.places().map(moments.get)));
  }
  return {
    ways: [contents, takeaway].flatMap(({ button, panel }) => [button, panel]),
    foot,
    over: over.element,
    list: contents.update,
    update() {
      write(about, aboutOf(here.entry(), here.lessons));
      contents.update();
      takeaway.button.hidden = here.isFirst();
      over.update(here.isOver ? here.entry().name : "");
      foot.update({ ownSentence: given.ownSentence, prefersWalkthrough: memory.opensWalkthrough });
    },
    print,
    end: handout.end,
  };
}
