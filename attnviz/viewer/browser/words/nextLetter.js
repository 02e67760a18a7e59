// The next letter: what may come next as bars, how one of them is chosen, and the text written on with it.
import { button, choice } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { percent } from "../pass/numeral.js";
import { drawName } from "./writtenName.js";
import { pairOf } from "../scene/pair.js";
import { isFirst } from "../scene/state.js";

const PACE_MS = 600; // from letter to letter, while it writes to the end
const HOW = { probable: "the most probable", drawn: "drawn" }, ORDER = { size: "by probability", name: "by alphabet" };
const NAMES = { temperature: "temperature", top_k: "top-k", top_p: "top-p" };
const FIRST = { temperature: 1, top_k: 0, top_p: 1, seed: 0 };
const MANY = 100; // names at a click
const MAX_SEED = 999, LEAST_SAID = 0.01; // a smaller share has no room over its bar

export function makeNextLetter(tools) {
  const box = element("section", "next-letter"), line = element("p", "line"), how = element("span", "how"), bars = element("div", "bars-of"), kept = element("p", "kept");
  box.setAttribute("aria-label", "The next letter");
  const back = button("← Back", () => tools.send("shorter", true)), on = button("", () => tools.send("next", true), "primary"), said = element("span", "said");
  const play = button("", () => (timer === null ? start() : stop()));
  said.setAttribute("role", "status");
  let shown = null, timer = null, order = ORDER.size, listed = null;
  back.ariaLabel = "Take the last letter away";
  for (const each of [back, on, play, how]) each.hidden = Boolean(tools.alone);
  const names = button(`${MANY} names`, () => tools.send("names", true)), list = element("div", "names-of");
  names.hidden = Boolean(tools.alone);
  list.popover = "auto";
  line.append(back, on, play, said, how, names);
  box.append(line, bars, kept, list);
  box.hidden = true;

  const isDone = ({ ends, isFull }) => ends || isFull;
  const start = () => {
    timer = 0;
    tools.send("next", true);
    draw();
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    draw();
  };
  const draw = () => {
    const { pass } = shown, { document } = pass, { next, model, link } = document;
    const name = model.answers, labels = pass.stages.get(name).axes[1].labels, last = pass.stages.get(name).shape[0] - 1;
    write(on, isDone(next) ? "Next letter" : `Next letter: ${labels[next.answer]}`);
    on.disabled = play.disabled = isDone(next);
    back.disabled = !next.canShorten;
    write(play, timer === null ? "▶ Write to the end" : "❚❚ Pause");
    write(kept, next.kept.at(-1)?.said ?? "");
    write(said, next.ends ? `It ends here: “${link.sentence}”.` : next.isFull ? "It has no more places." : "");
    redraw(how, drawHow(next, tools, order, (text) => {
      order = text;
      draw();
    }));
    if (next.names && next.names !== listed) {
      list.replaceChildren(...drawNames(next.names, (text) => {
        list.hidePopover();
        tools.send("sentence", text);
      }));
      list.showPopover();
    }
    listed = next.names;
    drawBars(bars, { beside: pairOf(pass, shown.where), pass, name, labels, last, next, order }, tools);
  };
  return {
    element: box,
    update(pass, where) {
      const { next } = pass.document, isOther = shown?.pass.document !== pass.document;
      const isHere = Boolean(next) && isFirst(pass, where);
      box.hidden = !isHere;
      if (!isHere) {
        clearTimeout(timer);
        timer = null;
        return;
      }
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

// How it is chosen, and in which order the bars stand.
function drawHow({ drawing, offered }, { send }, order, sort) {
  const now = drawing ? HOW.drawn : HOW.probable, set = (parts) => send("draw", { ...FIRST, ...drawing, ...parts });
  const chosen = choice(Object.values(HOW), now, (text) => (text === HOW.probable ? send("draw", null) : set({})));
  const boxes = drawing ? Object.entries(NAMES).map(([name, label]) => drawOffer(label, offered[name], drawing[name], (value) => set({ [name]: value }))) : [];
  const seed = drawing ? [drawSeed(drawing.seed, (value) => set({ seed: value }))] : [];
  return [chosen, ...boxes, ...seed, element("span", "room"), choice(Object.values(ORDER), order, sort)];
}

function drawOffer(label, values, present, pick) {
  const line = element("label", "", `${label} `), select = element("select");
  select.append(...values.map((value) => element("option", "", label === NAMES.top_k && value === 0 ? "all" : String(value))));
  select.selectedIndex = values.indexOf(present);
  select.onchange = () => pick(values[select.selectedIndex]);
  line.append(select);
  return line;
}

function drawSeed(present, pick) {
  const line = element("label", "", "seed "), input = element("input");
  Object.assign(input, { type: "number", min: 0, max: MAX_SEED, step: 1, value: present });
  input.onchange = () => { if (input.checkValidity() && input.value !== "") pick(Number(input.value)); };
  const dice = button("⚄", () => pick((present + 1) % (MAX_SEED + 1)));
  dice.ariaLabel = "Another seed";
  line.append(input, dice);
  return line;
}

// The probability in the other of two passes, as a line across the bar.
function drawBeside(pair, name, index, most) {
  const there = pair?.toA(name, index), line = element("span", "in-a");
  if (!there) return [];
  line.style.bottom = `${(100 * pair.pass.number(name, there)) / most}%`;
  return [line];
}

function drawNames({ listed, said, about }, take) {
  const names = element("p", "listed");
  names.append(...listed.map((each) => drawName(each, take)));
  return [element("p", "said", said), names, element("p", "note", `Bold: held out, and never trained on. Italic: new, in no list. ${about}`)];
}

// A bar for each answer: its probability, and in it with which it is chosen where that is another.
function drawBars(box, { beside, pass, name, labels, last, next, order }, { pick, point }) {
  const shares = labels.map((_, answer) => pass.number(name, [last, answer])), most = Math.max(...shares, ...(next.drawing ? next.weights : []), 0.01);
  const places = [...labels.keys()];
  if (order === ORDER.size) places.sort((one, other) => shares[other] - shares[one]);
  redraw(box, places.map((answer) => {
    const made = button("", () => pick(name, [last, answer]), `bar-of${answer === next.answer ? " comes" : ""}${next.drawing && !next.weights[answer] ? " out" : ""}`);
    const share = element("span", "share", shares[answer] < LEAST_SAID ? "" : percent(shares[answer])), room = element("span", "room-of"), given = element("span", "given"), weight = element("span", "weight");
    given.style.height = `${(100 * shares[answer]) / most}%`;
    weight.style.height = next.drawing ? `${(100 * next.weights[answer]) / most}%` : "0";
    room.append(given, weight, ...drawBeside(beside, name, [last, answer], most));
    made.append(share, room, element("span", "name", labels[answer]));
    made.dataset.cell = `${name}[${last},${answer}]`;
    made.ariaLabel = `${labels[answer]}: ${percent(shares[answer])}${next.drawing ? `, drawn with ${percent(next.weights[answer])}` : ""}`;
    made.onpointerenter = made.onfocus = () => point(name, [last, answer]);
    made.onpointerleave = made.onblur = () => point(name, null);
    return made;
  }));
}
