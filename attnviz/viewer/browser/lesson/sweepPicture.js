// The sweep: random scores at one d_k after the other, as a histogram with the spread that they should have over it, what a
// softmax makes of one row of them, and how large shares and slopes are on average.
import { choice } from "../elements/button.js";
import { element, redraw, svgElement, write } from "../elements/element.js";
import { digits, grouped, percent, short } from "../pass/numeral.js";
import { drawShareBars, WITHOUT_PASS } from "./shareBars.js";

const WIDTH = 600,
  HEIGHT = 200,
  POINTS = 240; // of the histogram; of its curve

// As makePassPicture.
export function makeSweepPicture() {
  const box = element("section", "own-picture sweep"),
    controls = element("div", "controls"),
    label = element("label"),
    slider = element("input"),
    output = element("output"),
    divisors = element("span"),
    chart = element("div", "chart"),
    below = element("div", "below");
  let shown = null,
    divisor = "",
    isAsked = null,
    at = 0;
  box.ariaLabel = "The sweep of d_k";
  slider.type = "range";
  slider.min = "0";
  slider.step = "1";
  slider.setAttribute("aria-label", "d_k");
  label.append(slider, output);
  controls.append(label, divisors);
  box.append(controls, chart, below);
  const own = () => shown.divisors.find(({ id }) => id === divisor);
  // How many d_k may be looked at: while a question about one is open, those so much smaller that they don't tell.
  const nLengths = () => own().lengths.filter(({ dK }) => !isAsked || dK <= shown.dK / 8).length;
  const offered = () => shown.divisors.filter(({ id }) => shown.offered.includes(id));
  const draw = () => {
    const { label: name, reach, lengths } = own(),
      swept = lengths[at],
      text = `d_k = ${swept.dK}`;
    slider.max = String(nLengths() - 1); // which its value can't be beyond
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", text);
    write(output, text);
    redraw(divisors, [
      choice(
        offered().map(each => each.label),
        name,
        chosen => {
          divisor = shown.divisors.find(each => each.label === chosen).id;
          draw();
        },
      ),
    ]);
    chart.replaceChildren(
      element(
        "p",
        "",
        `Scores of ${grouped(shown.nPairs)} random pairs, ${name}: spread ${short(swept.spread)}, in theory ${short(swept.expected)} (the curve).`,
      ),
      histogram(swept, reach, shown.nPairs),
      axis(reach),
    );
    below.replaceChildren(
      drawShareBars(
        "One row: six random keys",
        swept.shares.map((share, place) => ({ label: `key ${place + 1}`, share, isHidden: false })),
      ),
      averages(swept),
    );
  };
  slider.oninput = () => {
    at = Number(slider.value);
    draw();
  };
  return {
    element: box,
    show({ picture }, isCovered, isPresented) {
      box.classList.toggle("presented", isPresented);
      box.classList.toggle("covered", isCovered);
      if (picture !== shown) {
        shown = picture;
        divisor = picture.divisor;
        isAsked = null;
      }
      if (isCovered !== isAsked) {
        isAsked = isCovered;
        at = isCovered ? nLengths() - 1 : own().lengths.findIndex(({ dK }) => dK === picture.dK);
      }
      draw();
    },
    ...WITHOUT_PASS,
  };
}

// Bars, and the normal curve of the spread that they should have, both as parts of all pairs in a bin.
function histogram({ dK, counts, spread, expected }, reach, nPairs) {
  const svg = svgElement("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Histogram of scores with d_k = ${dK}: spread ${digits(spread)}, expected ${digits(expected)}`,
    }),
    bin = (2 * reach) / counts.length,
    width = WIDTH / counts.length,
    peak = bin / (expected * Math.sqrt(2 * Math.PI)), // of the curve
    most = Math.max(...counts.map(count => count / nPairs), peak),
    height = part => (part / most) * (HEIGHT - 6);
  counts.forEach((count, place) => {
    const tall = height(count / nPairs);
    svg.append(
      svgElement("rect", { x: place * width + 0.5, y: HEIGHT - tall, width: width - 1, height: tall, class: "bar" }),
    );
  });
  const curve = Array.from({ length: POINTS + 1 }, (_, nth) => {
    const score = (2 * nth * reach) / POINTS - reach,
      share = peak * Math.exp(-(score ** 2) / (2 * expected ** 2));
    return `${(nth * WIDTH) / POINTS},${HEIGHT - height(share)}`;
  });
  svg.append(svgElement("polyline", { points: curve.join(" "), class: "curve" }));
  return svg;
}

function axis(reach) {
  const line = element("p", "axis");
  line.append(element("span", "", `−${reach}`), element("span", "", "0"), element("span", "", String(reach)));
  return line;
}

function averages({ largest, slope }) {
  const list = element("dl", "averages");
  for (const [name, value] of [
    ["Largest share, on average", percent(largest)],
    ["Slope of a share, p(1 − p), on average", digits(slope)],
  ])
    list.append(element("dt", "", name), element("dd", "", value));
  return list;
}
