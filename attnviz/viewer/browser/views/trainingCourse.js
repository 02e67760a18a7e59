// The course of a training: the loss and the accuracy along its checkpoints, and a slider over these. Each checkpoint has the same room,
// as most is learnt early.
import { grouped, percent, short } from "../model/numeral.js";
import { h, svgElement } from "../dom/element.js";
import { afterText, measuredAt } from "./measures.js";

const KEYS = new Map([
  ["ArrowRight", 1],
  ["ArrowUp", 1],
  ["ArrowLeft", -1],
  ["ArrowDown", -1],
  ["PageUp", 3],
  ["PageDown", -3],
  ["Home", Number.NEGATIVE_INFINITY],
  ["End", Number.POSITIVE_INFINITY],
]);
const WIDE = 500, // pixels from which every checkpoint has its step, and there is space beside the curves for their names
  BESIDE = 124;

/** drag(place) is called while the grip is dragged, to a place between checkpoints, too; drop() at the end; by(n) for a key. */
export function makeTrainingCourse({ drag, drop, by }) {
  const svg = svgElement("svg", { "aria-hidden": "true" }),
    grip = h("div", {
      class: "grip",
      role: "slider",
      tabIndex: 0,
      "aria-label": "Training steps",
      "aria-valuemin": "0",
    }),
    box = h("div", { class: "course" }, svg, grip);
  let training = null,
    spots = /** @type {(place: number) => number} */ (() => 0),
    unit = 1, // of 16 pixels, if letters are as large
    graphs = [],
    head = null;
  const last = () => training.checkpoints.length - 1;
  const placeAt = ({ clientX }) => {
    const { left, width } = box.getBoundingClientRect(),
      [from, to] = [spots(0), spots(last())],
      x = ((clientX - left) * box.clientWidth) / width;
    return Math.min(Math.max((last() * (x - from)) / (to - from), 0), last());
  };
  box.onpointerdown = event => {
    if (event.button !== 0) return;
    event.preventDefault(); // or a drag would select text
    box.setPointerCapture(event.pointerId);
    grip.focus({ preventScroll: true });
    drag(placeAt(event));
  };
  box.onpointermove = event => box.hasPointerCapture(event.pointerId) && drag(placeAt(event));
  box.onlostpointercapture = () => drop();
  grip.onkeydown = event => {
    const step = KEYS.get(event.key);
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // on the page, arrow keys lead to another step
    by(step);
  };
  return {
    element: box,
    /** Lays it out for its width, with or without space for Play and curves. @param {import("../../generated/contract").Training} now
     * @param {boolean} hasPlay @param {boolean} hasCurves @param {boolean} isAlone whether nothing stands beside it */
    lay(now, hasPlay, hasCurves, isAlone) {
      training = now;
      unit = Number.parseFloat(getComputedStyle(box).fontSize) / 16;
      const width = box.clientWidth,
        size = grip.offsetWidth,
        isWide = width > WIDE * unit,
        inset = size / 2 + 2,
        left = hasPlay && isWide && !isAlone ? BESIDE * unit + inset : inset;
      spots = place => left + ((width - inset - left) * place) / last();
      graphs = [];
      svg.replaceChildren();
      let foot = 0;
      if (hasCurves) {
        const panel = 32 * unit,
          gap = (isWide ? 15 : 22) * unit,
          names = [["Loss"], ["Accuracy", `${grouped(now.heldOut)} ${now.over.replace(/,.*/, "")}`]],
          most = Math.max(...now.curve.map(([, loss]) => loss)) * 1.05;
        graphs = names.map((name, nth) => {
          foot += gap + panel;
          return drawGraph(svg, now, { name, nth, foot, panel, most: nth ? 1 : most, spots, unit, isWide });
        });
        head = svgElement("line", { class: "head", y1: gap, y2: foot });
        svg.insertBefore(head, svg.firstChild); // behind the curves
      }
      if (hasPlay) {
        drawSteps(svg, now.checkpoints, spots, foot + 15 * unit, 8 * unit);
        foot += 17 * unit;
      }
      const rail = foot + size / 2 + 2;
      svg.append(svgElement("line", { class: "rail", x1: spots(0), x2: spots(last()), y1: rail, y2: rail }));
      for (const place of now.checkpoints.keys())
        svg.append(svgElement("circle", { class: "stop", cx: spots(place), cy: rail, r: 3.5 * unit }));
      svg.setAttribute("height", rail + size / 2 + 2);
      grip.style.top = `${rail - size / 2}px`;
      grip.setAttribute("aria-valuemax", String(last()));
    },
    // At a place that may be between two checkpoints.
    draw(place) {
      const x = spots(place).toFixed(2);
      grip.style.transform = `translateX(calc(${x}px - 50%))`;
      if (!graphs.length) return;
      head.setAttribute("x1", x);
      head.setAttribute("x2", x);
      const [low, high] = [Math.floor(place), Math.ceil(place)].map(each => measuredAt(training, each));
      for (const [nth, { dot, y }] of graphs.entries()) {
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", y(low[nth] + (high[nth] - low[nth]) * (place % 1)).toFixed(2));
      }
    },
    // The numbers of a checkpoint; `text` says what is there.
    print(place, text) {
      const measured = measuredAt(training, place),
        isLate = place > last() - 2;
      for (const [nth, { value, y }] of graphs.entries()) {
        value.textContent = nth ? percent(measured[nth]) : short(measured[nth]);
        value.setAttribute("x", String(spots(place) + (isLate ? -9 : 9) * unit));
        value.setAttribute("text-anchor", isLate ? "end" : "start");
        value.setAttribute("y", String(y(measured[nth]) + (nth && measured[nth] > 0.5 ? 16 * unit : -6 * unit))); // below a curve that is high
      }
      grip.setAttribute("aria-valuenow", String(place));
      grip.setAttribute("aria-valuetext", `${afterText(training, place)}${text && `: ${text}`}`);
    },
  };
}

// The loss, or with `nth` 1 the accuracy, over the checkpoints. Steps between two of these are spread evenly.
function drawGraph(svg, { curve, checkpoints }, { name, nth, foot, panel, most, spots, unit, isWide }) {
  const along = step => {
    const next = Math.max(checkpoints.map(each => each >= step).indexOf(true), 1),
      from = checkpoints[next - 1];
    return spots(next - 1 + (step - from) / (checkpoints[next] - from));
  };
  const y = value => foot - (panel * value) / most,
    points = curve.map(point => `${along(point[0]).toFixed(1)},${y(point[nth + 1]).toFixed(1)}`).join(" "),
    [left, right] = [spots(0), spots(checkpoints.length - 1)],
    dot = svgElement("circle", { class: "dot", r: 4.5 * unit }),
    value = svgElement("text", { class: "digits value" });
  const beside = name.map((text, line) => {
    const y = foot - panel / 2 + (5 + 15 * (line - (name.length - 1) / 2)) * unit;
    return svgElement("text", { class: line ? "soft" : "", x: left - 26 * unit, y, "text-anchor": "end" }, text);
  });
  const above = svgElement("text", { class: "soft", x: left + 4, y: foot - panel - 5 * unit }, name.join(", "));
  svg.append(
    svgElement("line", { class: "rule", x1: left, x2: right, y1: foot, y2: foot }),
    svgElement("polygon", { class: "area", points: `${left},${foot} ${points} ${right},${foot}` }),
    svgElement("polyline", { class: "curve", points }),
    ...(isWide ? beside : [above]),
    dot,
    value,
  );
  return { dot, value, y };
}

// As many of the steps as have space, and the last in any case; a digit is so wide.
function drawSteps(svg, checkpoints, spots, y, digit) {
  const texts = checkpoints.map((step, place) => (place ? grouped(step) : "step 0"));
  let end = Number.POSITIVE_INFINITY; // of the space that is left
  for (const [place, text] of [...texts.entries()].reverse()) {
    const half = (text.length * digit) / 2;
    if (spots(place) + half > end) continue;
    end = spots(place) - half - digit;
    svg.append(svgElement("text", { class: "soft", x: spots(place), y, "text-anchor": "middle" }, text));
  }
}
