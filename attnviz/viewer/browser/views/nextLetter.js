// The next letter: the model's probabilities as bars, the letter drawn from them, and the name written so far.
import { percent } from "../model/numeral.js";
import { pairOf } from "../model/looks.js";
import { isFirst } from "../model/state.js";
import { button, choice, element, h, redraw, write } from "../dom/element.js";
import { rovingFocus, setTabStop } from "../dom/grid.js";
import { whenOther } from "../dom/timing.js";

// Puts names into a box: Tab leads to one of them, arrow keys to the others.
export function drawNames(box, texts, take) {
  const names = texts.map(each => drawName(each, take));
  box.setAttribute("role", "toolbar");
  box.setAttribute("aria-label", "Names");
  box.append(...names.flatMap(name => [" ", name]));
  rovingFocus(box, () => [names]);
  setTabStop(names, names[0]);
}

function drawName({ text, is }, take) {
  const name = button(text || "(nothing)", () => take(text), `link written ${is.replaceAll(" ", "-")}`);
  name.title = is;
  return name;
}

const HOW = { probable: "the most probable", drawn: "drawn" };
const NAMES = { temperature: "temperature", top_k: "top-k", top_p: "top-p" };
const FIRST = { temperature: 1, top_k: 0, top_p: 1, seed: 0 };
const MAX_SEED = 999;

function drawHow(drawing, { send }) {
  return choice(Object.values(HOW), drawing ? HOW.drawn : HOW.probable, text =>
    send("draw", text === HOW.probable ? null : FIRST),
  );
}

// Nothing where the most probable comes next.
function drawBoxes(drawing, offered, { send }) {
  if (!drawing) return [];
  const set = parts => send("draw", { ...drawing, ...parts });
  const boxes = Object.entries(NAMES).map(([name, label]) =>
    drawOffer(label, offered[name], drawing[name], value => set({ [name]: value })),
  );
  return [...boxes, drawSeed(drawing.seed, value => set({ seed: value }))];
}

function drawOffer(label, values, present, pick) {
  const select = element("select");
  const line = h("label", {}, `${label} `, select);
  select.append(
    ...values.map(value => element("option", "", label === NAMES.top_k && value === 0 ? "all" : String(value))),
  );
  select.selectedIndex = values.indexOf(present);
  select.onchange = () => pick(values[select.selectedIndex]);
  return line;
}

function drawSeed(present, pick) {
  const line = element("label", "", "seed "),
    input = element("input");
  Object.assign(input, { type: "number", min: 0, max: MAX_SEED, step: 1, value: present });
  input.onchange = () => {
    if (input.checkValidity() && input.value !== "") pick(Number(input.value));
  };
  const dice = button("⚄", () => pick((present + 1) % (MAX_SEED + 1)));
  dice.ariaLabel = "Another seed";
  line.append(input, dice);
  return line;
}

const LEAST_SHARE = 0.01; // a smaller share has no room over its bar
const MOST_IN_A_TALK = 10; // bars; the other answers have one together

// The bars stay and say something else: making them anew with each letter takes longer than all else that it changes.
function makeAnswerBars(tools) {
  const box = element("div", "bars-of");
  let bars = [];
  box.setAttribute("role", "toolbar"); // which keeps its arrow keys: on the page they lead to another step
  box.setAttribute("aria-label", "What comes next");
  rovingFocus(box, () => [bars.map(bar => bar.element)]);
  return {
    element: box,
    update({ pair, pass, name, labels, last, next, isSorted, isTalk }) {
      const all = [...labels.keys()],
        shares = all.map(answer => pass.number(name, [last, answer]));
      const inA =
        pair && all.map(answer => pair.toA(name, [last, answer])).map(index => index && pair.pass.number(name, index));
      const answers = isTalk ? mostOf(all, shares, next.answer) : all,
        rest = all.filter(answer => !answers.includes(answer)),
        sumOf = numbers => rest.reduce((sum, answer) => sum + numbers[answer], 0);
      const most = Math.max(
        ...(rest.length ? [sumOf(shares)] : []),
        ...shares,
        ...(inA ?? []),
        ...(next.drawing ? next.weights : []),
        0.01,
      );
      if (isSorted || isTalk) answers.sort((one, other) => shares[other] - shares[one]);
      const count = answers.length + Math.min(rest.length, 1);
      if (bars.length !== count) {
        bars = Array.from({ length: count }, () => makeBar(tools));
        box.replaceChildren(...bars.map(bar => bar.element));
        setTabStop([...box.children], box.firstChild);
      }
      if (rest.length)
        bars.at(-1).update({
          name,
          index: null,
          label: `other ${rest.length}`,
          share: sumOf(shares),
          most,
          comes: false,
          weight: next.drawing ? sumOf(next.weights) : null,
          shareInA: inA ? sumOf(inA) : null,
        });
      answers.forEach((answer, nth) => {
        const bar = bars[nth];
        bar.update({
          name,
          index: [last, answer],
          label: labels[answer],
          share: shares[answer],
          most,
          comes: answer === next.answer,
          weight: next.drawing ? next.weights[answer] : null,
          shareInA: inA?.[answer] ?? null,
        });
      });
    },
  };
}

// The most probable answers, and among them the one that comes next.
function mostOf(all, shares, next) {
  const ranked = [...all].sort(
    (one, other) => Number(other === next) - Number(one === next) || shares[other] - shares[one],
  );
  return ranked.slice(0, MOST_IN_A_TALK);
}

function makeBar({ pick, point }) {
  const made = button("", () => pick(shown.name, shown.index), "bar-of");
  const number = element("span", "share"),
    space = element("span", "room-of"),
    drawnBar = element("span", "given"),
    drawn = element("span", "weight"),
    line = element("span", "in-a"),
    name = element("span", "name");
  let shown = null;
  space.append(drawnBar, drawn, line);
  made.append(number, space, name);
  made.onpointerenter = made.onfocus = () => point(shown.name, shown.index);
  made.onpointerleave = made.onblur = () => point(shown.name, null);
  return {
    element: made,
    update(next) {
      shown = next;
      const { label, share, weight, most, shareInA } = next,
        high = part => `${(100 * part) / most}%`;
      write(number, share < LEAST_SHARE ? "" : percent(share));
      write(name, label);
      drawnBar.style.height = high(share);
      drawn.style.height = high(weight ?? 0);
      line.hidden = shareInA === null;
      line.style.bottom = high(shareInA ?? 0);
      made.classList.toggle("comes", next.comes);
      made.classList.toggle("out", weight === 0);
      made.disabled = next.index === null;
      made.dataset.cell = made.disabled ? "" : `${next.name}[${next.index}]`;
      made.ariaLabel = `${label}: ${percent(share)}${weight === null ? "" : `, drawn with ${percent(weight)}`}${shareInA === null ? "" : `, in A ${percent(shareInA)}`}`;
    },
  };
}

const PACE_MS = 180; // from a letter that is drawn to the wish for the next, while it writes to the end
const ORDER = { size: "by probability", name: "by alphabet" };
const MANY = 100; // names at a click

/** @returns {View} */
export function makeNextLetter(tools) {
  const box = element("section", "next-letter"),
    line = element("p", "line"),
    how = element("span"),
    order = element("span", "order"),
    boxes = element("p", "how"),
    bars = makeAnswerBars(tools),
    kept = element("p", "kept");
  box.setAttribute("aria-label", "The next letter");
  const back = button("Delete", () => tools.send("shorter", true)),
    on = button("", () => tools.send("next", true), "primary"),
    status = element("span", "said");
  const play = button("", () => (timer === null ? start() : stop()));
  status.setAttribute("role", "status");
  let shown = null,
    timer = null,
    sorted = ORDER.size,
    listed = null;
  back.ariaLabel = "Delete the last letter";
  for (const each of [back, on, play, how, boxes]) each.hidden = Boolean(tools.alone);
  const names = button(`${MANY} names`, () => tools.send("names", true)),
    list = element("div", "names-of");
  names.hidden = Boolean(tools.alone);
  list.popover = "auto";
  line.append(back, on, play, status, how, order, names);
  box.append(line, boxes, bars.element, kept, list);
  box.hidden = true;

  const drawWays = whenOther(([drawing, offered]) => {
    redraw(how, [drawHow(drawing, tools)]);
    redraw(boxes, drawBoxes(drawing, offered, tools));
  });
  const drawOrder = whenOther(present =>
    redraw(order, [
      choice(Object.values(ORDER), present, text => {
        sorted = text;
        draw();
      }),
    ]),
  );
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
    const { pass } = shown,
      { document } = pass,
      { next, model, link } = document;
    const name = model.answers,
      labels = pass.stages.get(name).axes[1].labels,
      last = pass.stages.get(name).shape[0] - 1;
    write(on, isDone(next) ? "Next letter" : `Next letter: ${labels[next.answer]}`);
    on.disabled = play.disabled = isDone(next);
    back.disabled = !next.canShorten;
    write(play, timer === null ? "▶ Write to the end" : "❚❚ Pause");
    write(
      status,
      next.ends
        ? `It ends here: “${link.sentence}”.`
        : next.isFull
          ? `The context is full: ${pass.document.words.query.length} tokens.`
          : "",
    );
    drawWays([next.drawing, next.offered]);
    drawOrder(sorted);
    if (next.names && next.names !== listed) {
      list.replaceChildren(
        ...drawListed(next.names, text => {
          list.hidePopover();
          tools.send("sentence", text);
        }),
      );
      list.showPopover();
    }
    listed = next.names;
    const pair = pairOf(pass, shown.where);
    write(kept, [pair ? "Bars are B, lines A." : "", next.kept.at(-1)?.text ?? ""].join(" ").trim());
    bars.update({
      pair,
      pass,
      name,
      labels,
      last,
      next,
      isSorted: sorted === ORDER.size,
      isTalk: shown.where.present,
    });
  };
  return {
    element: box,
    get isRunning() {
      return timer !== null;
    },
    update(pass, where) {
      const { next } = pass.document,
        isOther = shown?.pass.document !== pass.document;
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

function drawListed({ listed, text, about }, take) {
  const names = element("div", "listed");
  drawNames(names, listed, take);
  return [
    element("p", "said", text),
    names,
    element(
      "p",
      "note",
      `Bold: held out, and never trained on. Italic: new, in no list. Underlined twice: in the list that training draws from, but not drawn by then. Others: trained on. ${about}`,
    ),
  ];
}
