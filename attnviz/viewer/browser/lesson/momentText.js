// The text of a moment, as elements.
import { h, present } from "../dom/element.js";
import { wordsAt } from "../model/words.js";
import { drawGaps } from "./gaps.js";
import { verdictOn } from "./question.js";
import { INERT, drawSentence, plainText } from "./sentence.js";
import { isSlide } from "./slide.js";

// The elements of a moment's text. mode: "page" (a lesson on a screen), "phone" (in a class) or "paper" (the handout, with
// or without answers). Parts: title, isShown (whether the answer is), lines (how many of a worked example, else all), isWordsAlone (a first screen
// of a sentence and its question), numbers (as drawSentence takes them), and elements: question, verdict, own (the user's own words and what
// belongs to them), given (the numbers that the question needs), optional (a link to the optional moment that follows).
export function drawMoment(moment, mode, parts) {
  const { why, text, worked, after, question, ending } = moment,
    { title = moment.title, isShown = false, isWordsAlone = false, numbers = INERT } = parts,
    sentence = (runs, name = "", tag = "p") => runs.length > 0 && drawSentence(runs, numbers, tag, name),
    nLines = mode === "paper" ? worked.length : (parts.lines ?? worked.length),
    lines = worked.map((runs, nth) => drawSentence(runs, numbers, "li", nth < nLines ? "" : "to-come")),
    example = worked.length > 0 && h("ol", { class: "worked" }, lines);
  if (mode === "paper") {
    const verdict = !question ? [after] : isShown ? verdictOn(question, null, after).sentences : [],
      [sentences, said, explain] = [[why, text], verdict, [ending?.explain ?? []]].map(all =>
        all.map(runs => sentence(runs)),
      ),
      asked = question && [sentence(question.prompt), drawOnPaper(question, numbers, isShown)];
    return present([drawKind(moment), h("h2", {}, title), sentences, example, asked, said, explain].flat());
  }
  return [
    parts.welcome,
    drawKind(moment),
    title && !isSlide(moment) && h("h2", {}, title), // a slide has its headline in it
    sentence(why, "why"),
    isWordsAlone ? sentence([...text, ["", " "], ...boldPrompt(question)]) : sentence(text, "text"),
    example,
    isWordsAlone && !hasWordAnswers(question) && drawWords(wordsAt(moment.document, moment.document.where.step).query),
    question && !isWordsAlone && sentence(question.prompt, "prompt"),
    parts.given,
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

// What a question has on paper besides its prompt: a table, or the options, unless the prompt or the picture has them.
function drawOnPaper(question, numbers, isShown) {
  if (question.kind === "gaps") return drawGaps(question, numbers, () => (isShown ? null : ""));
  const isOwn = question.kind === "choose" && question.candidates.every(({ feedback }) => !feedback.length),
    isToChoose = isOwn || (!isShown && question.kind === "choose");
  return isToChoose && h("ul", { class: "offered" }, ...question.candidates.map(({ label }) => h("li", {}, label)));
}

export const OPTIONAL = "For engineers";

// The line above the title of a repeated question, or of an optional moment.
function drawKind({ recall, isOptional }) {
  const kind = isOptional ? OPTIONAL : recall ? `Asked again: ${recall.name}` : "";
  return kind && h("p", { class: "note of-kind" }, kind);
}

export const lineOf = ({ title, text, question, picture }) =>
  [title, picture?.text, plainText(text), question && plainText(question.prompt)]
    .filter(Boolean)
    .join(" – ")
    .slice(0, 200);

const HOW = "Click a word, or drag the “?” to it.",
  NO_HARM = "Any guess will do. You’ll see the answer at once, with every number behind it.";

const boldPrompt = question =>
  (question?.prompt ?? []).map(([style, text]) => (style === "number" ? [style, text] : ["strong", text]));

export const hasWordAnswers = question => question?.candidates?.some(({ word }) => word !== undefined) ?? false;

const drawWords = words =>
  h("p", { class: "sentence-alone" }, ...words.flatMap((word, i) => [i > 0 && " ", h("span", {}, word)]));
