// What was measured of a model at a checkpoint: loss, accuracy, patterns of attention, and texts that it writes.
import { PERCENTS, grouped, percent, short } from "../model/numeral.js";
import { background, css, textOn } from "../dom/colour.js";
import { h, memoLast, roomy, write } from "../dom/element.js";
import { drawNames } from "./nextLetter.js";

function drawKinds({ title, rows, columns, values, limit }, colours) {
  const heading = (label, scope) => h("th", { scope }, label),
    first = h("tr", {}, h("th", { class: "of" }, title), ...columns.map(label => heading(label, "col")));
  const cellOf = value => {
    const cell = h("td", {}, short(value)),
      colour = background(value, { scale: "signed", limit }, colours);
    Object.assign(cell.style, { background: css(colour), color: css(textOn(colour)) });
    return cell;
  };
  const lines = rows.map((label, row) => h("tr", {}, heading(label, "row"), ...values[row].map(cellOf)));
  return h("table", { class: "kinds" }, first, ...lines);
}

/** @returns {View} */
export function makeMeasures(tools) {
  const [figures, patterns, compared, writes] = ["figures", "patterns", "yardsticks", "writes"].map(name =>
      h("p", { class: name }),
    ),
    kinds = h("div"),
    box = h("div", { class: "measures", hidden: true }, figures, patterns, kinds, compared, writes);
  // Another word, or another letter, changes none of it.
  const drawAll = memoLast(([now, colours]) => {
    figures.replaceChildren(...drawFigures(now));
    patterns.replaceChildren(...drawPatterns(now));
    write(compared, comparedText(now));
    writes.replaceChildren(...drawTexts(now, tools));
    kinds.replaceChildren(...(now.kinds ? [drawKinds(now.kinds, colours)] : []));
  });
  return {
    element: box,
    update(pass, _where, { colours }) {
      const { model, changes } = pass.document,
        now = model?.training ?? null;
      box.hidden = !now;
      if (!now) return;
      box.classList.toggle("without-changes", changes.length > 0);
      compared.hidden = !now.yardsticks.length;
      writes.hidden = !now.writes;
      const { learning: _, ...measured } = now;
      drawAll([measured, colours]);
    },
  };
}

export const afterText = ({ checkpoints }, at) =>
  at === 0 ? "before training" : `after ${grouped(checkpoints[at])} of ${grouped(checkpoints.at(-1))} steps`;

export const measuredAt = ({ curve, checkpoints }, at) => curve.find(([step]) => step === checkpoints[at]).slice(1);

// The measurements of the checkpoint, in the words that name the lines of the chart.
function drawFigures(training) {
  const { curve, checkpoints, at } = training,
    [loss, accuracy] = measuredAt(training, at),
    losses = curve.map(([, each]) => short(each)),
    after = checkpoints.map((_, nth) => `${afterText(training, nth)}:`);
  return [
    roomy("span", "", after[at], after),
    h("span", { class: "of-loss" }, "loss ", roomy("span", "", short(loss), losses)),
    h("span", { class: "of-accuracy" }, "held-out accuracy ", roomy("span", "", percent(accuracy), PERCENTS)),
  ];
}

function comparedText(training) {
  const passedText = step => (step ? ` (passed at step ${grouped(step)})` : ""),
    [loss] = measuredAt(training, training.at),
    others = training.yardsticks.map(each => `${each.label} ${short(each.loss)}${passedText(each.passed)}`);
  return `Loss in nats a letter, on names never seen: ${[`this model ${short(loss)}`, ...others].join("; ")}.`;
}

// Texts that the checkpoint writes, so that one sees what a loss means.
function drawTexts({ writes, checkpoints, at }, { send, alone }) {
  if (!writes) return [];
  const { texts, how } = writes,
    names = h("span");
  if (alone) names.append(...texts.flatMap(({ text }) => [" ", h("span", { class: "written" }, text || "(nothing)")]));
  else drawNames(names, texts, text => send("sentence", text));
  const seeds = `from seeds ${how.seed} to ${how.seed + texts.length - 1}`;
  return [`It writes ${afterText({ checkpoints }, at)}, at temperature ${how.temperature} ${seeds}:`, names];
}

function drawPatterns({ patterns, heldOut, over, met }) {
  const chance = met ? `, ${met} of which came up in training by chance` : "";
  return [
    h("span", { class: "of" }, `on average over ${grouped(heldOut)} ${over}${chance}`),
    ...patterns.flatMap(({ label, value }) => [
      roomy("strong", "", percent(value), PERCENTS),
      h("span", {}, `${label} (mean)`),
    ]),
  ];
}
