// Printing: every step as a page of its own, without controls.
import { element } from "./element.js";
import { drawLesson, lessonAt } from "./lesson.js";
import { lookAt } from "./looks.js";
import { makePicture } from "./picture.js";
import { atStep, focusOf } from "./state.js";
import { drawStory } from "./told.js";

const INERT = { point: () => {}, pick: () => {}, onPoint: () => {} };

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
  const drawn = pass.document.steps.map((step) => ({ step, page: element("section", "printed"), picture: makePicture(INERT) }));
  pages.replaceChildren(...drawn.map(({ page }) => page));
  for (const { step, page, picture } of drawn) {
    const there = { ...where, ...atStep({ ...where, ask: "" }, step.id), present: false };
    page.append(...drawLesson(lessonAt(pass, there)), drawSaid(pass, there), picture.element);
    picture.update(pass, there, { ...lookAt(pass, there, false), moment: "all", lines: null, shown: () => true });
  }
}

function drawSaid(pass, where) {
  const { name, index } = focusOf(pass, where);
  if (pass.number(name, index) === undefined) return "";
  const said = element("div", "said");
  said.append(element("strong", "", pass.nameOf(name, index)), drawStory(pass.story(name, index, where.cell), INERT));
  return said;
}
