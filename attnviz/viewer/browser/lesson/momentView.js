// A moment: its text, question and picture, fitted to the screen.
import { button, h, redraw } from "../dom/element.js";
import { makeMotion } from "../dom/motion.js";
import { addGuessArc, drawWelcome, makeOwnSentence } from "./firstScreen.js";
import { OPTIONAL, drawMoment, hasWordAnswers } from "./momentText.js";
import { makeOwnWords } from "./endPage.js";
import { makeQuestion, verdictOn } from "./question.js";
import { drawSentence } from "./sentence.js";
import { makeGivenStrip } from "./given.js";
import { isSlide } from "./slide.js";

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
  LARGEST_BESIDE_SLIDE = 1.9, // in a talk
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters
const WINDOW_OF_4K = "(min-width: 2304px) and (min-height: 1251px)"; // as in model/present.js

// If the letters can't become small enough, the box is marked as `over`, and once the answer is shown the text before it goes
// (lesson.css). In a talk no letter is smaller than those of the page.
function fitText(box, isPresented, isBesideSlide) {
  const isOver = () => box.scrollHeight > box.clientHeight + 1;
  box.classList.remove("over");
  const ofPage = globalThis.matchMedia(WINDOW_OF_4K).matches ? LARGEST_OF_4K : LARGEST,
    largest = !isPresented ? ofPage : isBesideSlide ? LARGEST_BESIDE_SLIDE : LARGEST;
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
    picture = makeLatePicture(answerClick),
    texts = makeMomentText({ numbers: picture, show: () => show(null), memory }),
    given = makeGivenStrip(box),
    isLarge = () => state.position.present && !state.position.speaker, // a speaker's own window is near
    fit = () => fitText(textBox, isLarge(), isSlide(state.moment)),
    observer = new ResizeObserver(fit);
  let questions = new WeakMap(), // moment -> its question, with what was typed
    pass = /** @type {Pass | null} */ (null),
    glossary = /** @type {any} */ (null), // once the script of the pictures is there, which has readPass(), too
    readPass = /** @type {any} */ (null);
  observer.observe(body);
  function drawText() {
    const { moment, position } = state,
      answered = state.answered(),
      isWordsAlone = state.isWordsAlone(),
      isFirst = state.isFirst() && !position.present,
      optional = state.isDone() && state.optional();
    if (moment.question && !questions.has(moment)) {
      questions.set(moment, makeQuestion(moment.question, { answer: show, numbers: picture }));
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
        welcome: isFirst && ownSentence && drawWelcome(),
        ownSentence: isFirst && ownSentence,
        optional: optional && button(`${OPTIONAL}: ${optional.title}`, () => go(optional.position), "link optional"),
      }),
    );
    question?.update({ ...answered, isAsked: state.isClass() && !answered.isShown });
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
    if (!glossary) return;
    if (!document) {
      pass = null;
      return glossary.update(null, { cell: null, present: true }); // a slide has no terms of ours
    }
    if (pass?.document !== document) pass = readPass(document);
    const at = { cell: document.where.cell, present: state.position.present || state.isWordsAlone() };
    glossary.update(pass, at, { tellsNumbers: state.isDone() });
  }
  function drawPicture() {
    if (state.isWordsAlone()) picture.clear();
    else picture.show(state.moment, { isCovered: !state.answered().isShown, isPresented: state.position.present });
    fit();
    given.update(state.answered().isShown || state.isWordsAlone() ? [] : state.moment.given, picture.element);
    pointAtLine();
    explainTerms();
  }
  return {
    picture,
    given: given.element,
    fit, // the text, where something else takes its room
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
      drawPicture();
    },
    // Adds the pictures once their script has loaded. The text isn't redrawn, as the user may be answering.
    addPictures(script) {
      picture.mount(script.makeMomentPicture);
      readPass = script.readPass;
      glossary = script.makeGlossary(box, ".lesson-said p");
      box.append(glossary.element);
      if (state.moment && !state.around) drawPicture();
    },
    forget() {
      questions = new WeakMap();
    },
    end() {
      observer.disconnect();
      given.end();
      glossary?.end();
      picture.leave();
    },
  };
}

// A picture as makeMomentPicture() makes it, empty until mount() gets that function from its script.
function makeLatePicture(answer) {
  const waiting = h("div", { class: "lesson-picture" });
  let made = /** @type {any} */ (null);
  return {
    get element() {
      return made?.element ?? waiting;
    },
    mount(makeMomentPicture) {
      made = makeMomentPicture(answer);
      waiting.replaceWith(made.element);
    },
    show: (...moment) => made?.show(...moment),
    clear: () => made?.clear(),
    selected: () => made?.selected() ?? null,
    address: moment => made?.address(moment) ?? moment.at,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}
