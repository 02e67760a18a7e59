// The picture of a moment: a pass, a sweep over d_k, or a mistake with the mask.
import { element, redraw, svgElement, write, choice } from "../dom/element.js";
import { digits, grouped, percent, short } from "../model/numeral.js";
import { readPlace } from "../model/address.js";
import { coloursOf } from "../dom/colour.js";
import { drawStory, titleOf } from "../views/numberStory.js";
import { lookAt, withPair } from "../model/looks.js";
import { makeNextLetter } from "../views/nextLetter.js";
import { makePairing } from "../views/pairing.js";
import { makePicture } from "../views/picture.js";
import { makeSheet } from "../views/sheet.js";
import { makeThread } from "../views/thread.js";
import { makeTools } from "../views/tools.js";
import { makeWholePass } from "../views/wholepass.js";
import { readPass } from "../model/pass.js";
import { fitted, focusOf, inspected, isSheet, stepAt } from "../model/state.js";
import { keepingFocus } from "../views/viewer.js";

// A picture of such bars has no numbers of a pass to point at.
const WITHOUT_PASS = { point: () => {}, open: () => {}, selected: () => null, leave: () => {} };

// `bars` are {label, share, isHidden}; a share of null is no number. `foot` is what they add up to, in words.
function drawShareBars(title, bars, foot = "") {
  const figure = element("figure", "share-bars"),
    list = element("ol");
  figure.append(element("figcaption", "", title), list);
  for (const { label, share, isHidden } of bars) {
    const line = element("li", isHidden ? "hidden" : ""),
      rail = element("span", "rail"),
      bar = element("span", "bar");
    bar.style.width = `${100 * Math.min(share ?? 0, 1)}%`;
    rail.append(bar);
    line.append(
      element("span", "label", label),
      rail,
      element("span", "number", share === null ? "NaN" : percent(share)),
    );
    list.append(line);
  }
  if (foot) figure.append(element("p", "sum", foot));
  return figure;
}

// As makeMomentPicture.
export function makeMistakePicture() {
  const box = element("section", "own-picture mistake");
  box.ariaLabel = "The mistake";
  return {
    element: box,
    show({ picture }, isCovered, isPresented) {
      box.classList.toggle("presented", isPresented);
      redraw(box, drawn(picture, isCovered));
    },
    ...WITHOUT_PASS,
  };
}

function drawn({ name, query, sides, words, hidden, right, wrong, rightSum, wrongSum, laws }, isCovered) {
  const bars = shares => words.map((label, place) => ({ label, share: shares[place], isHidden: hidden[place] })),
    both = element("div", "both");
  both.append(drawShareBars(`Shares of “${query}” ${sides[0]}`, bars(right), `Sum ${digits(rightSum)}`));
  if (isCovered) both.append(element("p", "waiting", "?"));
  else
    both.append(
      drawShareBars(sides[1], bars(wrong), wrongSum === null ? "The sum is no number." : `Sum ${digits(wrongSum)}`),
    );
  const broken = isCovered
    ? []
    : laws.map(law => {
        const line = element("p", "law");
        line.append(element("strong", "", "Law broken: "), law);
        return line;
      });
  return [element("p", "name", name), both, ...broken];
}

const WIDTH = 600,
  HEIGHT = 200,
  POINTS = 240; // of the histogram; of its curve

// As makeMomentPicture.
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
  const chosenDivisor = () => shown.divisors.find(({ id }) => id === divisor);
  // How many d_k may be looked at: while a question about one is open, those so much smaller that they don't tell.
  const nLengths = () => chosenDivisor().lengths.filter(({ dK }) => !isAsked || dK <= shown.dK / 8).length;
  const offered = () => shown.divisors.filter(({ id }) => shown.offered.includes(id));
  const draw = () => {
    const { label: name, reach, lengths } = chosenDivisor(),
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
        at = isCovered ? nLengths() - 1 : chosenDivisor().lengths.findIndex(({ dK }) => dK === picture.dK);
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

// answer({word} or {cell}) takes what is clicked as an answer, and says whether it is one. Returns {element, show(moment,
// isCovered, isPresented), selected(), point(link), open(link), leave()}.
function makePassPicture(answer) {
  const root = element("div", "viewer in-lesson"),
    main = element("div", "main"),
    line = element("div", "number-line");
  let pass = null,
    where = null,
    covers = new Set(),
    framed = null, // the cell that the moment asks about, or that its answer is read off
    askedStage = "", // the stage of that cell
    isOpened = false; // whether somebody asked for a number
  const isShown = stage => !covers.has(stage);
  const draw = () => {
    const colours = coloursOf(root, pass.document.palette);
    const plainLook = {
      ...lookAt(pass, where, false),
      reveal: covers.size ? "covered" : "all",
      lines: null,
      shown: isShown,
      colours,
    };
    const look = withPair(plainLook, pass, where, () => isShown);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("covered", covers.size > 0);
    if (covers.size)
      nextLetter.element.remove(); // its bars are answers
    else {
      main.insertBefore(nextLetter.element, sheet.element);
      nextLetter.update(pass, { ...where, present: true }, look); // as many letters as have room
    }
    for (const view of views) view.update(pass, where, look);
    const { name, index } = focusOf(pass, where);
    line.hidden = !isOpened || !isShown(name) || pass.number(name, index) === undefined; // what is covered has no story
    redraw(line, line.hidden ? [] : drawNumber(look, name, index));
  };
  const render = () => keepingFocus(root, draw);
  const drawNumber = (look, name, index) => [
    element("strong", "", titleOf(pass, look, { name, index })),
    drawStory(pass.story(name, index, where.cell), tools),
  ];
  const go = parts => {
    const { key, query } = parts.cell ?? {};
    const word =
      !parts.picked &&
      [
        [query, where.cell.query],
        [key, where.cell.key],
      ].find(([now, before]) => now !== undefined && now !== before);
    if (word && answer({ word: word[0] })) return;
    where = fitted(pass, { ...where, ...parts });
    render();
  };
  const tools = makeTools({
    go,
    through: go,
    errands: { begin: () => {} }, // a moment has all that it shows
    send: () => false,
    alone: "lesson",
    now: () => ({ pass, where }),
    show: () => {},
  });
  const opens = act => (name, index) => {
    if (answer({ cell: pass.address(name, index), word: wordOf(name, index) })) return;
    isOpened = true;
    act(name, index);
  };
  // A key answers nothing on its way: it leads on from a number that somebody has asked for.
  const arrive = (name, index) => {
    if (isOpened) tools.arrive(name, index);
  };
  const opening = { pick: opens(tools.pick), inspect: opens(tools.inspect), arrive };
  const actions = { ...tools, ...opening, set: () => {}, ask: null }; // there is no panel that answers
  // The word that a number of a row is of: its key.
  const wordOf = (name, index) => {
    const at = pass.stages.get(name).axes.findIndex(axis => axis.name === "key");
    return at < 0 ? undefined : index[at];
  };
  const pairing = makePairing(actions),
    thread = makeThread(actions),
    sheet = makeSheet(actions, true),
    picture = makePicture(actions),
    nextLetter = makeNextLetter(actions),
    wholePass = makeWholePass(actions);
  // In a talk what stands aside has no room beside the other matrices: where it is asked about, it stands alone.
  const asideAsked = () => {
    const holds = ({ aside, grid }) => aside && grid.flat().some(slot => slot?.stage === askedStage),
      alone = where.present && !isSheet(pass, where) && stepAt(pass, where).pictures.find(holds);
    return alone ? [{ ...alone, aside: false }] : undefined;
  };
  const board = { update: (shown, at, look) => picture.update(shown, at, look, asideAsked()) };
  const views = [pairing, thread, sheet, board, wholePass, { update: thread.connect }];
  main.append(...[pairing, thread, sheet, picture, wholePass].map(view => view.element), line);
  root.append(main);
  root.ontransitionend = ({ target }) => {
    if (target === root && pass) render(); // another theme (frame.css)
  };
  return {
    element: root,
    show: (moment, isCovered, isPresented) => {
      if (moment.document !== pass?.document) {
        pass = readPass(moment.document);
        where = fitted(pass, { ...readPlace(pass, `?${moment.at}`), present: false });
        isOpened = false;
        framed = null;
      }
      const cell = isCovered ? moment.askedCell : moment.answerCell;
      if (cell && cell !== framed) where = fitted(pass, { ...where, ...selected(cell) });
      framed = cell;
      askedStage = moment.answerCell ? pass.read(moment.answerCell).name : "";
      covers = new Set(isCovered ? moment.covers : []);
      where = { ...where, present: isPresented };
      render();
    },
    // The number that is selected, and its pass.
    selected: () => pass && { pass, focus: focusOf(pass, where) },
    // The cell of a number in a text: lit where it stands, or opened.
    point: link => tools.point(...(link ? cellOf(link) : [null, null])),
    open: link => {
      isOpened = true;
      const [name, index] = cellOf(link);
      where = fitted(pass, { ...where, ...inspected(pass, where, name, index) });
      render();
    },
    leave: () => nextLetter.end(),
  };
  // A cell, without leaving the step that the moment is in.
  function selected(cell) {
    const { name, index } = pass.read(cell);
    return { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  }
  function cellOf({ cell }) {
    const { name, index } = pass.read(cell);
    return [name, index];
  }
}

/** @type {Map<string, typeof makePassPicture>} */
const KINDS = new Map([
  ["pass", makePassPicture],
  ["mistake", makeMistakePicture],
  ["sweep", makeSweepPicture],
]);

// One for a moment, as makeMomentPicture makes it.
export function pictureOf({ picture }, answer = _clicked => false) {
  return KINDS.get(kindOf({ picture }))(answer);
}

// One for a moment after the other; answer(clicked) is as makeMomentPicture has it. Returns {element, show(moment, isCovered,
// isPresented), clear(), selected(), point(link), open(link), leave()}.
export function makeMomentPicture(answer) {
  const box = element("div", "lesson-picture");
  let made = null,
    kind = "";
  // On a phone a tall picture scrolls by itself.
  const bring = row => {
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
      bring(box.querySelector(".hand th.chosen"));
    },
    clear: () => box.replaceChildren(),
    selected: () => made?.selected?.() ?? null,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}

function kindOf({ picture }) {
  return picture?.kind ?? "pass";
}
