// The board: everybody's answers as dots over the words, cells, answers or the slider of the question, never whose; once it is
// shown, the truth beside them. Of two rounds the first stands beside the second, paler.
import { element } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";
import { answerText } from "../lesson/verdict.js";
import { percent } from "../pass/numeral.js";

export const BINS = 21; // of a slider
const MOST_ROWS = 9; // of dots over an answer, before they stand closer
const IN_A_ROW = 6;

// Returns {element, update(question, counts, isShown, title)}; `counts` are as in Audience of generated/contract.d.ts, and without a
// `title` the question is named elsewhere.
export function makeBoard() {
  const box = element("section", "class-board");
  const draw = whenOther(([, counts, isShown, title], question) => {
    const drawn = question.kind === "fill" ? ofNumbers : ofCandidates;
    box.replaceChildren(...(title ? [element("h2", "", title)] : []), drawn(question, counts, isShown));
  });
  box.setAttribute("aria-label", "The answers of the class");
  return {
    element: box,
    update: (question, counts, isShown, title = "") => draw([question.prompt, counts, isShown, title], question),
  };
}

function ofCandidates({ candidates, right, isCode }, counts, isShown) {
  const list = element("ol", `stacks${isCode ? " code" : ""}`),
    ofRounds = counts.map(round => new Map(round)),
    most = Math.max(1, ...counts.flatMap(round => round.map(([, count]) => count)));
  list.style.setProperty("--stacks", String(candidates.length));
  list.append(
    ...candidates.map(({ label }, place) => {
      const isRight = isShown && right.includes(place),
        line = element("li", isRight ? "right" : "");
      const own = ofRounds.map(round => round.get(place) ?? 0);
      line.append(
        drawRounds(own, most),
        element(isCode ? "code" : "span", "label", label),
        element("span", "count", textOf(own, isRight)),
      );
      return line;
    }),
  );
  return list;
}

function ofNumbers(question, counts, isShown) {
  return question.isShare ? ofShares(question, counts, isShown) : ofAnyNumbers(question, counts, isShown);
}

// Over a slider from 0 to 1, each dot in the twentieth that is nearest.
function ofShares({ right, text }, counts, isShown) {
  const box = element("div", "share-line"),
    list = element("ol", "stacks of-shares");
  const binned = counts.map(binsOf),
    most = Math.max(1, ...binned.flat());
  list.style.setProperty("--stacks", String(BINS));
  list.append(
    ...Array.from({ length: BINS }, (_, bin) => {
      const line = element("li"),
        own = binned.map(bins => bins[bin]);
      line.append(drawRounds(own, most));
      if (own.some(Boolean))
        line.append(element("span", "heard", `${percent(bin / (BINS - 1))}: ${textOf(own, false)}`));
      return line;
    }),
  );
  const rail = element("div", "rail");
  if (isShown) {
    const mark = element("span", "truth", text);
    mark.style.setProperty("--at", `${100 * Math.min(Math.max(right, 0), 1)}%`);
    rail.append(mark);
  }
  const ends = element("p", "ends");
  ends.append(element("span", "", "0 %"), element("span", "", "50 %"), element("span", "", "100 %"));
  box.append(list, rail, ends);
  return box;
}

// How many of the shares of a round are nearest to each of the `BINS` from 0 to 1.
export function binsOf(round) {
  const bins = Array(BINS).fill(0);
  for (const [value, count] of round) bins[Math.round(value * (BINS - 1))] += count;
  return bins;
}

// Each number that somebody gave, in their order, and the right one among them.
function ofAnyNumbers({ right, text, tolerance }, counts, isShown) {
  const values = new Map();
  counts.forEach((round, nth) => {
    for (const [value, count] of round) {
      if (!values.has(value))
        values.set(
          value,
          counts.map(() => 0),
        );
      values.get(value)[nth] += count;
    }
  });
  const isRight = value => Math.abs(value - right) <= tolerance;
  const candidates = [...values.keys()].map(value => ({
    value,
    label: isShown && isRight(value) ? text : answerText({ isShare: false, unit: "" }, value),
  }));
  if (isShown && !candidates.some(({ value }) => isRight(value))) candidates.push({ value: right, label: text });
  candidates.sort((one, other) => one.value - other.value);
  const asCounts = counts.map((_, nth) => candidates.map(({ value }, place) => [place, values.get(value)?.[nth] ?? 0]));
  return ofCandidates(
    { candidates, right: candidates.flatMap(({ value }, place) => (isRight(value) ? [place] : [])), isCode: false },
    asCounts,
    isShown,
  );
}

// The dots of each round beside each other, the first paler. `most` is how many the highest stack of all has.
export function drawRounds(counts, most) {
  const rounds = element("span", "rounds"),
    rows = Math.ceil(most / IN_A_ROW);
  rounds.ariaHidden = "true";
  rounds.style.setProperty("--closer", String(Math.min(1, MOST_ROWS / rows)));
  rounds.append(
    ...counts.map((count, nth) => {
      const stack = element("span", `stack${nth + 1 < counts.length ? " before" : ""}`);
      stack.append(...Array.from({ length: count }, () => element("i")));
      return stack;
    }),
  );
  return rounds;
}

export function textOf(counts, isRight) {
  const last = counts.at(-1) ?? 0,
    text = counts.some(Boolean) ? counts.join(" → ") : "";
  return isRight ? `${text || last} ✓` : text;
}
