// The pictures of moments that show no pass: a sweep over d_k, or a mistake with the mask. A phone has them without the viewer.
import { choice, h, redraw, svgElement, write } from "../dom/element.js";
import { digits, grouped, percent, short } from "../model/numeral.js";
import { makeSlidePicture } from "./slide.js";

// A picture of bars has no numbers of a pass to point at.
const WITHOUT_PASS = { point: () => {}, open: () => {}, selected: () => null, address: () => null };

const LEAST_ROOM = 0.35,
  SHRINK = 0.93;

const WIDE = "(min-width: 821px)"; // on a phone a picture scrolls

/** On a wide screen nothing of a picture is below its box: bars and gaps shrink, then parts stand beside each other. Returns {fit(), end()}.
 * @param {HTMLElement} box */
function makeFit(box) {
  const isOver = () =>
    box.scrollHeight > box.clientHeight + 1 ||
    [...box.children].some(each => each.getBoundingClientRect().bottom > box.getBoundingClientRect().bottom + 1);
  function fit() {
    const isFitted = globalThis.matchMedia?.(WIDE).matches && box.closest(".lesson-picture") !== null;
    box.classList.toggle("fitted", isFitted);
    for (const isBeside of isFitted ? [false, true] : [false]) {
      box.classList.toggle("beside", isBeside);
      for (let room = 1; room > LEAST_ROOM; room *= SHRINK) {
        box.style.setProperty("--room", room.toFixed(2));
        if (!isFitted || !box.clientHeight || !isOver()) return;
      }
    }
  }
  const observer = new ResizeObserver(fit);
  observer.observe(box);
  return { fit, end: () => observer.disconnect() };
}

// `bars` are {label, weight, isHidden}; a weight of null is no number. `foot` is what they add up to, in words.
function drawWeightBars(title, bars, foot = "") {
  const lines = bars.map(({ label, weight, isHidden = false }) => {
    const bar = h("span", { class: "bar", style: { width: `${100 * Math.min(weight ?? 0, 1)}%` } }),
      number = weight === null ? "NaN" : percent(weight);
    return h(
      "li",
      { class: isHidden ? "hidden" : "" },
      h("span", { class: "label" }, label),
      h("span", { class: "rail" }, bar),
      h("span", { class: "number" }, number),
    );
  });
  const sum = foot && h("p", { class: "sum" }, foot);
  return h("figure", { class: "share-bars" }, h("figcaption", {}, title), h("ol", {}, lines), sum);
}

function makeMistakePicture() {
  const box = h("section", { class: "own-picture mistake", ariaLabel: "The mistake" }),
    fitting = makeFit(box);
  return {
    element: box,
    show({ picture }, { isCovered, isPresented }) {
      box.classList.toggle("presented", isPresented);
      redraw(box, drawMistake(picture, isCovered));
      fitting.fit();
    },
    leave: fitting.end,
    ...WITHOUT_PASS,
  };
}

function drawMistake({ name, query, sides, words, hidden, right, wrong, rightSum, wrongSum, laws }, isCovered) {
  const bars = weights => words.map((label, i) => ({ label, weight: weights[i], isHidden: hidden[i] })),
    wrongText = wrongSum === null ? "The sum is no number." : `Sum ${digits(wrongSum)}`,
    law = text => h("p", { class: "law" }, h("strong", {}, "Broken rule: "), text);
  return [
    isCovered ? null : h("p", { class: "name" }, name), // which may give the answer away
    h(
      "div",
      { class: "both" },
      drawWeightBars(`Weights of “${query}” ${sides[0]}`, bars(right), `Sum ${digits(rightSum)}`),
      isCovered ? h("p", { class: "waiting" }, "?") : drawWeightBars(sides[1], bars(wrong), wrongText),
    ),
    ...(isCovered ? [] : laws.map(law)),
  ];
}

const WIDTH = 600,
  HEIGHT = 200,
  POINTS = 240, // of the histogram; of its curve
  OF_SIX = "What a softmax makes of six of these scores";

function makeSweepPicture() {
  const slider = h("input", { type: "range", min: "0", step: "1", "aria-label": "d_k" }),
    output = h("output"),
    divisors = h("span"),
    chart = h("div", { class: "chart" }),
    below = h("div", { class: "below" }),
    controls = h("div", { class: "controls" }, h("label", {}, slider, output), divisors),
    box = h("section", { class: "own-picture sweep", ariaLabel: "The sweep of d_k" }, controls, chart, below),
    fitting = makeFit(box);
  let shown = /** @type {any} */ (null),
    divisor = "",
    hasSlope = false,
    wasCovered = /** @type {boolean | null} */ (null),
    at = 0;
  const chosenDivisor = () => shown.divisors.find(({ id }) => id === divisor);
  // How many d_k may be looked at: while a question about one is open, those so much smaller that they don't give it away.
  const nLengths = () => chosenDivisor().lengths.filter(({ dK }) => !wasCovered || dK <= shown.dK / 8).length;
  const choose = label => {
    divisor = shown.divisors.find(each => each.label === label).id;
    draw();
  };
  const draw = () => {
    const { label, reach, lengths } = chosenDivisor(),
      swept = lengths[at],
      text = `d_k = ${swept.dK}`,
      offered = shown.divisors.filter(({ id }) => shown.offered.includes(id)).map(each => each.label),
      spread = `spread ${short(swept.spread)}, in theory ${short(swept.expected)} (the curve)`;
    slider.max = String(nLengths() - 1); // so that it goes wherever it seems to
    slider.hidden = nLengths() < 2;
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", text);
    write(output, text);
    redraw(divisors, offered.length > 1 ? [choice(offered, label, choose)] : []);
    chart.replaceChildren(
      h("p", {}, `Scores of ${grouped(shown.nPairs)} random queries and keys, ${label}: ${spread}.`),
      drawHistogram(swept, reach, shown.nPairs),
      h("p", { class: "axis" }, h("span", {}, `−${reach}`), h("span", {}, "0"), h("span", {}, String(reach))),
    );
    const bars = swept.shares.map((weight, i) => ({ label: `key ${i + 1}`, weight }));
    redraw(below, wasCovered ? [] : [drawWeightBars(OF_SIX, bars), drawAverages(swept, hasSlope)]); // the question is about scores
    fitting.fit();
  };
  slider.oninput = () => {
    at = Number(slider.value);
    draw();
  };
  return {
    element: box,
    show({ picture, isOptional }, { isCovered, isPresented }) {
      hasSlope = isOptional;
      box.classList.toggle("presented", isPresented);
      box.classList.toggle("covered", isCovered);
      if (picture !== shown) {
        shown = picture;
        divisor = picture.divisor;
        wasCovered = null;
      }
      if (isCovered !== wasCovered) {
        wasCovered = isCovered;
        at = isCovered ? nLengths() - 1 : chosenDivisor().lengths.findIndex(({ dK }) => dK === picture.dK);
      }
      draw();
    },
    leave: fitting.end,
    ...WITHOUT_PASS,
  };
}

// Bars, and the normal curve of the spread that they should have, both as parts of all pairs in a bin.
function drawHistogram({ dK, counts, spread, expected }, reach, nPairs) {
  const label = `Histogram of scores with d_k = ${dK}: spread ${digits(spread)}, expected ${digits(expected)}`,
    bin = (2 * reach) / counts.length,
    width = WIDTH / counts.length,
    peak = bin / (expected * Math.sqrt(2 * Math.PI)), // of the curve
    most = Math.max(...counts.map(count => count / nPairs), peak),
    heightOf = part => (part / most) * (HEIGHT - 6);
  const bars = counts.map((count, i) => {
    const height = heightOf(count / nPairs);
    return svgElement("rect", { x: i * width + 0.5, y: HEIGHT - height, width: width - 1, height, class: "bar" });
  });
  const points = Array.from({ length: POINTS + 1 }, (_, nth) => {
    const score = (2 * nth * reach) / POINTS - reach,
      part = peak * Math.exp(-(score ** 2) / (2 * expected ** 2));
    return `${(nth * WIDTH) / POINTS},${HEIGHT - heightOf(part)}`;
  });
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`,
    svg = svgElement("svg", { viewBox, preserveAspectRatio: "none", role: "img", "aria-label": label });
  svg.append(...bars, svgElement("polyline", { points: points.join(" "), class: "curve" }));
  return svg;
}

const drawAverages = ({ largest, slope }, hasSlope) =>
  h(
    "dl",
    { class: "averages" },
    h("dt", {}, "Largest weight, on average"),
    h("dd", {}, percent(largest)),
    hasSlope && h("dt", {}, "Slope of a weight, p(1 − p), on average"),
    hasSlope && h("dd", {}, digits(slope)),
  );

export const OWN_PICTURES = { mistake: makeMistakePicture, sweep: makeSweepPicture, slide: makeSlidePicture };
