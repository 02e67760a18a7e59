// A moment: its text, question and picture, fitted to the screen.
import { button, h, present, redraw } from "../dom/element.js";
import { makeMotion } from "../dom/motion.js";
import { addGuessArc, drawWelcome, makeOwnSentence } from "./firstScreen.js";
import { drawGaps } from "./gaps.js";
import { makeOwnWords } from "./ownWords.js";
import { makeQuestion, verdictOn } from "./question.js";
import { INERT, drawSentence, plainText } from "./sentence.js";
import { readPass } from "../model/pass.js";
import { wordsAt } from "../model/words.js";
import { makeGlossary } from "../views/glossary.js";
import { makeMomentPicture } from "./momentPicture.js";

// What is said in a moment, as elements. mode: "page" (a lesson on a screen), "phone" (in a class) or "paper" (the handout, which shows
// every answer). Parts: title, isShown (whether the answer is), lines (how many of a worked example, else all), isWordsAlone (a first screen
// of a sentence and its question), numbers (as drawSentence takes them), and elements: question, verdict, own (the user's own words and what
// belongs to them), optional (a link to the optional moment that follows).
export function drawMoment(moment, mode, parts) {
  const { why, text, worked, after, question, ending } = moment,
    { title = moment.title, isShown = mode === "paper", isWordsAlone = false, numbers = INERT } = parts,
    sentence = (runs, name = "", tag = "p") => runs.length > 0 && drawSentence(runs, numbers, tag, name),
    nLines = isShown ? worked.length : (parts.lines ?? worked.length),
    lines = worked.map((runs, nth) => drawSentence(runs, numbers, "li", nth < nLines ? "" : "to-come")),
    example = worked.length > 0 && h("ol", { class: "worked" }, lines);
  if (mode === "paper") {
    const verdict = question ? verdictOn(question, null, after).sentences : [after],
      [sentences, said, explain] = [[why, text], verdict, [ending?.explain ?? []]].map(all =>
        all.map(runs => sentence(runs)),
      ),
      asked = question && [sentence(question.prompt), question.kind === "gaps" && drawGaps(question, numbers)];
    return present([drawKind(moment), h("h2", {}, title), sentences, example, asked, said, explain].flat());
  }
  return [
    parts.ownSentence && drawWelcome(),
    drawKind(moment),
    title && h("h2", {}, title),
    sentence(why, "why"),
    isWordsAlone ? sentence([...text, ["", " "], ...boldPrompt(question)]) : sentence(text, "text"),
    example,
    isWordsAlone && !hasWordAnswers(question) && drawWords(wordsAt(moment.document, moment.document.where.step).query),
    question && !isWordsAlone && sentence(question.prompt, "prompt"),
    question && parts.question,
    isWordsAlone &&
      h("p", { class: "note no-harm" }, mode === "page" && hasWordAnswers(question) ? `${HOW} ${NO_HARM}` : NO_HARM),
    parts.ownSentence,
    (mode === "page" || question) && parts.verdict,
    isShown && !question && sentence(after, "after"),
    ...(ending ? [sentence(ending.explain, "prompt"), parts.own] : []),
    ending && isShown && sentence(ending.answer, "verdict shown", "div"),
    ending && isShown && ending.tell.length > 0 && sentence([["strong", "To tell a friend: "], ...ending.tell], "tell"),
    ...(ending ? (parts.end ?? []) : []),
    parts.optional,
  ];
}

export const OPTIONAL = "For engineers";

// The line above the title of a moment that asks again, or that is optional.
function drawKind({ recall, isOptional }) {
  const kind = isOptional ? OPTIONAL : recall ? `Asked again: ${recall.name}` : "";
  return kind && h("p", { class: "note of-kind" }, kind);
}

export const lineOf = ({ title, text, question }) =>
  [title, plainText(text), question && plainText(question.prompt)].filter(Boolean).join(" – ").slice(0, 200);

const HOW = "Click a word, or drag the “?” to it.",
  NO_HARM = "Any guess will do. You’ll see the answer at once, with every number behind it.";

const boldPrompt = question =>
  (question?.prompt ?? []).map(([style, text]) => (style === "number" ? [style, text] : ["strong", text]));

const hasWordAnswers = question => question?.candidates?.some(({ word }) => word !== undefined) ?? false;

const drawWords = words =>
  h("p", { class: "sentence-alone" }, ...words.flatMap((word, i) => [i > 0 && " ", h("span", {}, word)]));

export const hasMore = ({ question, worked, after, ending }) =>
  Boolean(question || worked.length || after.length || ending);

// The text of a lesson's moment: show() shows the answer.
function makeMomentText({ numbers, show, memory }) {
  const ownWords = makeOwnWords(memory),
    verdict = h("div", { class: "verdict", role: "status" });
  function drawVerdict({ question, after }, { answer, isShown }) {
    if (!isShown || !question) return [];
    const { isRight, sentences } = verdictOn(question, answer, after);
    // who has filled in all gaps isn't wrong in the end
    verdict.className = `verdict ${isRight ? "right" : isRight === false && question.kind !== "gaps" ? "wrong" : ""}`;
    return sentences.map(runs => drawSentence(runs, numbers));
  }
  return {
    draw(moment, at) {
      verdict.replaceChildren(...drawVerdict(moment, at));
      const { right, asked } = memory.scoreOf(at.lesson),
        compare = moment.ending && !at.isShown && button("Compare with an answer", show, "check beside-own"),
        score = asked > 0 && h("p", { class: "score" }, `You predicted ${right} of ${asked} in this lesson.`),
        end = [compare, score],
        own = moment.ending && !at.present && ownWords.elements;
      if (own) ownWords.update(at.lesson);
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

// Fades in the line of a worked example that has just come.
function makeLineMotion() {
  let seen = { moment: null, lines: 0 };
  return (moment, lines, box) => {
    const isNext = moment === seen.moment && lines === seen.lines + 1,
      element = box.querySelectorAll(".worked > li, .worked ~ .after")[lines - 1];
    seen = { moment, lines };
    if (!isNext || !element) return;
    const draw = opacity => Object.assign(element.style, { opacity }),
      motion = makeMotion({ element, draw });
    motion.set(0);
    motion.go(1);
  };
}

// frame: that of the page (lessons.js); state: makeLessonState's; actions: {show(answer), answerClick(clicked), load(position),
// go(position), open(address)}; ownAddress: that of the user's own sentence in the walkthrough, "" where none can be computed.
export function makeMomentView({ box, body, textBox }, state, memory, actions, ownAddress) {
  const { show, answerClick, load, go, open } = actions,
    showLine = makeLineMotion(),
    ownSentence = ownAddress && makeOwnSentence(ownAddress, open),
    picture = makeMomentPicture(answerClick),
    texts = makeMomentText({ numbers: picture, show: () => show(null), memory }),
    glossary = makeGlossary(box, ".lesson-said p"),
    fit = () => fitText(textBox, state.position.present && !state.position.speaker), // a speaker's own window is near
    observer = new ResizeObserver(fit);
  let questions = new WeakMap(), // moment -> its question, with what was typed
    pass = /** @type {Pass | null} */ (null);
  observer.observe(body);
  function drawText() {
    const { moment, position } = state,
      answered = state.answered(),
      isWordsAlone = state.isWordsAlone(),
      isFirst = state.isFirst() && !position.present,
      optional = state.isDone() && state.optional();
    if (moment.question && !questions.has(moment)) {
      questions.set(moment, makeQuestion(moment.question, show, undefined, picture));
      if (isWordsAlone && hasWordAnswers(moment.question))
        addGuessArc(questions.get(moment).element, moment.document.where.cell.query);
    }
    const question = questions.get(moment);
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
        optional: optional && button(`${OPTIONAL}: ${optional.title}`, () => go(optional.position), "link optional"),
      }),
    );
    question?.update(answered);
    showLine(moment, answered.lines, textBox);
    box.classList.toggle("says-nothing", !textBox.textContent.trim());
  }
  // Highlights in the picture the first number of the latest line of a worked example.
  function pointAtLine() {
    const { lines, isShown } = state.answered(),
      line = isShown ? [] : (state.moment.worked[lines - 1] ?? []);
    if (state.moment.worked.length) picture.point(line.find(([style]) => style === "number")?.[1] ?? null);
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
      pointAtLine();
      explainTerms();
    },
    forget() {
      questions = new WeakMap();
    },
    end() {
      observer.disconnect();
      glossary.end();
      picture.leave();
    },
  };
}
