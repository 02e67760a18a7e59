// The training view: a slider over the checkpoints of a model, its loss curves and its parameters.
import { element, roomy, svgElement, write, button } from "../dom/element.js";
import { PERCENTS, grouped, percent, short } from "../model/numeral.js";
import { background, css, textOn } from "../dom/colour.js";
import { whenOther } from "../dom/timing.js";
import { isFirst } from "../model/state.js";
import { drawNames } from "./nextLetter.js";

const PAUSE_MS = 700; // that one looks at a checkpoint while it plays

// ask(index) reaches the server, or is false where there is none; show() is called as what it says here becomes another.
export function makeCheckpoints(ask, show) {
  let training = null,
    wanted = null,
    isRunning = false,
    timer = null;
  const last = () => training.checkpoints.length - 1;
  const shown = () => wanted ?? training.at;
  const want = index => {
    if (index !== shown() && ask(index) === false) stop();
    else wanted = index;
    show();
  };
  const stop = () => {
    clearTimeout(timer);
    isRunning = false;
  };
  const checkpoints = {
    get isRunning() {
      return isRunning;
    },
    get shown() {
      return shown();
    },
    to: index => {
      stop();
      want(index);
    },
    play: () => {
      isRunning = true;
      want(shown() === last() ? 0 : shown() + 1);
    },
    pause: () => {
      stop();
      show();
    },
    // The training of the present document: what was asked for may have come, or another model.
    arrive: now => {
      const isSame = String(training?.curve) === String(now.curve);
      const isAnswered = wanted === now.at;
      training = now;
      if (!isSame) stop();
      if (!isSame || isAnswered) wanted = null;
      if (!isRunning || !isAnswered) return;
      if (now.at === last()) stop();
      else timer = setTimeout(() => want(now.at + 1), PAUSE_MS);
    },
    end: stop,
  };
  return checkpoints;
}

const WIDTH = 100,
  HEIGHT = 100; // of the drawing's own units, which are stretched to the room there is
const TICK = 12;

// Where a step lies along a training, from 0 to 1. Most is learnt early, so the first steps get the most room.
export function along({ checkpoints }, step) {
  return Math.sqrt(step / checkpoints.at(-1));
}

function drawCurve(training) {
  const { curve, checkpoints, at, yardsticks } = training;
  const drawing = svgElement("svg", {
    class: "curve",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": spoken(curve),
  });
  const most = Math.max(...curve.map(([, loss]) => loss), ...yardsticks.map(({ loss }) => loss));
  const x = step => WIDTH * along(training, step);
  drawing.append(
    ...checkpoints.map(step =>
      drawLine("tick", [
        [x(step), HEIGHT - TICK],
        [x(step), HEIGHT],
      ]),
    ),
    drawLine("present", [
      [x(checkpoints[at]), 0],
      [x(checkpoints[at]), HEIGHT],
    ]),
    ...yardsticks
      .filter(({ isLine }) => isLine)
      .map(({ loss }) =>
        drawLine("yardstick", [
          [0, HEIGHT * (1 - loss / most)],
          [WIDTH, HEIGHT * (1 - loss / most)],
        ]),
      ),
    drawLine(
      "loss",
      curve.map(([step, loss]) => [x(step), HEIGHT * (1 - loss / most)]),
    ),
    drawLine(
      "accuracy",
      curve.map(([step, , accuracy]) => [x(step), HEIGHT * (1 - accuracy)]),
    ),
  );
  return drawing;
}

function spoken(curve) {
  const [[, loss, accuracy], [last, endLoss, endAccuracy]] = [curve[0], curve.at(-1)];
  return `The loss goes from ${short(loss)} to ${short(endLoss)} and held-out accuracy from ${percent(accuracy)} to ${percent(endAccuracy)} in ${grouped(last)} steps of training`;
}

function drawLine(name, points) {
  const d = `M ${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join(" L ")}`;
  return svgElement("path", { class: name, d, "vector-effect": "non-scaling-stroke" });
}

function drawKinds({ title, rows, columns, values, limit }, colours) {
  const table = element("table", "kinds");
  table.append(
    drawRow([element("th", "of", title), ...columns.map(label => heading(label, "col"))]),
    ...rows.map((label, row) =>
      drawRow([heading(label, "row"), ...values[row].map(value => drawNumber(value, limit, colours))]),
    ),
  );
  return table;
}

function drawRow(cells) {
  const row = element("tr");
  row.append(...cells);
  return row;
}

function heading(label, scope) {
  const cell = element("th", "", label);
  cell.scope = scope;
  return cell;
}

function drawNumber(value, limit, colours) {
  const cell = element("td", "", short(value)),
    colour = background(value, { scale: "signed", limit }, colours);
  Object.assign(cell.style, { background: css(colour), color: css(textOn(colour)) });
  return cell;
}

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
