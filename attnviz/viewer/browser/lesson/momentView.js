// A moment: its text, question and picture, fitted to the screen.
import { button, h, present, redraw } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { addGuessArc, drawWelcome, makeOwnSentence } from "./firstScreen.js";
import { makeQuestion, plainText, verdictOn } from "./question.js";
import { readPass } from "../model/pass.js";
import { makeGlossary } from "../views/glossary.js";
import { makeMomentPicture } from "./momentPicture.js";

// `numbers` is {point(link), open(link)}: what pointing at a number and pressing it do; point(null) as that ends.
export function drawSentence(runs, numbers, tag = "p", className = "") {
  const draw = ([style, text]) => (style === "number" ? [drawNumber(text, numbers)] : drawRuns([[style, text]])),
    line = h(tag, { class: className }, runs.flatMap(draw));
  for (const each of line.querySelectorAll(".number, math")) keepTogether(each);
  return line;
}

// A bracket or a root before a number or a symbol, what it is equal to, and what ends a phrase after it, stay in its line.
function keepTogether(number) {
  const textOf = each => (each?.matches("span:not([class])") ? each.firstChild : null),
    [before, after] = [textOf(number.previousSibling), textOf(number.nextSibling)],
    [opens] = before?.data.match(/[^\s\w]*$/) ?? [""],
    [closes] = after?.data.match(/^(?:\s=\s\d+)?[^\s\w]*/) ?? [""];
  if (!opens && !closes) return;
  if (before) before.data = before.data.slice(0, before.length - opens.length);
  if (after) after.data = after.data.slice(closes.length);
  const unbroken = h("span", { class: "unbroken" });
  number.replaceWith(unbroken);
  unbroken.append(opens, number, closes);
}

function drawNumber(link, numbers) {
  const made = button(link.text, () => numbers.open(link), "link number");
  made.onpointerenter = made.onfocus = () => numbers.point(link);
  made.onpointerleave = made.onblur = () => numbers.point(null);
  return made;
}

const INERT = { point: () => {}, open: () => {} };

// What is said in a moment, as elements. mode: "page" (a lesson on a screen), "phone" (in a class) or "paper" (the handout, which shows
// every answer). Parts: title, isShown (whether the answer is), isWordsAlone (a first screen of a sentence and its question), numbers
// (as drawSentence takes them), and elements: question, verdict, own (the user's own words and what belongs to them).
export function drawMoment(moment, mode, parts) {
  const { text, after, question, ending } = moment,
    { title = moment.title, isShown = mode === "paper", isWordsAlone = false, numbers = INERT } = parts,
    sentence = (runs, name = "", tag = "p") => runs.length > 0 && drawSentence(runs, numbers, tag, name),
    hasAfter = isShown && !question;
  if (mode === "paper") {
    const verdict = question ? [question.prompt, ...verdictOn(question, null, after).sentences] : [after];
    return [h("h2", {}, title), ...present([text, ...verdict, ending?.explain ?? []].map(runs => sentence(runs)))];
  }
  return [
    parts.ownSentence && drawWelcome(),
    title && h("h2", {}, title),
    isWordsAlone ? sentence([...text, ["", " "], ...boldPrompt(question)]) : sentence(text, "text"),
    isWordsAlone && !hasWordAnswers(question) && drawWords(moment.document.words.query),
    question && !isWordsAlone && sentence(question.prompt, "prompt"),
    question && parts.question,
    isWordsAlone && h("p", { class: "note" }, NO_HARM),
    parts.ownSentence,
    (mode === "page" || question) && parts.verdict,
    hasAfter && sentence(after),
    ...(ending ? [sentence(ending.explain, "prompt"), parts.own] : []),
    ending && isShown && sentence(ending.answer, "verdict shown", "div"),
    ...(ending ? (parts.end ?? []) : []),
  ];
}

export const lineOf = ({ title, text, question }) =>
  [title, plainText(text), question && plainText(question.prompt)].filter(Boolean).join(" – ").slice(0, 200);

const NO_HARM = "Any guess will do. You’ll see the answer at once, with every number behind it.";

const boldPrompt = question =>
  (question?.prompt ?? []).map(([style, text]) => (style === "number" ? [style, text] : ["strong", text]));

const hasWordAnswers = question => question?.candidates?.some(({ word }) => word !== undefined) ?? false;

const drawWords = words =>
  h("p", { class: "sentence-alone" }, ...words.flatMap((word, i) => [i > 0 && " ", h("span", {}, word)]));

export const hasMore = ({ question, after, ending }) => Boolean(question || after.length || ending);

// The text of a lesson's moment: show() shows the answer, forget() deletes the stored answers.
function makeMomentText({ numbers, show, forget, scoreOf }) {
  const boxes = new WeakMap(), // moment -> the box for the user's own words, which lasts as long as the page
    verdict = h("div", { class: "verdict", role: "status" });
  function drawVerdict({ question, after }, { answer, isShown }) {
    if (!isShown || !question) return [];
    const { isRight, sentences } = verdictOn(question, answer, after);
    verdict.className = `verdict ${isRight === null ? "" : isRight ? "right" : "wrong"}`;
    return sentences.map(runs => drawSentence(runs, numbers));
  }
  function ownWordsIn(moment) {
    if (!boxes.has(moment)) {
      const box = h("textarea", { class: "own-words", placeholder: "In your own words (not saved).", rows: 4 });
      box.setAttribute("aria-label", "In your own words");
      boxes.set(moment, box);
    }
    return boxes.get(moment);
  }
  return {
    draw(moment, at) {
      verdict.replaceChildren(...drawVerdict(moment, at));
      const { right, asked } = scoreOf(at.lesson),
        compare = moment.ending && !at.isShown && button("Compare with an answer", show, "check beside-own"),
        score = asked > 0 && h("p", { class: "score" }, `You predicted ${right} of ${asked} in this lesson.`),
        end = [compare, score, asked > 0 && button("Forget my answers", forget, "link")],
        own = moment.ending && !at.present && ownWordsIn(moment);
      return drawMoment(moment, "page", { ...at, numbers, verdict, own, end });
    },
  };
}

const LARGEST = 1.12,
  LARGEST_OF_4K = 1.5,
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters
const WINDOW_OF_4K = "(min-width: 2304px) and (min-height: 1251px)"; // as in model/present.js

// If the letters can't become small enough, the box is marked as `over`, and once the answer is shown the text before it goes
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

// frame: that of the page (lessons.js); state: makeLessonState's; actions: {show(answer), answerClick(clicked), forget(), load(position),
// open(address)}; ownAddress: that of the user's own sentence in the walkthrough, "" where none can be computed.
export function makeMomentView({ box, body, textBox }, state, scoreOf, actions, ownAddress) {
  const { show, answerClick, forget, load, open } = actions,
    ownSentence = ownAddress && makeOwnSentence(ownAddress, open),
    picture = makeMomentPicture(answerClick),
    texts = makeMomentText({ numbers: picture, show: () => show(null), forget, scoreOf }),
    glossary = makeGlossary(box, ".lesson-said p"),
    fit = () => fitText(textBox, state.position.present && !state.position.speaker), // a speaker's own window is near
    observer = new ResizeObserver(fit);
  let questioned = null, // the moment that `question` belongs to
    question = /** @type {any} */ (null),
    pass = /** @type {Pass | null} */ (null);
  observer.observe(body);
  function drawText() {
    const { moment, position } = state,
      answered = state.answered(),
      isWordsAlone = state.isWordsAlone(),
      isFirst = state.isFirst() && !position.present;
    if (questioned !== moment) {
      question = moment.question && makeQuestion(moment.question, show);
      if (isWordsAlone && hasWordAnswers(moment.question))
        addGuessArc(question.element, moment.document.where.cell.query);
    }
    questioned = moment;
    question?.element.remove();
    textBox.classList.toggle("answered", answered.isShown);
    redraw(
      textBox,
      texts.draw(moment, {
        ...position,
        ...answered,
        isWordsAlone,
        question: question?.element,
        ownSentence: isFirst && ownSentence,
      }),
    );
    question?.update(answered);
    box.classList.toggle("says-nothing", !textBox.textContent.trim());
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    const { document } = state.moment;
    if (pass?.document !== document) pass = readPass(document);
    const at = { cell: document.where.cell, present: state.position.present || state.isWordsAlone() };
    glossary.update(pass, at, { tellsNumbers: state.isDone() });
  }
  return {
    picture,
    glossary,
    get pass() {
      return pass;
    },
    update() {
      box.classList.toggle("words-alone", state.isWordsAlone());
      if (!state.moment) {
        const again = button("Try again", () => load({ ...state.position }));
        textBox.replaceChildren(h("p", {}, `This moment didn’t come: ${state.failure}`), again);
        return picture.clear();
      }
      drawText();
      if (state.isWordsAlone()) picture.clear();
      else picture.show(state.moment, !state.answered().isShown, state.position.present);
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
