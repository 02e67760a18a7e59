// The panel beside the picture: the number in focus, its terms, and what if it were another.
import { LABELS } from "../../generated/where.js";
import { changeAt } from "../model/changes.js";
import { focusOf, homeOf, isFirst, ORDERS, QUESTIONS, slotsOf, stepAt } from "../model/state.js";
import { button, choice, element, h, redraw, write } from "../dom/element.js";
import { makeScroller } from "../dom/grid.js";
import { makeByHand } from "../dom/numberInput.js";
import { typesetInPieces } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { drawBothValues } from "./readout.js";
import { drawStory, drawTerms, drawTrail, drawWriters, lightUp, showWholeLines, titleOf } from "./numberStory.js";

const OF_NEURONS = /^(?:hidden|active)((?:_\d+)?)$/; // and the number of their layer, where there are several

function drawActs(pass, where, tools) {
  return [drawHide(pass, where, tools), ...drawSwap(pass, where, tools), drawMute(pass, where, tools)];
}

// A button that hides the selected key from the selected query: in all layers, or where each has its own mask, in the current one (or
// the last).
/** @param {Pass} pass @param {Where} where */
function drawHide(pass, where, { set }) {
  const { query, key, shared } = pass.document.words,
    { layers } = pass.document,
    { cell } = where,
    at = stepAt(pass, where).layer || layers.length,
    name = layers[at - 1].mask,
    mask = { name, index: pass.indexAt(name, cell) };
  const inLayer = layers.some(layer => layer.mask !== name) ? ` in layer ${at}` : "";
  const isFlag = pass.stages.get(name).scale === "flag",
    hidden = isFlag ? 0 : -Infinity,
    visible = isFlag ? 1 : 0;
  const isHidden = pass.number(mask.name, mask.index) === hidden;
  const from = shared && cell.query === cell.key ? "itself" : `“${query[cell.query]}”`;
  const label = isHidden ? `Show “${key[cell.key]}” to ${from}` : `Hide “${key[cell.key]}” from ${from}`;
  return named(
    "hide",
    button(label + inLayer, () => set(mask, isHidden ? visible : hidden)),
  );
}

// The selected query and key, where both were typed in one sentence.
/** @param {Pass} pass */
function drawSwap(pass, { cell: { query, key } }, { send }) {
  const {
    typed,
    words: { query: words },
  } = pass.document;
  const isTyped = position => position >= words.length - typed;
  if (query === key || !isTyped(query) || !isTyped(key)) return [];
  return [
    named(
      "swap",
      button(`Swap “${words[query]}” and “${words[key]}”`, () => send("swap", [query, key])),
    ),
  ];
}

/** @param {Pass} pass @param {Where} where */
function drawMute(pass, where, tools) {
  return drawSilence(
    pass,
    { stage: stepAt(pass, where).heads, place: where.cell.head, index: [where.cell.head], kind: "head" },
    tools,
  );
}

// A neuron, where its number is looked at: what reaches it, or what it passes on.
function drawMuteNeuron(pass, { name, index }, tools) {
  const match = name.match(OF_NEURONS);
  if (!match) return [];
  return [
    drawSilence(pass, { stage: `active${match[1]}`, place: index[1], index: [null, index[1]], kind: "neuron" }, tools),
  ];
}

// Mutes a part that writes to the residual stream by setting its output to 0, or undoes that.
/** @param {Pass} pass */
function drawSilence(pass, { stage, place, index, kind }, { send }) {
  const { layer } = pass.stepOf(stage),
    muted = `${kind} ${place + 1}${layer ? ` of layer ${layer}` : ""}`;
  const change = changeAt(pass, stage, index);
  return named(
    "mute",
    change < 0
      ? button(`Mute ${muted}`, () => send("mute", { stage, place }))
      : button(`Unmute ${muted}`, () => send("drop", change)),
  );
}

// Its text changes as it is pressed: by its name it keeps the keyboard.
function named(act, made) {
  made.dataset.act = act;
  return made;
}

// The button that leads there from a share of attention or of an answer.
/** @param {Pass} pass */
function drawFlipsQuestion(pass, { name, index }, tools) {
  if (pass.stages.get(name).scale !== "share") return [];
  const what = pass.document.model?.answers === name ? "it" : "this row";
  return [button(`What would flip ${what}?`, () => tools.wantFlips(name, index))];
}

// The list stays open while its numbers are visited, until a number changes or it is closed.
function makeFlips(tools) {
  const box = h("section", { class: "flips", "aria-label": "What would flip it", hidden: true });
  let drawn = null;
  const close = () => {
    box.hidden = true;
    tools.go({});
  };
  return {
    element: box,
    get isOpen() {
      return !box.hidden;
    },
    update(pass) {
      const { flips } = pass.document;
      if (flips === drawn) return;
      drawn = flips;
      box.hidden = !flips;
      box.replaceChildren(...(flips ? draw(pass, flips, tools, close) : []));
      if (flips) box.scrollIntoView({ block: "nearest" });
    },
  };
}

/** @param {Pass} pass */
function draw(pass, { text, stages }, tools, close) {
  const head = h("div", { class: "head" }, element("p", "", text), button("Close", close));
  const list = h(
    "ul",
    {},
    ...stages.map(flip => {
      return h("li", {}, ...(flip.cell ? drawFlip(pass, flip, tools) : [element("p", "", flip.text)]));
    }),
  );
  return [head, list];
}

// Its number leads to the cell: where the text begins with the name of that, the name does.
/** @param {Pass} pass */
function drawFlip(pass, { cell, value, text }, tools) {
  const { name, index } = pass.read(cell),
    called = pass.nameOf(name, index),
    sentence = element("p");
  const leads = text.startsWith(called) ? called : text;
  sentence.append(
    button(leads, () => tools.pick(name, index), "link"),
    text.slice(leads.length),
  );
  const set = button("Set it", () => tools.setFlip(name, index, value));
  set.ariaDescription = called;
  return [sentence, set];
}

const NUMBERS = "the numbers";
const MOVED = "by how much they moved";

// The changes as a list; tools.show(byHowMuch) switches the pictures to what moved.
/** @param {Pass} pass @param {Where} where */
function drawWhatIf(pass, where, byHowMuch, tools) {
  const { changes, moved } = pass.document;
  const box = element("div", "what-if"),
    line = element("p", "changed");
  if (!changes.length) {
    box.append(
      element(
        "p",
        "",
        "Nothing is set by hand yet: give this number another value, and see which later numbers change.",
      ),
    );
    return box;
  }
  line.append(undoAll(tools));
  const list = listOf(
    "changes",
    changes.map(({ text }, position) => [`${text} `, button("Undo", () => tools.send("drop", position))]),
  );
  const consequences = listOf(
    "moved",
    moved.map(({ stage, text }) => [button(text, () => tools.visit(stage), "link")]),
  );
  const { stages } = stepAt(pass, where); // none on the first and the last step, which show the whole pass
  const isBefore = byHowMuch && stages.length > 0 && !stages.some(stage => moved.some(each => each.stage === stage));
  box.append(list, line, drawSwitch(byHowMuch, tools));
  if (isBefore) box.append(element("p", "", "Nothing of this step moved."));
  box.append(consequences);
  return box;
}

// One line that says numbers are set by hand, where the panel shows something else.
/** @param {Pass} pass */
function drawChanged({ document: { changes } }, tools) {
  const count = changes.length === 1 ? "1 number is" : `${changes.length} numbers are`;
  return h(
    "p",
    { class: "changed" },
    `${count} set by hand. `,
    button("See what moved", () => tools.ask("whatif")),
    undoAll(tools),
  );
}

function undoAll({ send }) {
  return button("Undo all", () => send("reset", true));
}

function listOf(className, items) {
  return h(
    "ul",
    { class: className },
    ...items.map(parts => {
      return h("li", {}, ...parts);
    }),
  );
}

function drawSwitch(byHowMuch, { show }) {
  return h(
    "p",
    { class: "switch" },
    "The pictures show ",
    choice([NUMBERS, MOVED], byHowMuch ? MOVED : NUMBERS, text => show(text === MOVED)),
  );
}

export function makePanel(tools) {
  const box = element("aside", "panel");
  box.setAttribute("aria-label", "The number");
  const name = element("h3"),
    named = element("p", "in-microgpt"),
    story = element("div", "said"),
    answer = element("div", "reply");
  const questions = element("div", "questions"),
    changed = element("div");
  const byHand = makeByHand(tools.set),
    besides = element("div", "beside"),
    writers = element("div"),
    elsewhere = element("div"),
    habit = element("p", "habit"),
    acts = element("div"),
    flips = makeFlips(tools);
  const lines = new ResizeObserver(() => showWholeLines(answer));
  const drawQuestions = whenOther(ask => redraw(questions, [choice(QUESTIONS, ask, tools.ask, LABELS)]));
  tools.onPoint((...cell) => lightUp(box, ...cell));
  box.append(
    name,
    named,
    besides,
    story,
    habit,
    writers,
    elsewhere,
    acts,
    flips.element,
    byHand.element,
    questions,
    answer,
    changed,
  );

  /** @type {View["update"]} */
  const update = (pass, where, look) => {
    const focus = focusOf(pass, where);
    const value = pass.number(focus.name, focus.index);
    const isThere = value !== undefined && look.shown(focus.name, focus.index);
    if (value === undefined) tools.want(focus.name, focus.index);
    write(name, isThere ? titleOf(pass, look, focus) : pass.nameOf(focus.name, focus.index));
    redraw(story, isThere ? [drawStory(pass.story(focus.name, focus.index, where.cell), tools)] : []);
    redraw(named, drawName(pass.stages.get(focus.name)));
    write(habit, habitOf(pass, where, focus));
    redraw(besides, drawBothValues(pass, where, look, focus));
    redraw(writers, where.ask === QUESTIONS[0] ? drawWriters(pass, focus, isThere, tools) : []);
    const home = homeOf(pass, where);
    redraw(
      elsewhere,
      home ? [button(`Show it in “${home.title}”`, () => tools.pick(focus.name, focus.index), "link")] : [],
    );
    // where arcs are, one sees what follows; and where a model answers, that is what one came for
    const isOffered = where.ask === "whatif" || (pass.document.model && stepAt(pass, where).arcs);
    const question = isThere ? drawFlipsQuestion(pass, focus, tools) : [];
    redraw(
      acts,
      inLine([...(isOffered ? drawActs(pass, where, tools) : []), ...drawMuteNeuron(pass, focus, tools), ...question]),
    );
    flips.update(pass);
    byHand.update(pass, focus);
    const isAsked = !isFirst(pass, where) || where.ask !== QUESTIONS[0] || where.trail.length > 0;
    byHand.element.hidden = !isThere || !isAsked;
    acts.hidden = flips.isOpen;
    questions.hidden = answer.hidden = !isAsked || flips.isOpen; // the first screen is of one sentence
    drawQuestions(where.ask);
    redraw(changed, pass.document.changes.length && where.ask !== "whatif" ? [drawChanged(pass, tools)] : []);
    redraw(
      answer,
      value === undefined
        ? [waiting(pass, focus, tools)]
        : answered(pass, where, look, { ...focus, value, isThere }, tools),
    );
    lines.unobserve(answer); // it is heard of once more where it is observed anew, when all is laid out
    lines.observe(answer);
  };
  return { element: box, update };
}

// The name of the number's array in the microgpt script.
function drawName({ inMicrogpt }) {
  return inMicrogpt ? ["in microgpt: ", element("code", "", inMicrogpt)] : [];
}

// What a head was measured to do in other texts.
/** @param {Pass} pass @param {Where} where */
function habitOf(pass, where, { name, index: [head] }) {
  const isShare = isFirst(pass, where) && name === stepAt(pass, where).attention;
  return (isShare && pass.document.model?.training?.heads[head]) || "";
}

function inLine(buttons) {
  const line = element("p", "acts");
  line.append(...buttons);
  return buttons.length ? [line] : [];
}

/** @param {Pass} pass */
function waiting(pass, { name, index }, { alone }) {
  return element("p", "waiting", alone ?? `${pass.nameOf(name, index)} is on its way.`);
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function answered(pass, where, look, focus, tools) {
  if (where.ask === "whatif") return [drawWhatIf(pass, where, look.kind === "differences", tools)];
  if (where.ask === "slope") return drawSlopes(pass, where, look, focus, tools);
  return drawMade(pass, where, look, focus, tools);
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function drawSlopes(pass, where, look, { name, index }, { wantSlopes, alone }) {
  if (look.kind !== "slopes") {
    wantSlopes();
    return [element("p", "waiting", alone ?? `The slopes of ${pass.nameOf(name, index)} are on their way.`)];
  }
  const hasSlopes = step => slotsOf(step).some(slot => look.titleOf(slot.stage));
  if (!hasSlopes(stepAt(pass, where))) {
    const last = pass.document.steps.findLast(hasSlopes);
    const elsewhere = last ? `No matrix drawn here moves this number. Open “${titled(last)}” to see its slopes.` : "";
    return [element("p", "", pass.document.slopes.text), element("p", "", elsewhere)];
  }
  return [
    element("p", "", pass.document.slopes.text),
    element(
      "p",
      "",
      "Where a matrix or a band is titled “slope of”, each number says how fast the selected number moves with that cell: " +
        "raise an orange cell and it rises, raise a blue one and it falls; a pale one hardly moves it. Later matrices can't " +
        "move it, and are drawn as they are.",
    ),
  ];
}

function titled({ title, layer }) {
  return layer ? `${title} of layer ${layer}` : title;
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function drawMade(pass, where, look, { name, index, value, isThere }, tools) {
  const terms = pass.terms(name, index);
  if (!terms) return [waiting(pass, { name, index }, tools)];
  const trail = where.trail.length > 1 ? [drawTrail(pass, where.trail, tools.back)] : [];
  if (!terms.lines.length) return [...trail, element("p", "", terms.recipe)];
  const formula = makeScroller(element("p", "formula"));
  formula.setAttribute("role", "group");
  formula.setAttribute("aria-label", "Formula");
  if (isThere && terms.formula) formula.append(...typesetInPieces(terms.formula));
  const sorted = terms.lines.length > 4 && isThere ? [drawOrder(where, tools)] : [];
  const shown = { order: where.order, count: isThere ? null : (look.lines ?? terms.lines.length), value };
  return [...trail, formula, ...sorted, drawTerms(pass, terms, shown, tools)];
}

function drawOrder({ order }, { go }) {
  return h(
    "p",
    { class: "switch" },
    "Terms: ",
    choice(ORDERS, order, each => go({ order: each }), LABELS),
  );
}
