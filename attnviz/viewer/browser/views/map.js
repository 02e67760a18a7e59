// The map: where a step stands in the pass, with the buttons to other steps and the choice of heads.
import { isHeaded } from "../model/axes.js";
import { destinationOf } from "../model/present.js";
import { askedOnward, countedPlace } from "../model/route.js";
import { isFirst, slotsOf, stepAt, withHead } from "../model/state.js";
import { button, element, h, write } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { afterFrame } from "../dom/timing.js";
import { folded, makeDiagram, makeThumb } from "./diagram.js";

const LEAST_FILLED = 0.08; // of the bar, so that one number of many is seen

// Shows it on the buttons of the steps, which are those of `columns`.
function showDistances(buttons, columns, { other }) {
  let isParted = false;
  buttons.forEach((button, nth) => {
    button.querySelector(".distance")?.remove();
    if (!other) return;
    const bar = element("span", "distance"),
      stages = columns[nth].stages.map(name => other.stages[name]); // without stages it keeps the titles in one line
    button.append(bar);
    if (!stages.length) return;
    const shares = stages.map(shareOf),
      share = Math.max(...shares);
    bar.classList.toggle("first", share > 0 && !isParted);
    isParted ||= share > 0;
    bar.style.setProperty("--share", share && LEAST_FILLED + (1 - LEAST_FILLED) * share);
    bar.append(element("span", "bar"), element("span", "text", share ? "≠" : "="));
    bar.title = stages[shares.indexOf(share)].text;
  });
}

// The part of a stage that differs: all of it where it has no numbers to compare.
function shareOf({ matched, other, of }) {
  return matched ? other / of : 1;
}

// `between` is what stands between Previous and Next, on(by) leads so many steps on. Where there is a server (`alone` is not set),
// the end of a talk leads to another sentence.
export function makeStepButtons(between, { alone }, on) {
  const box = element("nav", "way");
  box.setAttribute("aria-label", "Steps");
  const back = button("‹ Previous", () => on(-1)),
    next = button("Next ›", () => on(1), "primary");
  const position = element("span", "place");
  const end = h("div", { class: "end" }, next, position);
  box.append(back, between, end);
  /** @type {View["update"]} */
  const update = (pass, where) => {
    back.disabled = !destinationOf(pass, where, "back");
    next.disabled = !destinationOf(pass, where, "on") && (Boolean(alone) || !askedOnward(pass, where));
    write(next, isFirst(pass, where) && !where.present ? "Begin ›" : "Next ›");
    write(position, countedPlace(pass, where) || "\u00a0");
  };
  return { element: box, update };
}

const MAX_NAMED_HEADS = 5; // heads whose names have room

/** @returns {View} */
export function makeHeads(tools) {
  const note = element("p");
  const line = h("div", { class: "choices", role: "radiogroup", "aria-label": "Head" });
  const box = h("div", { class: "heads" }, line, note);
  let buttons = [],
    built = "",
    drawn = null,
    shown = null,
    turned = null; // the button of another head than before

  const build = (name, heads) => {
    if (`${name} ${heads}` === built) return false;
    built = `${name} ${heads}`;
    drawn = null;
    buttons = Array.from({ length: heads }, (_, head) => {
      const button = element("button"),
        thumb = makeThumb(name);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.append(
        element("span", "", heads > MAX_NAMED_HEADS ? String(head + 1) : `head ${head + 1}`),
        thumb.element,
      );
      button.onclick = () => choose(head);
      return Object.assign(button, { thumb });
    });
    line.classList.toggle("many", heads > MAX_NAMED_HEADS);
    return true;
  };
  const choose = head => tools.go(withHead(shown.where, head));
  rovingFocus(line, () => [buttons], choose);
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where };
      const name = headedAt(pass, where);
      const heads = name ? pass.stages.get(name).shape[0] : 1;
      box.hidden = heads < 2;
      if (box.hidden) return;
      const isOther = build(name, heads);
      const { colours } = look;
      buttons.forEach((button, head) => {
        if (drawn?.pass !== look.pass || drawn.colours !== colours) {
          const alone = headOf(look.pass, name, head);
          button.thumb.resize(
            alone,
            buttons.length > MAX_NAMED_HEADS
              ? { width: 26, height: 30, largest: 7 }
              : { width: 56, height: 40, largest: 7 },
          );
          button.thumb.draw(alone, colours);
        }
        button.setAttribute("aria-checked", head === where.cell.head);
      });
      if (isOther) line.replaceChildren(...buttons); // once they are drawn: a canvas on a page that is new there costs a layout
      write(note, isSent(pass, name) ? "" : "Grey heads are not loaded yet: click one to load it.");
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

// The stage whose heads are shown: the step's result, or its attention where that has none.
/** @param {Pass} pass @param {Where} where */
function headedAt(pass, where) {
  const step = stepAt(pass, where);
  const results = slotsOf(step)
    .filter(slot => slot.result)
    .map(slot => slot.stage);
  return [...results, step.attention].find(name => pass.stages.has(name) && isHeaded(pass.stages.get(name)));
}

/** @param {Pass} pass */
function isSent(pass, name) {
  return !pass.numbers(name).some(Number.isNaN);
}

// A pass in which one head is all there is of a stage.
/** @param {Pass} pass */
function headOf(pass, name, head) {
  const stage = pass.stages.get(name),
    [heads, ...shape] = stage.shape,
    length = stage.length / heads;
  const part = numbers => numbers.subarray(head * length, (head + 1) * length);
  return {
    stages: new Map([[name, { ...stage, shape, axes: stage.axes.slice(1), length }]]),
    numbers: each => part(pass.numbers(each)),
  };
}

const HEIGHT = 44,
  WIDTH = 58;
const LEAST = 32,
  SHARE = 1 / 27; // of a thumb where there are several layers or many steps: pixels, and of the map's width
const BETWEEN = 3;
const MANY = 16; // steps, which have no room for large thumbs

/** @returns {View} */
export function makeMap(tools) {
  const box = h("div", { class: "map", role: "toolbar", "aria-label": "All steps" });
  const diagram = makeDiagram(box, {
    stage: ({ element: thumb }) => thumb,
    step: ({ step, title, opens }, depths) => {
      const button = element("button", "step");
      button.type = "button";
      button.dataset.step = step;
      button.append(depths, element("span", "title", title));
      if (opens) button.prepend(nameAside(opens));
      button.onclick = () => tools.go({ step, reveal: null });
      return button;
    },
  });
  rovingFocus(box, () => [diagram.steps()]);
  let drawn = null,
    shown = null,
    breadth = null,
    isFitted = true, // the titles in their room
    isInSight = true; // the present step

  const draw = () => {
    const { pass, where, colours } = shown;
    const { map, steps } = pass.document;
    const attentionOf = layer => steps.find(step => step.layer === layer).attention;
    const { columns, arrows } = folded(map, stepAt(pass, where).layer, attentionOf);
    const isHeld = box.querySelector(":focus") !== null,
      isOther = diagram.build([columns], arrows);
    const isLayered = columns.some(({ layer }) => layer > 0) || columns.length > MANY;
    box.classList.toggle("layered", isLayered);
    for (const button of diagram.steps()) {
      if (button.dataset.step === where.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    if (isOther || drawn?.pass !== pass) showDistances(diagram.steps(), columns, pass.document);
    const current = diagram.rows.querySelector("[aria-current]");
    setTabStop(diagram.steps(), current ?? diagram.steps()[0]);
    if (isHeld && isOther) current?.focus();
    breadth ??= box.clientWidth;
    const isMoved = drawn?.breadth !== breadth;
    if (isOther || isMoved || drawn.pass !== pass || drawn.colours !== colours) {
      const width = isLayered ? widthIn(breadth) : WIDTH;
      const areAsLarge = diagram
        .thumbs()
        .map(thumb => {
          const height = (HEIGHT - (thumb.beside - 1) * BETWEEN) / thumb.beside;
          return thumb.resize(pass, { width, height, largest: 7 });
        })
        .every(Boolean);
      if (!isOther && (isMoved || !areAsLarge)) afterFrame(diagram.connect); // other steps the diagram connects as it sees them
      afterFrame(drawThumbs); // what one asked for is in neither
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

function widthIn(breadth) {
  return Math.min(Math.max(SHARE * breadth, LEAST), WIDTH);
}

// The name of the layer that is open, upright beside its first step.
function nameAside(text) {
  const name = element("span", "opens", text);
  name.setAttribute("aria-hidden", "true");
  return name;
}
