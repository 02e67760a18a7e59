// The next letter: the model's probabilities as bars, the letter drawn from them, and the name written so far.
import { pairOf } from "../model/looks.js";
import { percent } from "../model/numeral.js";
import { isFirst } from "../model/state.js";
import { hasOneText } from "../model/words.js";
import { button, choice, h, makePopover, memoLast, redraw, rovingFocus, setTabStop, write } from "../dom/element.js";

// Puts names into a box: Tab leads to one of them, arrow keys to the others.
export function drawNames(box, texts, take) {
  const names = texts.map(({ text, is }) => {
    const name = button(text || "(nothing)", () => take(text), `link written ${is.replaceAll(" ", "-")}`);
    name.title = is;
    return name;
  });
  box.setAttribute("role", "toolbar");
  box.setAttribute("aria-label", "Names");
  box.append(...names.flatMap(name => [" ", name]));
  rovingFocus(box, () => [names]);
  setTabStop(names, names[0]);
}

const HOW = { probable: "the most probable", drawn: "drawn" };
const NAMES = { temperature: "temperature", top_k: "top-k", top_p: "top-p" };
const FIRST = { temperature: 1, top_k: 0, top_p: 1, seed: 0 };
const MAX_SEED = 999;

function drawHow(drawing, { send }) {
  const pick = text => send("draw", text === HOW.probable ? null : FIRST);
  return choice(Object.values(HOW), drawing ? HOW.drawn : HOW.probable, pick);
}

// The settings of the drawing; none where the most probable comes next.
function drawSettings(drawing, offered, { send }) {
  if (!drawing) return [];
  const set = parts => send("draw", { ...drawing, ...parts });
  const boxes = Object.entries(NAMES).map(([name, label]) => {
    const textOf = value => (name === "top_k" && value === 0 ? "all" : String(value)),
      select = h("select", {}, ...offered[name].map(value => h("option", {}, textOf(value))));
    select.selectedIndex = offered[name].indexOf(drawing[name]);
    select.onchange = () => set({ [name]: offered[name][select.selectedIndex] });
    return h("label", {}, `${label} `, select);
  });
  return [...boxes, drawSeed(drawing.seed, seed => set({ seed }))];
}

function drawSeed(present, pick) {
  const input = h("input", { type: "number", min: 0, max: MAX_SEED, step: 1, value: present }),
    dice = button("⚄", () => pick((present + 1) % (MAX_SEED + 1)));
  input.onchange = () => {
    if (input.checkValidity() && input.value !== "") pick(Number(input.value));
  };
  dice.ariaLabel = "Another seed";
  return h("label", {}, "seed ", input, dice);
}

const LEAST_SHARE = 0.01; // a smaller probability has no room over its bar
const MOST_IN_A_TALK = 10; // bars; the other answers share one

// Updates the bars in place: rebuilding them for each letter is slower than everything else.
function makeAnswerBars(tools) {
  // A toolbar keeps its arrow keys: on the page they lead to another step.
  const box = h("div", { class: "bars-of", role: "toolbar", "aria-label": "What comes next" });
  let bars = /** @type {ReturnType<typeof makeBar>[]} */ ([]);
  rovingFocus(box, () => [bars.map(bar => bar.element)]);
  return {
    element: box,
    update({ pair, pass, name, labels, last, next, isSorted, isTalk }) {
      const all = [...labels.keys()],
        shares = all.map(answer => pass.number(name, [last, answer])),
        weights = next.drawing ? next.weights : null,
        inA = pair && all.map(answer => numberInA(pair, name, [last, answer]));
      const answers = isTalk ? mostOf(all, shares, next.answer) : all,
        rest = all.filter(answer => !answers.includes(answer)),
        sumOf = numbers => rest.reduce((sum, answer) => sum + numbers[answer], 0);
      if (isSorted || isTalk) answers.sort((one, other) => shares[other] - shares[one]);
      const sums = rest.length ? [sumOf(shares)] : [],
        most = Math.max(...sums, ...shares, ...(inA ?? []), ...(weights ?? []), 0.01);
      const rowOf = answer => ({
        index: [last, answer],
        label: labels[answer],
        share: shares[answer],
        isNext: answer === next.answer,
        weight: weights?.[answer] ?? null,
        shareInA: inA?.[answer] ?? null,
      });
      const rows = /** @type {any[]} */ (answers.map(rowOf));
      if (rest.length) {
        const ofRest = { weight: weights && sumOf(weights), shareInA: inA && sumOf(inA) };
        rows.push({ index: null, label: `other ${rest.length}`, share: sumOf(shares), isNext: false, ...ofRest });
      }
      if (bars.length !== rows.length) {
        bars = rows.map(() => makeBar(tools));
        box.replaceChildren(...bars.map(bar => bar.element));
        setTabStop([...box.children], box.firstChild);
      }
      for (const [nth, row] of rows.entries()) bars[nth].update({ ...row, name, most });
    },
  };
}

function numberInA({ pass, toA }, name, index) {
  const inA = toA(name, index);
  return inA && pass.number(name, inA);
}

function mostOf(all, shares, next) {
  const isNext = answer => Number(answer === next);
  const ranked = [...all].sort((one, other) => isNext(other) - isNext(one) || shares[other] - shares[one]);
  return ranked.slice(0, MOST_IN_A_TALK);
}

function makeBar({ pick, point }) {
  const [number, given, drawn, inA, name] = ["share", "given", "weight", "in-a", "name"].map(each =>
    h("span", { class: each }),
  );
  const made = button("", () => pick(shown.name, shown.index), "bar-of");
  let shown = null;
  made.append(number, h("span", { class: "room-of" }, given, drawn, inA), name);
  made.onpointerenter = made.onfocus = () => point(shown.name, shown.index);
  made.onpointerleave = made.onblur = () => point(shown.name, null);
  return {
    element: made,
    update(next) {
      shown = next;
      const { label, share, weight, most, shareInA, index, isNext } = next,
        high = part => `${(100 * part) / most}%`;
      write(number, share < LEAST_SHARE ? "" : percent(share));
      write(name, label);
      given.style.height = high(share);
      drawn.style.height = high(weight ?? 0);
      inA.hidden = shareInA === null;
      inA.style.bottom = high(shareInA ?? 0);
      made.classList.toggle("comes", isNext);
      made.classList.toggle("out", weight === 0);
      made.disabled = index === null;
      made.dataset.cell = index ? `${next.name}[${index}]` : "";
      const drawnText = weight === null ? "" : `, drawn with ${percent(weight)}`;
      made.ariaLabel = `${label}: ${percent(share)}${drawnText}${shareInA === null ? "" : `, in A ${percent(shareInA)}`}`;
    },
  };
}

const PACE_MS = 180; // from a letter that is drawn to the request for the next, while it writes to the end
const ORDER = { size: "by probability", name: "by alphabet" };
const MANY = 100; // names at a click

/** @returns {View} */
export function makeNextLetter(tools) {
  const back = button("Delete", () => tools.send("shorter", true)),
    on = button("", () => tools.send("next", true), "primary"),
    play = button("", () => (timer === null ? start() : stop())),
    status = h("span", { class: "said", role: "status" }),
    how = h("span"),
    order = h("span", { class: "order" }),
    names = button(`${MANY} names`, () => tools.send("names", true)),
    more = button("Options", null, "more"),
    options = makePopover(more, "letter-options", "Options of the next letter"),
    line = h("p", { class: "line" }, on, play, back, status, more);
  const settings = h("p", { class: "how" }),
    bars = makeAnswerBars(tools),
    note = h("p", { class: "of-pair" }),
    list = h("div", { class: "names-of", popover: "auto" });
  const box = h(
    "section",
    { class: "next-letter", "aria-label": "The next letter", hidden: true },
    line,
    options,
    bars.element,
    note,
    list,
  );
  let shown = null,
    timer = null, // while it writes to the end
    sorted = ORDER.size,
    listed = null;
  options.append(h("p", {}, how, order), settings, h("p", {}, names));
  back.ariaLabel = "Delete the last letter";
  for (const each of [back, on, play, how, settings, names]) each.hidden = Boolean(tools.alone);
  const drawDrawing = memoLast(([drawing, offered]) => {
    redraw(how, [drawHow(drawing, tools)]);
    redraw(settings, drawSettings(drawing, offered, tools));
  });
  const sortBy = text => {
    sorted = text;
    draw();
  };
  const drawOrder = memoLast(present => redraw(order, [choice(Object.values(ORDER), present, sortBy)]));
  const isDone = ({ ends, isFull }) => ends || isFull;
  const start = () => {
    timer = 0;
    tools.send("next", true);
    draw();
  };
  const stop = () => {
    halt();
    draw();
  };
  const halt = () => {
    clearTimeout(timer);
    timer = null;
  };
  const showNames = names => {
    const take = text => {
      list.hidePopover();
      tools.send("sentence", text);
    };
    list.replaceChildren(...drawListed(names, take));
    list.showPopover();
  };
  const draw = () => {
    const { pass, where } = shown,
      { next, model, link, words } = pass.document,
      { axes, shape } = pass.stages.get(model.answers),
      { labels } = axes[1],
      isFullText = next.isFull ? `The context is full: ${words.query.length} tokens.` : "",
      pair = pairOf(pass, where);
    write(on, isDone(next) ? "Next letter" : `Next letter: ${labels[next.answer]}`);
    on.disabled = play.disabled = isDone(next);
    back.disabled = !next.canShorten;
    write(play, timer === null ? "▶ Write to the end" : "❚❚ Pause");
    write(status, next.ends ? `It ends here: “${link.sentence}”.` : isFullText);
    drawDrawing([next.drawing, next.offered]);
    drawOrder(sorted);
    if (next.names && next.names !== listed) showNames(next.names);
    listed = next.names;
    write(note, pair ? "Bars are B, lines A." : "");
    const state = { last: shape[0] - 1, isSorted: sorted === ORDER.size, isTalk: where.present };
    bars.update({ pair, pass, name: model.answers, labels, next, ...state });
  };
  return {
    element: box,
    get isRunning() {
      return timer !== null;
    },
    update(pass, where) {
      const { next } = pass.document,
        isOther = shown?.pass.document !== pass.document;
      box.hidden = !next || !isFirst(pass, where) || !hasOneText(pass.document); // rows of two texts have what comes next
      if (!next || box.hidden) return halt();
      shown = { pass, where };
      if (isOther && timer !== null) {
        clearTimeout(timer);
        timer = isDone(next) ? null : setTimeout(() => tools.send("next", true), PACE_MS);
      }
      draw();
    },
    end: () => clearTimeout(timer),
  };
}

function drawListed({ listed, text, about }, take) {
  const names = h("div", { class: "listed" }),
    legend = `Bold: held out, and never trained on. Italic: new, in no list. Underlined twice: in the list that training draws from, but not drawn by then. Others: trained on. ${about}`;
  drawNames(names, listed, take);
  return [h("p", { class: "said" }, text), names, h("p", { class: "note" }, legend)];
}
