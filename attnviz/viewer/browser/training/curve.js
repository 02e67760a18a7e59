// Curves: loss and held-out accuracy over the steps of a training, with a tick at each checkpoint.
import { svgElement } from "../elements/element.js";
import { grouped, percent, short } from "../pass/numeral.js";

const WIDTH = 100,
  HEIGHT = 100; // of the drawing's own units, which are stretched to the room there is
const TICK = 12;

// Where a step lies along a training, from 0 to 1. Most is learnt early, so the first steps get the most room.
export function along({ checkpoints }, step) {
  return Math.sqrt(step / checkpoints.at(-1));
}

export function drawCurve(training) {
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
