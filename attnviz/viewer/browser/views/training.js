// The training view: a slider over the checkpoints of a model, its loss curves and its parameters.
import { PERCENTS, grouped, percent, short } from "../model/numeral.js";
import { isFirst } from "../model/state.js";
import { background, css, textOn } from "../dom/colour.js";
import { button, h, memoLast, roomy, svgElement, write } from "../dom/element.js";
import { drawNames } from "./nextLetter.js";

const PAUSE_MS = 700; // that one looks at a checkpoint while it plays

// ask(index) reaches the server, or is false where there is none; show() is called when the checkpoint to show, or whether it plays, changes.
export function makeCheckpoints(ask, show) {
  let training = null,
    wanted = null,
    isRunning = false,
    timer = null;
  const last = () => training.checkpoints.length - 1,
    shown = () => wanted ?? training.at;
  const goTo = index => {
    if (index !== shown() && ask(index) === false) stop();
    else wanted = index;
    show();
  };
  const stop = () => {
    clearTimeout(timer);
    isRunning = false;
  };
  return {
    get isRunning() {
      return isRunning;
    },
    get shown() {
      return shown();
    },
    to: index => {
      stop();
      goTo(index);
    },
    play: () => {
      isRunning = true;
      goTo(shown() === last() ? 0 : shown() + 1);
    },
    pause: () => {
      stop();
      show();
    },
    // The training of the present document: the wanted checkpoint may have come, or another model.
    receive: now => {
      const isSame = String(training?.curve) === String(now.curve),
        isAnswered = wanted === now.at;
      training = now;
      if (!isSame) stop();
      if (!isSame || isAnswered) wanted = null;
      if (!isRunning || !isAnswered) return;
      if (now.at === last()) stop();
      else timer = setTimeout(() => goTo(now.at + 1), PAUSE_MS);
    },
    end: stop,
  };
}

const WIDTH = 100,
  HEIGHT = 100, // of the drawing's own units, which are stretched to its space
  TICK = 12;

// Where a step lies along a training, from 0 to 1. Most is learnt early, so the first steps get the most room.
const along = ({ checkpoints }, step) => Math.sqrt(step / checkpoints.at(-1));

function drawCurve(training) {
  const { curve, checkpoints, at, yardsticks } = training,
    most = Math.max(...curve.map(([, loss]) => loss), ...yardsticks.map(({ loss }) => loss)),
    x = step => WIDTH * along(training, step),
    y = part => HEIGHT * (1 - part);
  const vertical = (name, step, from) => {
    const points = [from, HEIGHT].map(height => [x(step), height]);
    return drawLine(name, points);
  };
  const horizontal = (name, height) => {
    const points = [0, WIDTH].map(left => [left, height]);
    return drawLine(name, points);
  };
  const measured = yardsticks.filter(({ isLine }) => isLine).map(({ loss }) => horizontal("yardstick", y(loss / most))),
    losses = curve.map(([step, loss]) => [x(step), y(loss / most)]),
    accuracies = curve.map(([step, , accuracy]) => [x(step), y(accuracy)]);
  const drawing = svgElement("svg", {
    class: "curve",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": spoken(curve),
  });
  drawing.append(
    ...checkpoints.map(step => vertical("tick", step, HEIGHT - TICK)),
    vertical("present", checkpoints[at], 0),
    ...measured,
    drawLine("loss", losses),
    drawLine("accuracy", accuracies),
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

const FINEST = 1000; // positions that the slider has
const KEYS = new Map([
  ["ArrowRight", 1],
  ["ArrowUp", 1],
  ["ArrowLeft", -1],
  ["ArrowDown", -1],
  ["Home", Number.NEGATIVE_INFINITY],
  ["End", Number.POSITIVE_INFINITY],
]);

/** @returns {View} */
export function makeTraining(tools) {
  const play = button("", () => (checkpoints.isRunning ? checkpoints.pause() : checkpoints.play())),
    chart = h("div", { class: "chart" }),
    slider = h("input", { type: "range", max: FINEST, "aria-label": "Training steps" }),
    [figures, patterns, measured, writes] = ["figures", "patterns", "yardsticks", "writes"].map(name =>
      h("p", { class: name }),
    ),
    kinds = h("div");
  const box = h(
    "section",
    { class: "training", "aria-label": "Training", hidden: true },
    play,
    h("div", { class: "scrubber" }, chart, slider),
    figures,
    patterns,
    kinds,
    measured,
    writes,
  );
  let training = null;
  const positions = () => training.checkpoints.map(step => Math.round(FINEST * along(training, step)));
  const show = () => {
    box.classList.toggle("running", checkpoints.isRunning); // then it stays on a slide
    write(play, checkpoints.isRunning ? "❚❚ Pause" : "▶ Play training");
    slider.value = String(positions()[checkpoints.shown]);
    slider.setAttribute("aria-valuetext", afterText(training, checkpoints.shown));
  };
  const checkpoints = makeCheckpoints(tools.train, show);
  // Another word, or another letter, changes none of it.
  const drawAll = memoLast(([now, colours]) => {
    chart.replaceChildren(drawCurve(now));
    figures.replaceChildren(...drawFigures(now));
    patterns.replaceChildren(...drawPatterns(now));
    write(measured, comparedText(now));
    writes.replaceChildren(...drawTexts(now, tools));
    patterns.classList.toggle("many", now.patterns.length > 2);
    kinds.replaceChildren(...(now.kinds ? [drawKinds(now.kinds, colours)] : []));
  });
  slider.oninput = () => {
    const distances = positions().map(each => Math.abs(each - Number(slider.value)));
    checkpoints.to(distances.indexOf(Math.min(...distances)));
  };
  slider.onkeydown = event => {
    const by = KEYS.get(event.key);
    if (!by) return;
    event.preventDefault();
    checkpoints.to(Math.min(Math.max(checkpoints.shown + by, 0), training.checkpoints.length - 1));
  };
  return {
    element: box,
    update(pass, where, { colours }) {
      const { model, changes } = pass.document,
        now = model?.training ?? null;
      box.classList.toggle("without-changes", changes.length > 0);
      measured.hidden = !isFirst(pass, where) || !now?.yardsticks.length;
      box.classList.toggle("compared", !measured.hidden);
      writes.hidden = measured.hidden || !now?.writes;
      if (training === now) return;
      training = now;
      box.hidden = !training;
      if (!training) return checkpoints.end();
      checkpoints.receive(training);
      drawAll([training, colours]);
      show();
    },
    get isRunning() {
      return checkpoints.isRunning;
    },
    end: checkpoints.end,
  };
}

const afterText = ({ checkpoints }, at) =>
  at === 0 ? "before training" : `after ${grouped(checkpoints[at])} of ${grouped(checkpoints.at(-1))} steps`;

const measuredAt = ({ curve, checkpoints, at }) => curve.find(([step]) => step === checkpoints[at]).slice(1);

// The measurements of the checkpoint, in the words that name the lines of the chart.
function drawFigures(training) {
  const { curve, checkpoints, at } = training,
    [loss, accuracy] = measuredAt(training),
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
    [loss] = measuredAt(training),
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
