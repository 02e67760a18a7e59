// A small table with gaps to fill in, which are checked while the user types.
import { button, h, makeScroller, onceSettled, table, write } from "../dom/element.js";
import { numberIn } from "../model/numeral.js";
import { drawSentence, plainText } from "./sentence.js";

/** @typedef {import("../../generated/contract").Gaps} Gaps @typedef {import("../../generated/contract").Gap} Gap */

export const NO_NUMBER = "A number, please, such as 3, −0.25, 6/7 or 88 %.";
const PAUSE_MS = 1200; // in typing, after which a number is judged
const UNFINISHED = /[-−+.,/]$/;

const EXACT = 1e-9; // for a fraction that is typed: only a decimal may be rounded
const isRightIn = (/** @type {Gap} */ { value, tolerance }, /** @type {number} */ number) =>
  Math.abs(number - value) <= tolerance;

/** The gaps in reading order, each with its word, its row and the name of the row above. @param {Gaps} question */
const gapsOf = ({ words, rows }) =>
  rows.flatMap(({ name, cells }, nth) =>
    cells.flatMap((cell, column) =>
      cell.gap ? [{ cell, gap: cell.gap, name, word: words[column], above: rows[nth - 1]?.name ?? "" }] : [],
    ),
  );

// `answer` is the first number that was typed into each gap, null if the table was shown.
export function verdictOnGaps(question, answer, after) {
  const isRight = answer && gapsOf(question).every(({ gap }, nth) => isRightIn(gap, answer[nth])),
    begun = isRight
      ? [
          [
            ["strong", "Right"],
            ["", ", at the first try."],
          ],
        ]
      : isRight === false
        ? [[["", "All right now."]]]
        : [];
  return { isRight, sentences: [...begun, ...(after.length ? [after] : [])] };
}

export const answerOfGaps = question =>
  gapsOf(question)
    .map(({ cell, name, word }) => `${name}, ${word}: ${plainText(cell.text)}`)
    .join("; ");

// The table; drawGap(nth) returns what stands in a gap, or null for its number.
export function drawGaps({ words, rows }, numbers, drawGap = /** @type {(nth: number) => any} */ (_nth => null)) {
  let nth = -1;
  const drawCell = ({ text, gap }) => {
    nth += gap ? 1 : 0;
    return h("td", { class: gap ? "gap" : "" }, (gap && drawGap(nth)) ?? drawSentence(text, numbers, "span"));
  };
  const lines = rows.map(({ name, cells }) => [h("th", { scope: "row" }, drawName(name)), ...cells.map(drawCell)]),
    head = ["", ...words].map(word => h(word ? "th" : "td", word ? { scope: "col" } : {}, word));
  return h("div", { class: "gaps" }, table({}, { head: [head], rows: lines }));
}

// A power is raised: 2^score.
const drawName = name => name.split(/\^(\S+)/).map((part, nth) => (nth % 2 ? h("sup", {}, part) : part));

// answer(firsts) is called once all gaps are right, answer(null) to show the solution.
export function makeGaps(question, { answer, numbers }) {
  const gaps = gapsOf(question).map(each => makeGap(each)),
    help = h("p", { class: "help", role: "status" }),
    showing = button("Show me", () => answer(null)),
    box = h("div", { class: "gaps-box" }),
    settled = onceSettled(() => judge(false), PAUSE_MS);
  for (const [nth, { input }] of gaps.entries()) {
    input.oninput = () => {
      gaps[nth].mark();
      settled.soon();
    };
    input.onchange = () => {
      settled.drop();
      judge(true);
    };
    input.onkeydown = event => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the next moment is for the Next button
      input.onchange();
      const next = [...gaps.slice(nth + 1), ...gaps.slice(0, nth)].find(each => !each.isRight());
      next?.input.focus();
      next?.input.select(); // what is typed replaces a wrong number
    };
  }
  // Names the first wrong gap. isLeft is whether what was typed is finished.
  function judge(isLeft) {
    for (const each of gaps) each.judge(isLeft);
    const wrong = gaps.find(({ input }) => input.ariaInvalid === "true"),
      nRight = gaps.filter(each => each.isRight()).length;
    if (nRight === gaps.length) return answer(gaps.map(({ first }) => first));
    help.replaceChildren(...(wrong ? wrong.hint(numbers) : [nRight ? `${nRight} of ${gaps.length} right.` : ""]));
  }
  return {
    element: box,
    update({ isShown, isClosed = false }) {
      settled.drop();
      const drawGap = isShown ? () => null : nth => (isClosed ? h("span", { class: "blank" }, "?") : gaps[nth].element);
      box.replaceChildren(
        makeScroller(drawGaps(question, numbers, drawGap)),
        ...(isShown || isClosed ? [] : [help, showing]),
      );
    },
  };
}

function makeGap({ cell, gap, name, word, above }) {
  const props = {
      type: "text",
      value: "",
      inputMode: "text",
      autocomplete: "off",
      maxLength: 30,
      ariaLabel: `${name}, ${word}`,
    },
    input = h("input", props),
    tick = h("span", { class: "tick", ariaHidden: "true" }),
    isPart = Math.abs(gap.value) <= 1 && !plainText(cell.text).endsWith("%"),
    number = () => numberIn(input.value, isPart);
  const made = {
    input,
    element: h("label", {}, input, tick),
    first: /** @type {number | null} */ (null), // the first number that was typed, NaN if it was wrong
    isRight() {
      const typed = number(),
        tolerance = input.value.includes("/") ? EXACT : gap.tolerance;
      return typed !== null && isRightIn({ ...gap, tolerance }, typed);
    },
    mark(isWrong = false) {
      const isRight = made.isRight();
      input.ariaInvalid = String(isWrong);
      input.ariaLabel = `${name}, ${word}${isRight ? ": right" : ""}`;
      write(tick, isRight ? "✓" : isWrong ? "✗" : "");
    },
    judge(isLeft) {
      const typed = number(),
        text = input.value.trim();
      if (!text || (!isLeft && UNFINISHED.test(text))) return;
      if (typed !== null) made.first ??= made.isRight() ? typed : Number.NaN;
      made.mark(!made.isRight());
    },
    hint(numbers) {
      const typed = number(),
        near = gap.nears.find(each => typed !== null && Math.abs(typed - each.value) <= each.tolerance),
        beside = above ? `look at the row above it, ${above}` : "look at the numbers beside it",
        hint = word === "sum" ? "add up this row" : beside,
        feedback = typed === null ? [["", NO_NUMBER]] : (near?.feedback ?? [["", `Not yet: ${hint}.`]]);
      return [h("strong", {}, drawName(name), `, ${word}: `), drawSentence(feedback, numbers, "span")];
    },
  };
  return made;
}
