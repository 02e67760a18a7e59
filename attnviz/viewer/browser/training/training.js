// Training: how a model came to its parameters. A slider leads from checkpoint to checkpoint, Play runs through them.
import { button } from "../elements/button.js";
import { makeCheckpoints } from "./checkpoints.js";
import { along, drawCurve } from "./curve.js";
import { element, roomy, write } from "../elements/element.js";
import { whenOther } from "../elements/whenOther.js";
import { drawKinds } from "./kinds.js";
import { isFirst } from "../scene/state.js";
import { drawNames } from "../words/writtenName.js";
import { PERCENTS, grouped, percent, short } from "../pass/numeral.js";

const FINEST = 1000; // places that the slider has
const KEYS = new Map([
  ["ArrowRight", 1],
  ["ArrowUp", 1],
  ["ArrowLeft", -1],
  ["ArrowDown", -1],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** @returns {View} */
export function makeTraining(tools) {
  const box = element("section", "training");
  box.setAttribute("aria-label", "Training");
  box.hidden = true;
  const scrubber = element("div", "scrubber"),
    slider = element("input"),
    figures = element("p", "figures");
  const patterns = element("p", "patterns"),
    kinds = element("div");
  slider.type = "range";
  slider.max = FINEST;
  slider.setAttribute("aria-label", "Training steps");
  const play = button("", () => (checkpoints.isRunning ? checkpoints.pause() : checkpoints.play()));
  scrubber.append(element("div", "chart"), slider);
  const measured = element("p", "yardsticks");
  const writes = element("p", "writes");
  box.append(play, scrubber, figures, patterns, kinds, measured, writes);
  let training = null;

  const show = () => {
    box.classList.toggle("running", checkpoints.isRunning); // then it stays on a slide
    write(play, checkpoints.isRunning ? "❚❚ Pause" : "▶ Play training");
    slider.value = placesOf(training)[checkpoints.shown];
    slider.setAttribute("aria-valuetext", afterText(training, checkpoints.shown));
  };
  const checkpoints = makeCheckpoints(tools.train, show);
  // Another word, or another letter, changes none of it.
  const drawAll = whenOther(([now, colours]) => {
    scrubber.firstChild.replaceChildren(drawCurve(now));
    figures.replaceChildren(...drawFigures(now));
    patterns.replaceChildren(...drawPatterns(now));
    write(measured, comparedText(now));
    writes.replaceChildren(...drawWritten(now, tools));
    patterns.classList.toggle("many", now.patterns.length > 2);
    kinds.replaceChildren(...(now.kinds ? [drawKinds(now.kinds, colours)] : []));
  });
  slider.oninput = () => checkpoints.to(nearest(placesOf(training), Number(slider.value)));
  slider.onkeydown = event => {
    const by = KEYS.get(event.key);
    if (!by) return;
    event.preventDefault();
    checkpoints.to(Math.min(Math.max(checkpoints.shown + by, 0), training.checkpoints.length - 1));
  };
  return {
    element: box,
    update(pass, where, { colours }) {
      const { model, changes } = pass.document;
      box.classList.toggle("without-changes", changes.length > 0);
      measured.hidden = !isFirst(pass, where) || !model?.training?.yardsticks.length;
      box.classList.toggle("compared", !measured.hidden);
      writes.hidden = measured.hidden || !model.training.writes;
      if (training === (model?.training ?? null)) return;
      training = model?.training ?? null;
      box.hidden = !training;
      if (!training) return checkpoints.end();
      checkpoints.arrive(training);
      drawAll([training, colours]);
      show();
    },
    get isRunning() {
      return checkpoints.isRunning;
    },
    end: checkpoints.end,
  };
}

function afterText({ checkpoints }, at) {
  return at === 0 ? "before training" : `after ${grouped(checkpoints[at])} of ${grouped(checkpoints.at(-1))} steps`;
}

// The measurements of the checkpoint, in the words that name the lines of the chart.
function drawFigures(training) {
  const { curve, checkpoints, at } = training;
  const [, loss, accuracy] = curve.find(([step]) => step === checkpoints[at]);
  const lossLine = element("span", "of-loss", "loss "),
    accuracyLine = element("span", "of-accuracy", "held-out accuracy ");
  lossLine.append(
    roomy(
      "span",
      "",
      short(loss),
      curve.map(([, each]) => short(each)),
    ),
  );
  accuracyLine.append(roomy("span", "", percent(accuracy), PERCENTS));
  const after = checkpoints.map((_, place) => `${afterText(training, place)}:`);
  return [roomy("span", "", after[at], after), lossLine, accuracyLine];
}

// The losses to compare with, and when each was passed.
function comparedText({ yardsticks, curve, checkpoints, at }) {
  const [, loss] = curve.find(([step]) => step === checkpoints[at]);
  const passed = step => (step === null ? "" : step === 0 ? "" : ` (passed at step ${grouped(step)})`);
  return `Loss in nats a letter, on names never seen: ${[`this model ${short(loss)}`, ...yardsticks.map(each => `${each.label} ${short(each.loss)}${passed(each.passed)}`)].join("; ")}.`;
}

// Texts that the checkpoint writes, so that one sees what a loss means.
function drawWritten({ writes, checkpoints, at }, { send, alone }) {
  if (!writes) return [];
  const {
      texts,
      how: { temperature, seed },
    } = writes,
    step = afterText({ checkpoints }, at);
  const names = element("span");
  if (alone) names.append(...texts.flatMap(({ text }) => [" ", element("span", "written", text || "(nothing)")]));
  else drawNames(names, texts, text => send("sentence", text));
  return [`It writes ${step}, at temperature ${temperature} from seeds ${seed} to ${seed + texts.length - 1}:`, names];
}

function drawPatterns({ patterns, heldOut, over, met }) {
  const chance = met ? `, ${met} of which came up in training by chance` : "";
  return [
    element("span", "of", `on average over ${grouped(heldOut)} ${over}${chance}`),
    ...patterns.flatMap(({ label, value }) => [
      roomy("strong", "", percent(value), PERCENTS),
      element("span", "", `${label} (mean)`),
    ]),
  ];
}

// Where the checkpoints are on the slider.
function placesOf(training) {
  return training.checkpoints.map(step => Math.round(FINEST * along(training, step)));
}

function nearest(places, place) {
  const distances = places.map(each => Math.abs(each - place));
  return distances.indexOf(Math.min(...distances));
}
