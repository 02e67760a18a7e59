// The picture of a moment: a pass, a sweep over d_k, or a mistake with the mask.
import { choice, h, redraw, svgElement, write } from "../dom/element.js";
import { digits, grouped, percent, short } from "../model/numeral.js";
import { readWhere, searchAt } from "../model/address.js";
import { coloursOf } from "../dom/colour.js";
import { drawStory, titleOf } from "../views/numberStory.js";
import { lookAt, withPair } from "../model/looks.js";
import { makeLearns } from "../views/learns.js";
import { makeNextLetter } from "../views/nextLetter.js";
import { makePairing } from "../views/pairing.js";
import { makePicture } from "../views/picture.js";
import { makeAllHeads } from "../views/allHeads.js";
import { makeOneWord } from "../views/oneWord.js";
import { makeThread } from "../views/thread.js";
import { makeTools } from "../views/tools.js";
import { makeWholePass } from "../views/wholepass.js";
import { readPass } from "../model/pass.js";
import { fitted, focusOf, inspected, isHeads, isOfSheet, isSheet, stepAt } from "../model/state.js";
import { keepingFocus } from "../views/viewer.js";

// A picture of bars has no numbers of a pass to point at.
const WITHOUT_PASS = { point: () => {}, open: () => {}, selected: () => null, address: () => null, leave: () => {} };

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
  const box = h("section", { class: "own-picture mistake", ariaLabel: "The mistake" });
  return {
    element: box,
    show({ picture }, isCovered, isPresented) {
      box.classList.toggle("presented", isPresented);
      redraw(box, drawMistake(picture, isCovered));
    },
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
    box = h("section", { class: "own-picture sweep", ariaLabel: "The sweep of d_k" }, controls, chart, below);
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
    slider.max = String(lengths.length - 1);
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
  };
  slider.oninput = () => {
    at = Math.min(Number(slider.value), nLengths() - 1);
    draw();
  };
  return {
    element: box,
    show({ picture, isOptional }, isCovered, isPresented) {
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

// answer({word}, {cell} or {head}) takes what is clicked as an answer, and returns whether it is one.
function makePassPicture(answer) {
  const line = h("div", { class: "number-line" });
  let pass = /** @type {any} */ (null), // Pass
    where = /** @type {any} */ (null), // Where
    shown = /** @type {any} */ (null), // the moment
    covers = new Set(),
    framed = null, // the cell that the moment asks about, or that its answer is read off
    askedStage = "", // the stage of that cell
    isOpened = false, // whether the user opened a number
    isAsked = false; // whether the question is open
  const isShown = stage => !covers.has(stage);
  function draw() {
    const colours = coloursOf(root),
      reveal = covers.size ? "covered" : "all",
      lookAlone = { ...lookAt(pass, where, false), reveal, lines: null, shown: isShown, colours, isAsked };
    const look = withPair(lookAlone, pass, where, () => isShown);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("of-heads", isHeads(pass, where));
    root.classList.toggle("covered", covers.size > 0);
    if (covers.size)
      nextLetter.element.remove(); // its bars are answers
    else {
      main.insertBefore(nextLetter.element, sheet.element);
      nextLetter.update(pass, { ...where, present: true }, look); // as many letters as have room
    }
    for (const view of views) view.update(pass, where, look);
    const { name, index } = focusOf(pass, where),
      story = () => drawStory(pass.story(name, index, where.cell), tools);
    line.hidden = !isOpened || !isShown(name) || pass.number(name, index) === undefined; // what is covered has no story
    redraw(line, line.hidden ? [] : [h("strong", {}, titleOf(pass, look, { name, index })), story()]);
  }
  const render = () => keepingFocus(root, draw);
  const go = parts => {
    const { key, query } = parts.cell ?? {},
      isNew = (word, before) => !parts.picked && word !== undefined && word !== before,
      word = isNew(query, where.cell.query) ? query : isNew(key, where.cell.key) ? key : undefined;
    if (word !== undefined && answer({ word })) return;
    where = fitted(pass, { ...where, ...parts });
    render();
  };
  const tools = makeTools({
    go,
    preview: go,
    requests: { begin: () => {} }, // a moment has all that it shows
    send: () => false,
    alone: "lesson",
    now: () => ({ pass, where }),
    show: () => {},
  });
  // The key's word, which a number of a row belongs to.
  const wordOf = (name, index) => {
    const axis = pass.stages.get(name)?.axes.findIndex(each => each.name === "key") ?? -1;
    return axis < 0 ? undefined : index[axis];
  };
  const opens = act => (name, index) => {
    const head = isHeads(pass, where) ? index[0] : undefined;
    if (answer({ cell: pass.address(name, index), word: wordOf(name, index), head })) return;
    isOpened = true;
    act(name, index);
  };
  // An arrow key gives no answer: it moves on from a number that the user has opened.
  const keyMoved = (name, index) => isOpened && tools.keyMoved(name, index);
  const opening = { pick: opens(tools.pick), inspect: opens(tools.inspect), keyMoved },
    actions = { ...tools, ...opening, set: () => {}, ask: null }; // there is no panel that answers
  const pairing = makePairing(actions),
    thread = makeThread(actions),
    sheet = makeOneWord(actions, true),
    allHeads = makeAllHeads(actions, chooseHead),
    picture = makePicture(actions),
    learns = makeLearns(actions, thread),
    nextLetter = makeNextLetter(actions),
    wholePass = makeWholePass(actions);
  // The name of a head answers a question about heads; else it only selects that head.
  function chooseHead(_name, head) {
    if (!answer({ head })) go({ cell: { ...where.cell, head } });
  }
  // In a talk a matrix that stands aside has no space beside the others: if the question is about it, it stands alone.
  const asideAsked = () => {
    const holds = ({ aside, grid }) => aside && grid.flat().some(slot => slot?.stage === askedStage),
      alone =
        where.present && !isSheet(pass, where) && !isHeads(pass, where) && stepAt(pass, where)?.pictures.find(holds);
    return alone ? [{ ...alone, aside: false }] : undefined;
  };
  // A model's training is shown by a moment at its start that is about all words.
  const training = {
    update: (shown, at, look) => {
      if (isOfSheet(shown, at)) learns.element.hidden = true;
      else learns.update(shown, at, look);
      thread.element.hidden = learns.isLarge;
      if (!learns.element.hidden) learns.connect();
    },
  };
  const board = { update: (shown, at, look) => picture.update(shown, at, look, asideAsked()) },
    views = [pairing, thread, sheet, allHeads, board, wholePass, { update: thread.connect }, training],
    drawn = [pairing, thread, learns, sheet, allHeads, picture, wholePass],
    main = h("div", { class: "main" }, ...drawn.map(view => view.element), line),
    root = h("div", { class: "viewer in-lesson" }, main);
  root.ontransitionend = ({ target }) => {
    if (target === root && pass) render(); // another theme (frame.css)
  };
  return {
    element: root,
    show(moment, isCovered, isPresented) {
      shown = moment;
      if (moment.document !== pass?.document) {
        pass = readPass(moment.document);
        where = fitted(pass, { ...readWhere(pass, `?${moment.at}`), present: false });
        isOpened = false;
        framed = null;
      }
      const cell = isCovered ? moment.askedCell : moment.answerCell;
      if (cell && cell !== framed) where = fitted(pass, { ...where, ...selectionAt(cell) });
      const isWordAsked = isCovered && !cell && (moment.question?.candidates?.some(each => "word" in each) ?? false);
      root.classList.toggle("asks-word", isWordAsked);
      if (isWordAsked) {
        const { query } = where.cell,
          key = pass.wordsAt(where.step).shared ? query : 0; // the one in the address may be the answer
        where = fitted(pass, { ...where, cell: { ...where.cell, key } });
      }
      framed = cell;
      askedStage = moment.answerCell ? pass.read(moment.answerCell).name : "";
      isAsked = isCovered && moment.question !== null;
      covers = new Set(isCovered ? moment.covers : []);
      where = { ...where, present: isPresented };
      render();
    },
    selected: () => pass && { pass, focus: focusOf(pass, where) },
    address: moment => moment === shown && searchAt(pass, { ...where, present: false }, `?${moment.at}`).slice(1),
    // The cell of a number in a text: highlighted, or opened.
    point: link => (link ? tools.point(...cellOf(link)) : tools.point(null, null)),
    open(link) {
      isOpened = true;
      where = fitted(pass, { ...where, ...inspected(pass, where, ...cellOf(link)) });
      render();
    },
    leave: () => {
      nextLetter.end();
      learns.end();
    },
  };
  // Selects a cell without leaving the step that the moment is in.
  function selectionAt(cell) {
    const { name, index } = pass.read(cell);
    return { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  }
  /** @returns {[string, number[]]} */
  function cellOf({ cell }) {
    const { name, index } = pass.read(cell);
    return [name, index];
  }
}

const KINDS = { pass: makePassPicture, mistake: makeMistakePicture, sweep: makeSweepPicture };

export const pictureOf = (moment, answer = _clicked => false) => KINDS[kindOf(moment)](answer);
const kindOf = ({ picture }) => picture?.kind ?? "pass";

// A picture for one moment after the other; answer(clicked) is as in makePassPicture.
export function makeMomentPicture(answer) {
  const box = h("div", { class: "lesson-picture" });
  let made = /** @type {any} */ (null),
    kind = "";
  // On a phone a tall picture scrolls by itself.
  const scrollTo = row => {
    if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };
  return {
    element: box,
    show(moment, isCovered, isPresented) {
      if (kindOf(moment) !== kind) {
        made?.leave();
        made = pictureOf(moment, answer);
        kind = kindOf(moment);
      }
      if (made.element.parentNode !== box) box.replaceChildren(made.element);
      made.show(moment, isCovered, isPresented);
      scrollTo(box.querySelector(".hand th.chosen"));
    },
    clear: () => box.replaceChildren(),
    selected: () => made?.selected() ?? null,
    // What it shows of a moment, as an address of the walkthrough.
    address: moment => (box.contains(made?.element) && made.address(moment)) || moment.at,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}
