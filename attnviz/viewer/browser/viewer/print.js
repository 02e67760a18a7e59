// Printing: the sheet, where one looks at it; else every step as a page of its own, without controls, and as further pages where
// its matrices have no room on one.
import { coloursOf } from "../elements/colour.js";
import { element } from "../elements/element.js";
import { drawStepText, stepTextAt } from "../words/stepText.js";
import { lookAt, withPair } from "../scene/looks.js";
import { makePairing } from "../words/pairing.js";
import { makePicture } from "../picture/picture.js";
import { drawSheets } from "./printedSheet.js";
import { atStep, focusOf, isFirst, isOfSheet, stepAt, stepsOf } from "../scene/state.js";
import { makeThread } from "../words/thread.js";
import { drawStory, titleOf } from "../panel/numberStory.js";
import { makeTraining } from "../training/training.js";
import { makeWholePass } from "../map/wholepass.js";

const INERT = { go: () => {}, point: () => {}, pick: () => {}, arrive: () => {}, onPoint: () => {}, set: () => {} };
const A4 = "@page { size: A4 landscape; margin: 10mm; }";

// Puts the pages into `root` as the browser is about to print, and away afterwards; now() is {pass, where}.
// Returns {print(from), end()}: numbers of the sheet may be left out from a band on, for that once.
export function makePrinter(window, root, now) {
  const pages = element("div", "pages");
  const paper = new window.CSSStyleSheet(); // the styles of a shadow tree say nothing of pages
  let isPresented = false,
    from = "";
  paper.replaceSync(A4);
  const before = () => {
    isPresented = root.classList.contains("presenting");
    root.classList.remove("presenting"); // its letters are for a room
    window.document.documentElement.removeAttribute("data-presenting");
    root.append(pages);
    drawPages(pages, now(), from);
    if (pages.querySelector(".of-sheet")) window.document.adoptedStyleSheets.push(paper);
  };
  const after = () => {
    pages.replaceChildren();
    pages.remove();
    window.document.adoptedStyleSheets = window.document.adoptedStyleSheets.filter(each => each !== paper);
    if (isPresented) {
      root.classList.add("presenting");
      window.document.documentElement.setAttribute("data-presenting", "");
    }
    isPresented = false;
    from = "";
  };
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return {
    print: (band = "") => {
      from = band;
      window.print();
    },
    end: () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
      after();
    },
  };
}

function drawPages(pages, { pass, where }, from) {
  const colours = coloursOf(pages, pass.document.palette);
  pages.replaceChildren();
  if (isOfSheet(pass, where)) drawSheets(pages, { pass, where, colours, inert: INERT }, from);
  else drawSteps(pages, { pass, where, colours });
  for (const each of pages.querySelectorAll("section[aria-label]")) each.removeAttribute("aria-label"); // whose name the screen's has
}

function drawSteps(pages, { pass, where, colours }) {
  for (const step of stepsOf(pass)) {
    const place = { ...where, ...atStep(pass, { ...where, ask: "" }, step), view: "matrices", present: false };
    const look = withPair(
      { ...lookAt(pass, place, false), reveal: "all", lines: null, shown: () => true, colours },
      pass,
      place,
      () => () => true,
    );
    drawStep(columnsOf(stepAt(pass, place)), (columns, isFurther) => {
      const page = element("section", "printed");
      pages.append(page);
      drawPage(page, { pass, where: place, look, columns, isFurther });
      return page;
    });
  }
}

// Each page has as many columns of matrices as it has room for with digits. Matrices that have none even alone are on one.
function drawStep(columns, draw) {
  const made = [];
  let from = 0;
  do {
    let to = columns.length,
      page = draw(columns.slice(from), from > 0);
    while (isUnwritten(page) && to - from > 1) {
      page.remove();
      to -= 1;
      page = draw(columns.slice(from, to), from > 0);
    }
    made.push(page);
    from = to;
  } while (from < columns.length);
  if (made.length === 1 || !made.some(isUnwritten)) return;
  for (const page of made) page.remove();
  draw(columns, false);
}

function isUnwritten(page) {
  return Boolean(page.querySelector(".unwritten"));
}

// The columns of a step's pictures, as [picture, column].
function columnsOf({ pictures }) {
  return pictures.flatMap(({ grid }, picture) => grid[0].map((_, column) => [picture, column]));
}

function partOf({ pictures }, columns) {
  const parts = pictures.map((picture, place) => {
    const ofPicture = columns.filter(([of]) => of === place);
    return {
      ...picture,
      grid: picture.grid.map(row => ofPicture.map(([, column]) => row[column])).filter(row => row.some(Boolean)),
    };
  });
  return parts.filter(({ grid }) => grid.length);
}

function drawPage(page, { pass, where, look, columns, isFurther }) {
  const text = drawStepText(stepTextAt(pass, where)),
    picture = makePicture(INERT);
  const views = isFurther
    ? []
    : [...(isFirst(pass, where) ? [makeTraining] : []), makePairing, makeThread, makeWholePass].map(make =>
        make(INERT),
      );
  page.append(
    ...(isFurther ? [text[0]] : [...text, drawFocus(pass, where, look)]),
    ...views.map(view => view.element),
    picture.element,
  );
  for (const view of views) view.update(pass, where, look);
  picture.update(pass, where, look, partOf(stepAt(pass, where), columns));
  for (const view of views) view.connect?.(); // where all stands
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function drawFocus(pass, where, look) {
  const focus = focusOf(pass, where),
    { name, index } = focus;
  if (pass.number(name, index) === undefined) return "";
  const line = element("div", "said");
  line.append(element("strong", "", titleOf(pass, look, focus)), drawStory(pass.story(name, index, where.cell), INERT));
  return line;
}
