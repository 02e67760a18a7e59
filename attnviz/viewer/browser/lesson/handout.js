// The handout of a lesson: three moments on each printed page, with their pictures and lines to write on.
import { h, onPrint } from "../dom/element.js";
import { drawMoment } from "./momentText.js";
import { readPass } from "../model/pass.js";
import { short } from "../model/numeral.js";
import { drawGiven } from "./given.js";
import { pictureOf } from "./momentPicture.js";

const A4 = "@page { size: A4 portrait; margin: 12mm; }";
const ON_A_PAGE = 3;
const LARGEST = 8.5,
  SMALLEST = 6,
  STEP = 0.25; // in points

// Goes into `root` when the browser prints, and away afterwards. Returns {print(title, moments, hasAnswers), end()}.
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
    print(title, moments, hasAnswers = true) {
      request = { title, moments, hasAnswers };
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

const MOST_COLUMNS = 8, // of a table in a picture of this size, or its numbers are too small to read
  BESIDE = 7, // numbers beside their name
  MADE_OF = { attention: "scaled", probabilities: "logits" };

// The rows that a question needs replace its picture. A table of many words gives its place to the row with the answer, in larger letters.
function enlarge(frame, moment, hasAnswers) {
  const { question, given } = moment,
    columns = frame.querySelectorAll(".sheet tr.names > th").length,
    hasScores = frame.querySelector(".score-pictures")?.checkVisibility();
  if (!question || moment.document?.other) return; // a pair has two rows beside each other
  if (given.length) frame.replaceChildren(h("div", { class: "large-rows" }, drawGiven(given, BESIDE)));
  else if (hasAnswers && columns > MOST_COLUMNS && hasScores) {
    const rows = answerRows(moment);
    frame.classList.toggle("of-one-row", rows.length > 0);
    if (rows.length) frame.append(h("div", { class: "large-rows" }, drawGiven(rows, BESIDE)));
  }
}

// The row with the answer, and the one that it is made of, as GivenRow.
function answerRows({ document, answerCell }) {
  const pass = document && answerCell && readPass(document),
    cell = pass?.read(answerCell);
  if (!cell) return [];
  const labels = pass.stages.get(cell.name).axes.at(-1)?.labels ?? [],
    [base, ...layer] = cell.name.split("_"),
    names = [[MADE_OF[base], ...layer].join("_"), cell.name].filter(name => pass.stages.has(name));
  return names.map(name => ({
    name: pass.stages.get(name).title,
    labels,
    texts: [...pass.row(name, cell.index)].map(short),
    along: "",
  }));
}

// Draws all pages and returns their pictures, which are laid out at screen size and scaled down by lesson.css.
function drawPages(pages, { title, moments, hasAnswers }) {
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
      frame = h("div", { class: "frame" }, h("div", { class: "shown" }, pictures[index].element)),
      heading = `${index + 1}. ${moment.title}`.trim(),
      isCovered = !hasAnswers && moment.question !== null;
    textBox.append(...drawMoment(onPaper(moment), "paper", { title: heading, isShown: hasAnswers }), lines);
    pages.lastChild.append(h("article", {}, frame, textBox));
    pictures[index].show(moment, { isCovered, isPresented: false });
    enlarge(frame, moment, hasAnswers);
    if (frame.classList.contains("of-one-row")) pictures[index].show(moment, { isCovered, isPresented: false });
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
