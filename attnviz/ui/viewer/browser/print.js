// Printing: every step as a page of its own, without controls.
import { coloursOf } from "./colour.js";
import { element } from "./element.js";
import { drawLesson, lessonAt } from "./lesson.js";
import { lookAt } from "./looks.js";
import { makePicture } from "./picture.js";
import { atStep, focusOf, stepsOf } from "./state.js";
import { makeThread } from "./thread.js";
import { drawStory } from "./told.js";
import { makeTraining } from "./training.js";
import { makeWholePass } from "./wholepass.js";

const INERT = { go: () => {}, point: () => {}, pick: () => {}, onPoint: () => {} };

// Puts the pages into `root` as the browser is about to print, and away afterwards; now() is {pass, where}. Returns what
// ends this.
export function listenToPrinter(window, root, now) {
  const pages = element("div", "pages");
  const before = () => {
    root.append(pages);
    drawPages(pages, now());
  };
  const after = () => {
    pages.replaceChildren();
    pages.remove();
  };
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
    after();
  };
}

function drawPages(pages, { pass, where }) {
  const drawn = stepsOf(pass).map((step) => ({ step, page: element("section", "printed") }));
  const colours = coloursOf(pages, pass.document.palette);
  pages.replaceChildren(...drawn.map(({ page }) => page));
  for (const { step, page } of drawn) {
    const there = { ...where, ...atStep({ ...where, ask: "" }, step), present: false };
    const look = { ...lookAt(pass, there, false), moment: "all", lines: null, shown: () => true, colours };
    const views = [makeTraining, makeThread, makePicture, makeWholePass].map((make) => make(INERT));
    page.append(...drawLesson(lessonAt(pass, there)), drawSaid(pass, there), ...views.map((view) => view.element));
    for (const view of views) view.update(pass, there, look);
  }
}

function drawSaid(pass, where) {
  const { name, index } = focusOf(pass, where);
  if (pass.number(name, index) === undefined) return "";
  const said = element("div", "said");
  said.append(element("strong", "", pass.nameOf(name, index)), drawStory(pass.story(name, index, where.cell), INERT));
  return said;
}
