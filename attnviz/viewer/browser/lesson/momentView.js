// A moment: its text, question and picture, fitted to the screen.
import { button, element, redraw } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { makeQuestion, verdictOn } from "./question.js";
import { readPass } from "../model/pass.js";
import { makeGlossary } from "../views/glossary.js";
import { makeMomentPicture } from "./momentPicture.js";

// `numbers` is {point(link), open(link)}: what pointing at a number and pressing it do; point(null) as that ends.
export function drawSentence(runs, numbers, tag = "p", className = "") {
  const line = element(tag, className);
  line.append(
    ...runs.flatMap(([style, text]) => (style === "number" ? [drawNumber(text, numbers)] : drawRuns([[style, text]]))),
  );
  for (const each of line.querySelectorAll(".number, math")) keepTogether(each);
  return line;
}

// A bracket or a root before a number or a symbol, what it is equal to, and what ends a phrase after it, stay in its line.
function keepTogether(number) {
  const unbroken = element("span", "unbroken"),
    [before, after] = [number.previousSibling, number.nextSibling].map(each =>
      each?.matches("span:not([class])") ? each.firstChild : null,
    ),
    [opens] = before?.data.match(/[^\s\w]*$/) ?? [""],
    [closes] = after?.data.match(/^(?:\s=\s\d+)?[^\s\w]*/) ?? [""];
  if (!opens && !closes) return;
  if (before) before.data = before.data.slice(0, before.length - opens.length);
  if (after) after.data = after.data.slice(closes.length);
  number.replaceWith(unbroken);
  unbroken.append(opens, number, closes);
}

function drawNumber(link, numbers) {
  const made = button(link.text, () => numbers.open(link), "link number");
  made.onpointerenter = made.onfocus = () => numbers.point(link);
  made.onpointerleave = made.onblur = () => numbers.point(null);
  return made;
}

const NO_HARM = "No wrong click: you see at once what it does, and every number behind it.";

// Whether there is more to show than what is asked.
export function hasMore({ question, after, ending }) {
  return Boolean(question || after.length || ending);
}

// acts: {numbers, show(), forget(), scoreOf(lesson)}: numbers as drawSentence takes them; show() shows the answer, forget() makes this
// browser forget what was answered. Returns {draw(moment, at)}, the elements of what is said; at: {lesson, present, answer,
// isShown, areWordsAlone, question}, of which the last is the element of its question.
function makeMomentText({ numbers, show, forget, scoreOf }) {
  const boxes = new WeakMap(), // of what is written in one's own words: {moment: box}, as long as the page is open
    verdict = element("div", "verdict");
  verdict.setAttribute("role", "status");

  function drawVerdict({ question, after }, { answer, isShown }) {
    if (!isShown || !question) return [];
    const { isRight, sentences } = verdictOn(question, answer, after);
    verdict.className = `verdict ${isRight === null ? "" : isRight ? "right" : "wrong"}`;
    return sentences.map(runs => drawSentence(runs, numbers));
  }
  function boxOf(moment) {
    if (!boxes.has(moment)) {
      const box = element("textarea", "own-words");
      box.setAttribute("aria-label", "In your own words");
      box.placeholder = "In your own words. Kept nowhere.";
      box.rows = 4;
      boxes.set(moment, box);
    }
    return boxes.get(moment);
  }
  function drawEnding(ownWords, { explain, answer }, { lesson, present, isShown }) {
    const { right, asked } = scoreOf(lesson);
    return [
      drawSentence(explain, numbers, "p", "prompt"),
      ...(present ? [] : [ownWords]),
      ...(isShown
        ? [drawSentence(answer, numbers, "div", "verdict shown")]
        : [button("Compare with an answer", show, "check beside-own")]),
      ...(asked
        ? [
            element("p", "score", `You predicted ${right} of ${asked} in this lesson.`),
            button("Forget my answers", forget, "link"),
          ]
        : []),
    ];
  }
  return {
    draw(moment, at) {
      const { title, text, after, ending, question } = moment;
      verdict.replaceChildren(...drawVerdict(moment, at));
      return [
        ...(title ? [element("h2", "", title)] : []),
        at.areWordsAlone
          ? drawSentence([...text, ["", " "], ...promptOf(moment)], numbers)
          : drawSentence(text, numbers, "p", "text"),
        ...(at.areWordsAlone && !areWordsAsked(moment) ? [drawWords(moment)] : []),
        ...(question
          ? [...(at.areWordsAlone ? [] : [drawSentence(question.prompt, numbers, "p", "prompt")]), at.question]
          : []),
        ...(at.areWordsAlone ? [element("p", "note", NO_HARM)] : []),
        verdict,
        ...(at.isShown && after.length && !question ? [drawSentence(after, numbers)] : []),
        ...(ending ? drawEnding(boxOf(moment), ending, at) : []),
      ];
    },
  };
}

function promptOf({ question }) {
  return question
    ? question.prompt.map(([style, text]) => (style === "number" ? [style, text] : ["strong", text]))
    : [];
}

// Whether one answers by a word: then the words of the sentence are the answers.
function areWordsAsked({ question }) {
  return question?.candidates?.some(({ word }) => word !== undefined) ?? false;
}

function drawWords({ document: { words } }) {
  const line = element("p", "sentence-alone");
  line.append(...words.query.flatMap((word, place) => [...(place ? [" "] : []), element("span", "", word)]));
  return line;
}

const LARGEST = 1.12,
  LARGEST_OF_4K = 1.5,
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters
const WINDOW_OF_4K = "(min-width: 2304px) and (min-height: 1251px)"; // as in scene/present.js

// Where they can't become small enough, the box is marked as `over`, and once the answer is shown what was read before it goes
// (lesson.css). In a talk no letter is smaller than those of the page.
function fitText(box, isPresented) {
  const isOver = () => box.scrollHeight > box.clientHeight + 1;
  box.classList.remove("over");
  const largest = !isPresented && globalThis.matchMedia(WINDOW_OF_4K).matches ? LARGEST_OF_4K : LARGEST;
  for (let size = largest; size >= (isPresented ? 1 : SMALLEST) - 1e-9; size -= STEP) {
    box.style.setProperty("--said", `${size.toFixed(2)}rem`);
    if (!isOver()) return;
  }
  box.classList.add("over");
}

// The frame is that of the page, `here` are the whereabouts. acts: {show(answer), answered(clicked), forget(), arrive(place)}. Returns
// {picture, glossary, pass, update(), end()}.
export function makeMomentView({ box, body, textBox }, here, scoreOf, { show, answered, forget, arrive }) {
  const { state, areWordsAlone, isDone } = here,
    picture = makeMomentPicture(answered),
    texts = makeMomentText({ numbers: picture, show: () => show(null), forget, scoreOf }),
    glossary = makeGlossary(box, ".lesson-said p"),
    fit = () => fitText(textBox, here.place.present && !here.place.speaker), // a speaker's own window is near
    observer = new ResizeObserver(fit);
  let asking = null, // the moment whose question that is
    question = null,
    pass = null;
  observer.observe(body);

  function drawText() {
    if (asking !== here.moment) question = here.moment.question && makeQuestion(here.moment.question, show);
    asking = here.moment;
    question?.element.remove();
    textBox.classList.toggle("answered", state().isShown);
    const at = { ...here.place, ...state(), areWordsAlone: areWordsAlone(), question: question?.element };
    redraw(textBox, texts.draw(here.moment, at));
    question?.update(state());
    box.classList.toggle("says-nothing", !textBox.textContent.trim());
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    if (pass?.document !== here.moment.document) pass = readPass(here.moment.document);
    const { cell } = here.moment.document.where;
    glossary.update(pass, { cell, present: here.place.present || areWordsAlone() }, { tellsNumbers: isDone() });
  }
  function drawFailure() {
    const again = button("Try again", () => arrive({ ...here.place }));
    textBox.replaceChildren(element("p", "", `This moment didn’t come: ${here.failure}`), again);
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
