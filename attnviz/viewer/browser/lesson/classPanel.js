// What a speaker alone sees of a class, in the speaker's window or on another device: how many gave each answer, before the room sees it.
import { button, h, redraw, write } from "../dom/element.js";
import { makeTextLists } from "./classTexts.js";
import { answerText, hasRight, isRightAnswer } from "./question.js";
import { isForClass } from "./presses.js";

const MOST_LINES = 12; // of numbers; choices have one each
const STEP = 0.05; // of shares that are counted together

// A line for each answer: its label, whether it is right, and how many gave it in each round.
export function countLines(question, counts) {
  if (question.candidates)
    return question.candidates.map(({ label }, index) => ({
      label,
      isRight: isRightAnswer(question, index),
      counts: counts.map(round => round.find(([value]) => value === index)?.[1] ?? 0),
    }));
  if (question.kind !== "fill") return [];
  const { right, isShare } = question,
    isRight = value => isRightAnswer(question, value),
    nameOf = value => (isShare && !isRight(value) ? Math.round(value / STEP) * STEP : value),
    lines = new Map();
  for (const [nth, round] of counts.entries())
    for (const [value, count] of round) {
      const isTruth = value === right || (isShare && isRight(value)),
        label = isTruth ? question.text : answerText({ isShare, unit: "" }, nameOf(value)),
        line = lines.get(label) ?? { label, isRight: isRight(value), counts: counts.map(() => 0) };
      line.counts[nth] += count;
      lines.set(label, line);
    }
  return [...lines.values()].sort((one, other) => sum(other.counts) - sum(one.counts)).slice(0, MOST_LINES);
}

const sum = numbers => numbers.reduce((total, each) => total + each, 0);

// The lines as a list that marks the right answer, for the speaker alone.
export function drawCounts(question, counts) {
  const lines = countLines(question, counts),
    most = Math.max(1, ...lines.flatMap(each => each.counts));
  const items = lines.map(({ label, isRight, counts: inRounds }) => {
    const text = isRight ? `${label} ✓` : label,
      item = h(
        "li",
        { class: isRight ? "right" : "" },
        h("span", {}, text),
        h("span", {}, inRounds.join(" → ") || "0"),
      );
    item.style.setProperty("--part", String((inRounds.at(-1) ?? 0) / most));
    return item;
  });
  return h("ol", { class: "class-counts", "aria-label": "How many gave each answer" }, items);
}

// In a speaker's window. act(what) does in the window that is presented what was pressed: "again", "handOver", "forgetDevices" or "reveal", or sends a
// command to the room. `handOver` is makeHandOver's.
export function makeClassPanel(act, handOver) {
  const head = h("p", { class: "class-count", role: "status" }),
    message = h("p", { class: "class-said", role: "status" }),
    countBox = h("div"),
    reveal = button("Reveal", () => act("reveal")),
    again = button("Ask again", () => act("again")),
    actionBar = h("span", { class: "class-acts" }, reveal, again),
    devices = [
      button("Another device of mine", () => act("handOver")),
      button("Forget devices", () => act("forgetDevices")),
    ],
    written = makeTextLists(act),
    parts = [
      head,
      message,
      countBox,
      actionBar,
      written.element,
      h("span", { class: "class-acts" }, devices),
      handOver.element,
    ],
    box = h("section", { class: "class-panel", "aria-label": "The class", hidden: true }, parts);
  let question = /** @type {any} */ (null),
    report = /** @type {any} */ (null),
    press = ""; // what the next one does
  function draw() {
    box.hidden = report === null;
    if (!report) return;
    const { code, here, answered, counts, round, offer, message: why, written: classTexts } = report,
      isAsked = round !== null && isForClass(question);
    write(head, `Class ${code}: ${here} here${isAsked ? ` · ${answered} answered` : ""}`);
    write(message, why);
    redraw(countBox, isAsked ? [drawCounts(question, counts)] : []);
    reveal.hidden = !isAsked || !hasRight(question) || press !== "Show answers"; // then the way on reveals
    again.hidden = !isAsked || press === "" || round.number > 1;
    written.update(classTexts);
    handOver.update(offer);
  }
  return {
    element: box,
    update(received) {
      report = received;
      draw();
    },
    ask(asked) {
      question = asked;
      draw();
    },
    stage(nextPress) {
      press = nextPress;
      draw();
    },
  };
}
