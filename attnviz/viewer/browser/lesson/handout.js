// The handout of a lesson: three moments on each printed page, with their pictures and lines to write on.
import { h, onPrint } from "../dom/element.js";
import { drawMoment } from "./momentText.js";
import { pictureOf } from "./momentPicture.js";

const A4 = "@page { size: A4 portrait; margin: 12mm; }";
const ON_A_PAGE = 3;
const LARGEST = 8.5,
  SMALLEST = 6,
  STEP = 0.25; // in points

// Goes into `root` when the browser prints, and away afterwards. Returns {print(title, moments), end()}.
export function makeHandout(window, root) {
  const pages = h("div", { class: "pages handout" });
  let request = null,
    pictures = /** @type {any[]} */ ([]);
  const before = () => {
    if (!request) return false;
    root.append(pages);
    pictures = drawPages(pages, request);
    return true;
  };
  const after = () => {
    for (const each of pictures) each.leave();
    pictures = [];
    request = null;
    pages.replaceChildren();
    pages.remove();
  };
  const end = onPrint(window, A4, before, after);
  return {
    print(title, moments) {
      request = { title, moments };
      window.print();
    },
    end,
  };
}

const FOR_SCREENS = / ?\b(?:Click|Drag|Tap|Press)\b[^.?!]*[.?!]/g; // as in export.py

// A moment whose question has no sentence as “Click it.”
const onPaper = moment =>
  moment.question
    ? {
        ...moment,
        question: {
          ...moment.question,
          prompt: moment.question.prompt.map(([style, text]) => [style, style ? text : text.replace(FOR_SCREENS, "")]),
        },
      }
    : moment;

// Draws all pages and returns their pictures, which are laid out at screen size and scaled down by lesson.css.
function drawPages(pages, { title, moments }) {
  const count = Math.ceil(moments.length / ON_A_PAGE),
    pictures = moments.map(moment => pictureOf(moment));
  pages.replaceChildren();
  for (const [index, moment] of moments.entries()) {
    if (index % ON_A_PAGE === 0) {
      const number = `Page ${index / ON_A_PAGE + 1} of ${count}`;
      pages.append(h("section", { class: "three" }, h("header", {}, h("strong", {}, title), h("span", {}, number))));
    }
    const lines = h("div", { class: "lines" }),
      textBox = h("div", { class: "said" }),
      shown = h("div", { class: "shown" }, pictures[index].element);
    textBox.append(...drawMoment(onPaper(moment), "paper", { title: `${index + 1}. ${moment.title}`.trim() }), lines);
    pages.lastChild.append(h("article", {}, h("div", { class: "frame" }, shown), textBox));
    pictures[index].show(moment, false, false);
    fitText(textBox);
  }
  pages.classList.add("drawn");
  return pictures;
}

// Shrinks a long text to leave lines to write on.
function fitText(textBox) {
  for (let size = LARGEST; size >= SMALLEST; size -= STEP) {
    textBox.style.fontSize = `${size}pt`;
    if (textBox.scrollHeight <= textBox.clientHeight) return;
  }
}
