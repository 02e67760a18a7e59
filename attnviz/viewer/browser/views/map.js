// The map: where a step is in the pass, with buttons to other steps and the choice of heads.
import { isHeaded } from "../model/axes.js";
import { destinationOf } from "../model/present.js";
import { countedPosition, nextRequest } from "../model/route.js";
import { isFirst, slotsOf, stepAt, withHead } from "../model/state.js";
import { nameInBlock, shortLayerName } from "../model/words.js";
import { afterFrame, button, h, rovingFocus, setTabStop, write } from "../dom/element.js";
import { folded, makeDiagram, makeThumb } from "./diagram.js";

const LEAST_FILLED = 0.08; // of the bar, so that one number of many is seen

/** Shows on the buttons of the steps, those of `columns`, how much of each differs between A and B. @param {HTMLElement[]} buttons */
function showDistances(buttons, columns, { other }) {
  let isParted = false;
  for (const [nth, button] of buttons.entries()) {
    button.querySelector(".distance")?.remove();
    if (!other) continue;
    const stages = columns[nth].stages.map(name => other.stages[name]),
      // of all its numbers, the part that differs: all where there are none to compare
      distances = stages.map(({ matched, other, of }) => (matched ? other / of : 1)),
      distance = Math.max(0, ...distances);
    if (!stages.length) {
      button.append(h("span", { class: "distance" })); // it keeps the titles in one line
      continue;
    }
    const bar = h("span", { class: "bar" }),
      text = h("span", { class: "text" }, distance ? "≠" : "="),
      title = stages[distances.indexOf(distance)].text,
      box = h("span", { class: "distance", title }, bar, text);
    box.classList.toggle("first", distance > 0 && !isParted);
    box.style.setProperty("--share", String(distance && LEAST_FILLED + (1 - LEAST_FILLED) * distance));
    button.append(box);
    isParted ||= distance > 0;
  }
}

// `between` stands between Previous and Next. With a server the end of a talk leads to another sentence.
export function makeStepButtons(between, { alone }, move) {
  const back = button("‹ Previous", () => move(-1)),
    next = button("Next ›", () => move(1), "primary"),
    position = h("span", { class: "place" }),
    end = h("div", { class: "end" }, next, position);
  /** @type {View["update"]} */
  const update = (pass, where) => {
    back.disabled = !destinationOf(pass, where, "back");
    next.disabled = !destinationOf(pass, where, "on") && (Boolean(alone) || !nextRequest(pass, where));
    write(next, isFirst(pass, where) && !where.present ? "Begin ›" : "Next ›");
    write(position, countedPosition(pass, where));
  };
  return { element: h("nav", { class: "way", "aria-label": "Steps" }, back, between, end), update };
}

/** How much larger letters, and so thumbs, are than usual: in a window of 4K (model/present.js). @param {Where} where */
const growthAt = where =>
  where.present ? 1 : Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

const MAX_NAMED_HEADS = 5; // heads with space for their names

export const greyHeads = ({ alone }) =>
  alone ? "Grey heads aren’t in this page." : "Grey heads are not loaded yet: click one to load it.";

/** @returns {View} */
export function makeHeads(tools) {
  const note = h("p"),
    line = h("div", { class: "choices", role: "radiogroup", "aria-label": "Head" }),
    box = h("div", { class: "heads" }, line, note);
  let shown, drawn, turned; // the last is the button of a head other than before
  let buttons = [],
    built = "";
  const build = (name, heads) => {
    if (`${name} ${heads}` === built) return false;
    const isNamed = heads <= MAX_NAMED_HEADS;
    built = `${name} ${heads}`;
    drawn = null;
    buttons = Array.from({ length: heads }, (_, head) => {
      const thumb = makeThumb(name),
        label = h("span", {}, isNamed ? `head ${head + 1}` : String(head + 1)),
        onclick = () => choose(head);
      return h("button", { type: "button", role: "radio", onclick, thumb }, label, thumb.element);
    });
    line.classList.toggle("many", !isNamed);
    return true;
  };
  const choose = head => tools.go(withHead(shown.where, head));
  rovingFocus(line, () => [buttons], choose);
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where };
      const name = headedAt(pass, where) ?? "",
        heads = name ? pass.stages.get(name).shape[0] : 1,
        { colours } = look;
      box.hidden = heads < 2;
      if (box.hidden) return;
      const isOther = build(name, heads),
        [width, height] = (heads > MAX_NAMED_HEADS ? [26, 30] : [56, 40]).map(each => each * growthAt(where)),
        size = { width, height };
      for (const [head, button] of buttons.entries()) {
        if (drawn?.pass !== look.pass || drawn.colours !== colours) {
          const alone = headOf(look.pass, name, head);
          button.thumb.resize(alone, { ...size, largest: 7 * growthAt(where) });
          button.thumb.draw(alone, colours);
        }
        button.setAttribute("aria-checked", head === where.cell.head);
      }
      if (isOther) line.replaceChildren(...buttons); // once they are drawn: a canvas on a page that is new there costs a layout
      const isSent = !pass.numbers(name).some(Number.isNaN);
      write(note, isSent ? "" : greyHeads(tools));
      setTabStop(buttons, buttons[where.cell.head]);
      if (drawn?.head !== where.cell.head) turned = buttons[where.cell.head];
      drawn = { pass: look.pass, colours, head: where.cell.head };
    },
    // Only the row of heads scrolls, never the page.
    connect() {
      if (turned) line.scrollLeft = turned.offsetLeft - (line.clientWidth - turned.offsetWidth) / 2;
      turned = null;
    },
  };
}

/** The stage whose heads are shown: the step's result, or its attention weights if that has none. @param {Pass} pass @param {Where} where */
function headedAt(pass, where) {
  const step = stepAt(pass, where),
    results = slotsOf(step).filter(({ result }) => result);
  return [...results.map(({ stage }) => stage), step.attention].find(
    name => pass.stages.has(name) && isHeaded(pass.stages.get(name)),
  );
}

/** A pass that has only one head of a stage. @param {Pass} pass */
function headOf(pass, name, head) {
  const stage = pass.stages.get(name),
    [heads, ...shape] = stage.shape,
    length = stage.length / heads;
  return {
    stages: new Map([[name, { ...stage, shape, axes: stage.axes.slice(1), length }]]),
    numbers: each => pass.numbers(each).subarray(head * length, (head + 1) * length),
  };
}

const HEIGHT = 44,
  WIDTH = 58;
const LEAST = 32,
  SHARE = 1 / 27; // of a thumb where there are several layers or many steps: pixels, and of the map's width
const BETWEEN = 3;
const MANY = 16; // steps, which have no space for large thumbs

/** @returns {View} */
export function makeMap(tools) {
  const box = h("div", { class: "map", role: "toolbar", "aria-label": "All steps" });
  const diagram = makeDiagram(box, {
    stage: ({ element: thumb }) => thumb,
    step: ({ step, title, opens }, depths) =>
      h(
        "button",
        { class: "step", type: "button", "data-step": step, onclick: () => tools.go({ step, reveal: null }) },
        opens && h("span", { class: opens.includes("→") ? "opens in-lines" : "opens", "aria-hidden": "true" }, opens), // the name of the open layer, upright
        depths,
        h("span", { class: "title" }, title),
      ),
  });
  rovingFocus(box, () => [diagram.steps()]);
  let drawn, shown, breadth;
  let isFitted = true, // whether the titles are in their space
    isInSight = true; // whether the present step is
  const draw = () => {
    const { pass, where, colours } = shown,
      { map, steps } = pass.document,
      attentionOf = layer => steps.find(step => step.layer === layer).attention,
      { columns, arrows } = folded(map, stepAt(pass, where).layer, attentionOf, layer =>
        shortLayerName(pass.document, layer),
      ),
      hadFocus = box.querySelector(":focus") !== null,
      isOther = diagram.build([columns], arrows),
      isLayered = columns.some(({ layer }) => layer > 0) || columns.length > MANY;
    box.classList.toggle("layered", isLayered);
    for (const button of diagram.steps()) {
      if (button.dataset.step === where.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      const { layer } = columns.find(({ step }) => step === button.dataset.step);
      button.title = pass.document.layers[layer - 1]?.title ? nameInBlock(pass.document, layer) : "";
    }
    if (isOther || drawn?.pass !== pass) showDistances(diagram.steps(), columns, pass.document);
    const current = diagram.rows.querySelector("[aria-current]");
    setTabStop(diagram.steps(), current ?? diagram.steps()[0]);
    if (hadFocus && isOther) current?.focus();
    breadth ??= box.clientWidth;
    const isMoved = drawn?.breadth !== breadth;
    if (isOther || isMoved || drawn.pass !== pass || drawn.colours !== colours) {
      const growth = growthAt(where),
        width = growth * (isLayered ? Math.min(Math.max((SHARE * breadth) / growth, LEAST), WIDTH) : WIDTH);
      const sizesStay = diagram.thumbs().map(thumb => {
        const height = (growth * HEIGHT - (thumb.beside - 1) * BETWEEN) / thumb.beside;
        return thumb.resize(pass, { width, height, largest: 7 * growth });
      });
      if (!isOther && (isMoved || !sizesStay.every(Boolean))) afterFrame(diagram.connect); // new steps are connected as they are observed
      afterFrame(drawThumbs); // later than what the user asked for
    }
    if (isMoved) fit();
    isFitted &&= isMoved || !isOther;
    isInSight &&= !isMoved && drawn.step === where.step;
    drawn = { pass, colours, breadth, step: where.step };
    for (const thumb of diagram.thumbs()) thumb.markHead(where.cell.head);
  };
  const fit = () => {
    box.classList.remove("titles");
    box.classList.toggle("titles", diagram.rows.scrollWidth > box.clientWidth);
  };
  const drawThumbs = () => {
    for (const thumb of diagram.thumbs()) thumb.draw(shown.pass, shown.colours);
  };
  const connect = () => {
    if (!isFitted) fit();
    const current = isInSight ? null : diagram.rows.querySelector("[aria-current]");
    if (current) box.scrollLeft = current.offsetLeft - (box.clientWidth - current.offsetWidth) / 2;
    isFitted = isInSight = true;
  };
  new ResizeObserver(() => {
    breadth = null;
    if (!shown) return;
    draw();
    connect();
  }).observe(box);
  document.fonts.addEventListener("loadingdone", fit);
  return {
    element: box,
    update(pass, where, { colours }) {
      shown = { pass, where, colours };
      draw();
    },
    connect,
  };
}
