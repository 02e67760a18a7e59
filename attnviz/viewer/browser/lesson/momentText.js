// The text of a moment: its title and text, its question, what is said of an answer, and the end of a lesson.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { drawSaid } from "./said.js";
import { verdictOn } from "./verdict.js";

const NO_HARM = "No wrong click: you see at once what it does, and every number behind it.";

// Whether there is more to show than what is asked.
export function hasMore({ question, after, ending }) {
  return Boolean(question || after.length || ending);
}

// acts: {numbers, show(), forget(), scoreOf(lesson)}: numbers as drawSaid takes them; show() shows the answer, forget() makes this
// browser forget what was answered. Returns {draw(moment, at)}, the elements of what is said; at: {lesson, present, answer,
// isShown, areWordsAlone, question}, of which the last is the element of its question.
export function makeMomentText({ numbers, show, forget, scoreOf }) {
  const boxes = new WeakMap(), // of what is written in one's own words: {moment: box}, as long as the page is open
    verdict = element("div", "verdict");
  verdict.setAttribute("role", "status");

  function drawVerdict({ question, after }, { answer, isShown }) {
    if (!isShown || !question) return [];
    const { isRight, said } = verdictOn(question, answer, after);
    verdict.className = `verdict ${isRight === null ? "" : isRight ? "right" : "wrong"}`;
    return said.map(runs => drawSaid(runs, numbers));
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
      drawSaid(explain, numbers, "p", "prompt"),
      ...(present ? [] : [ownWords]),
      ...(isShown
        ? [drawSaid(answer, numbers, "div", "verdict shown")]
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
          ? drawSaid([...text, ["", " "], ...promptOf(moment)], numbers)
          : drawSaid(text, numbers, "p", "text"),
        ...(at.areWordsAlone && !areWordsAsked(moment) ? [drawWords(moment)] : []),
        ...(question
          ? [...(at.areWordsAlone ? [] : [drawSaid(question.prompt, numbers, "p", "prompt")]), at.question]
          : []),
        ...(at.areWordsAlone ? [element("p", "note", NO_HARM)] : []),
        verdict,
        ...(at.isShown && after.length && !question ? [drawSaid(after, numbers)] : []),
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
