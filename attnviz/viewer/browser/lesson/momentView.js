// The view of a moment: its text, its question, its picture, and the terms in it that are explained.
import { button } from "../elements/button.js";
import { element, redraw } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { makeGlossary } from "../words/glossary.js";
import { fitText } from "./fitText.js";
import { makeMomentPicture } from "./momentPicture.js";
import { makeMomentText } from "./momentText.js";
import { makeQuestion } from "./question.js";

// The frame is that of the page, `here` are the whereabouts. acts: {show(answer), answered(clicked), forget(), arrive(place)}. Returns
// {picture, glossary, pass, update(), end()}.
export function makeMomentView({ box, body, said }, here, scoreOf, { show, answered, forget, arrive }) {
  const { state, areWordsAlone, isDone } = here,
    picture = makeMomentPicture(answered),
    texts = makeMomentText({ numbers: picture, show: () => show(null), forget, scoreOf }),
    glossary = makeGlossary(box, ".lesson-said p"),
    fit = () => fitText(said, here.place.present && !here.place.speaker), // a speaker's own window is near
    observer = new ResizeObserver(fit);
  let asking = null, // the moment whose question that is
    question = null,
    pass = null;
  observer.observe(body);

  function drawText() {
    if (asking !== here.moment) question = here.moment.question && makeQuestion(here.moment.question, show);
    asking = here.moment;
    question?.element.remove();
    said.classList.toggle("answered", state().isShown);
    const at = { ...here.place, ...state(), areWordsAlone: areWordsAlone(), question: question?.element };
    redraw(said, texts.draw(here.moment, at));
    question?.update(state());
    box.classList.toggle("says-nothing", !said.textContent.trim());
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    if (pass?.document !== here.moment.document) pass = readPass(here.moment.document);
    const { cell } = here.moment.document.where;
    glossary.update(pass, { cell, present: here.place.present || areWordsAlone() }, { tellsNumbers: isDone() });
  }
  function drawFailure() {
    const again = button("Try again", () => arrive({ ...here.place }));
    said.replaceChildren(element("p", "", `This moment didn’t come: ${here.failure}`), again);
    picture.clear();
  }
  return {
    picture,
    glossary,
    get pass() {
      return pass;
    },
    update() {
      box.classList.toggle("words-alone", areWordsAlone());
      if (!here.moment) return drawFailure();
      drawText();
      if (areWordsAlone()) picture.clear();
      else picture.show(here.moment, !state().isShown, here.place.present);
      fit();
      explainTerms();
    },
    end() {
      observer.disconnect();
      glossary.end();
      picture.leave();
    },
  };
}
