// What each press of Next or Back reveals or hides of a moment: lines of a worked example, the answers of a class, the right answer.
import { hasRight } from "./question.js";

/** `answer` is null if the right one was shown without any; `lines` of a worked example are shown, all if isShown, and once they were wasShown;
 * showsClass: the answers of the class are shown.
 * @typedef {{ answer: any, isShown: boolean, lines: number, wasShown: boolean, showsClass: boolean }} Answered */

/** @type {Answered} */
export const UNANSWERED = { answer: null, isShown: false, lines: 0, wasShown: false, showsClass: false };

export const hasMore = ({ question, worked, after, ending }) =>
  Boolean(question || worked.length || after.length || ending);

// Whether a class can be asked a question: it has no tables to fill in.
export const isForClass = question => Boolean(question) && question.kind !== "gaps";

// The new state after a press forward (`by` 1) or back (-1), or null if that leads to another moment. In a class the question comes first, then
// the answers of the class, then the right one.
/** @param {any} moment @param {Answered} shown @param {number} by @param {boolean} isClass @returns {Answered | null} */
export function pressed(moment, shown, by, isClass) {
  if (moment.worked.length) return pressedLine(moment, shown, by);
  const { question } = moment,
    { isShown, showsClass } = shown;
  if (by < 0) {
    if (!isClass || !(isShown || showsClass)) return null;
    return isShown ? { ...shown, isShown: false, answer: null } : { ...shown, showsClass: false };
  }
  if (isShown || !hasMore(moment)) return null;
  if (isClass && isForClass(question) && !showsClass) return { ...shown, showsClass: true };
  if (isClass && question && !hasRight(question)) return null;
  return { ...shown, isShown: true, answer: null };
}

// One line more or less of a worked example; the text after it counts as the last line.
function pressedLine({ worked, after, ending }, { isShown, lines, wasShown }, by) {
  const all = worked.length + (after.length || ending ? 1 : 0),
    to = (isShown ? all : lines) + by;
  if (to < 0 || to > all) return null;
  return { ...UNANSWERED, lines: to, isShown: to === all, wasShown: wasShown || isShown };
}

// The label of the next press; "" if it goes on to the next moment.
export function nextPress(moment, shown, isClass) {
  const to = moment && pressed(moment, shown, 1, isClass);
  if (!to) return "";
  if (to.lines > shown.lines) return "Next line";
  if (to.showsClass !== shown.showsClass) return "Show answers";
  return isClass && moment.question ? "Reveal" : "Show";
}
