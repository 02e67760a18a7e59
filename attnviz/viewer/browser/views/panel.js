// The panel beside the picture: the number in focus, its terms, and what if it were another.
import { LABELS } from "../../generated/where.js";
import { changeAt } from "../model/changes.js";
import { ORDERS, QUESTIONS, focusOf, homeOf, isFirst, slotsOf, stepAt } from "../model/state.js";
import { isOfNext, layerInText, nameInBlock, namedWord } from "../model/words.js";
import { button, choice, h, makeScroller, memoLast, redraw, rovingFocus, setTabStop, write } from "../dom/element.js";
import { makeNumberInput } from "../dom/numberInput.js";
import { typesetInPieces } from "../dom/runs.js";
import { drawBothValues } from "./numberLists.js";
import { drawStory, drawTerms, drawTrail, drawWriters, lightUp, showWholeLines, titleOf } from "./numberStory.js";

const OF_NEURONS = /^(?:hidden|active)((?:_\d+)?)$/; // and the number of their layer, where there are several

/** Where hiding and muting act: at the selected cell, or at an unfolded attention weight of a layer that has other words.
 * @param {Pass} pass @param {Where} where @param {Cell} focus @returns {Where} */
function placeOf(pass, where, { name, index }) {
  const { id, layer, attention } = pass.stepOf(name);
  if (name !== attention || pass.canSelect(name, pass.layerAt(where.step))) return where;
  return { ...where, step: id, cell: pass.selectionAt(name, index, pass.carried(where.cell, layer)) };
}

/** Hides the selected key from the selected query: in all layers, or where each has its own mask, in the current one (or the last).
 * @param {Pass} pass @param {Where} where */
function drawHide(pass, where, { set }) {
  const { layers } = pass.document,
    { query, key } = where.cell,
    layer = pass.layerAt(where.step),
    { words, mask: name } = layers[layer - 1],
    mask = { name, index: pass.indexAt(name, where.cell) };
  const [hidden, visible] = pass.stages.get(name).scale === "flag" ? [0, 1] : [-Infinity, 0],
    isHidden = pass.number(name, mask.index) === hidden;
  const isItself = words.shared && query === key,
    viewer = isItself
      ? "itself"
      : isOfNext(words)
        ? `what comes after “${words.query[query]}”`
        : `“${words.query[query]}”`,
    word = namedWord(words, key),
    label = isHidden ? `Show ${word} to ${viewer}` : `Hide ${word} from ${viewer}`,
    isClear = isOfNext(words) || layers.every(({ mask }) => mask === name),
    inLayer = isClear ? "" : ` in ${layerInText(pass.document, layer)}`;
  return drawAction("hide", label + inLayer, () => set(mask, isHidden ? visible : hidden));
}

/** Swaps the selected query and key, if both were typed in one sentence. @param {Pass} pass */
function drawSwap(pass, { step, cell: { query, key } }, { send }) {
  const { query: words } = pass.wordsAt(step),
    isTyped = position => position >= words.length - pass.document.typed;
  return (
    query !== key &&
    isTyped(query) &&
    isTyped(key) &&
    drawAction("swap", `Swap “${words[query]}” and “${words[key]}”`, () => send("swap", [query, key]))
  );
}

/** Mutes the neuron whose number is looked at: what reaches it, or what it passes on. @param {Pass} pass @param {Cell} cell */
function drawMuteNeuron(pass, { name, index: [, place] }, tools) {
  const layer = name.match(OF_NEURONS)?.[1];
  return (
    layer !== undefined &&
    drawMute(pass, { stage: `active${layer}`, place, index: [null, place], kind: "neuron" }, tools)
  );
}

/** Mutes a part that writes to the residual stream by setting its output to 0, or undoes that. @param {Pass} pass */
function drawMute(pass, { stage, place, index, kind }, { send }) {
  const { layer } = pass.stepOf(stage),
    ofAll = kind === "head" ? changeAt(pass, stage, [null]) : -1, // which mutes all heads of the layer
    isAlone = layer > 0 && pass.document.layers[layer - 1].title && pass.stages.get(stage).shape[0] === 1,
    ofLayer = layer ? ` of ${layerInText(pass.document, layer)}` : "",
    muted =
      (isAlone && kind === "head") || ofAll >= 0 ? layerInText(pass.document, layer) : `${kind} ${place + 1}${ofLayer}`,
    change = ofAll >= 0 ? ofAll : changeAt(pass, stage, index);
  return change < 0
    ? drawAction("mute", `Mute ${muted}`, () => send("mute", { stage, place }))
    : drawAction("mute", `Unmute ${muted}`, () => send("drop", change));
}

// Its text changes as it is pressed: by its name it keeps the keyboard.
const drawAction = (name, text, act) => button(text, act, "", { "data-act": name });

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
    /** @param {Pass} pass */
    update(pass) {
      const { flips } = pass.document;
      if (flips === drawn) return;
      drawn = flips;
      box.hidden = !flips;
      box.replaceChildren();
      if (!flips) return;
      box.append(
        h("div", { class: "head" }, h("p", {}, flips.text), button("Close", close)),
        drawList(
          "",
          flips.stages.map(flip => (flip.cell ? drawFlip(pass, flip, tools) : h("p", {}, flip.text))),
        ),
      );
      box.scrollIntoView({ block: "nearest" });
    },
  };
}

/** A link to its cell, and a button that sets it: where the text begins with the cell's name, that is the link. @param {Pass} pass */
function drawFlip(pass, { cell, value, text }, tools) {
  const { name, index } = /** @type {Cell} */ (pass.read(cell)),
    cellName = pass.nameOf(name, index),
    linked = text.startsWith(cellName) ? cellName : text;
  return [
    h(
      "p",
      {},
      button(linked, () => tools.pick(name, index), "link"),
      text.slice(linked.length),
    ),
    button("Set it", () => tools.setFlip(name, index, value), "", { ariaDescription: cellName }),
  ];
}

const NUMBERS = "the numbers";
const MOVED = "by how much they moved";

/** The changes as a list; tools.show(showsChange) switches the pictures to what moved. @param {Pass} pass @param {Where} where */
function drawWhatIf(pass, where, showsChange, { send, visit, show }) {
  const { changes, moved } = pass.document,
    nothing = "Nothing is set by hand yet: give this number another value, and see which later numbers change.";
  if (!changes.length) return h("div", { class: "what-if" }, h("p", {}, nothing));
  const { stages } = stepAt(pass, where), // none on the first and the last step, which show the whole pass
    isBefore = showsChange && stages.length > 0 && !stages.some(stage => moved.some(each => each.stage === stage));
  const undone = changes.map(({ text }, position) => [`${text} `, button("Undo", () => send("drop", position))]),
    links = moved.map(({ stage, text }) => button(text, () => visit(stage), "link")),
    shown = choice([NUMBERS, MOVED], showsChange ? MOVED : NUMBERS, text => show(text === MOVED));
  return h(
    "div",
    { class: "what-if" },
    drawList("changes", undone),
    h("p", { class: "changed" }, drawUndoAll(send)),
    h("p", { class: "switch" }, "The pictures show ", shown),
    isBefore && h("p", {}, "Nothing of this step moved."),
    drawList("moved", links),
  );
}

/** One line that says numbers are set by hand, where the panel shows something else. @param {Pass} pass */
function drawChanged({ document: { changes } }, { ask, send }) {
  const count = changes.length === 1 ? "1 number is" : `${changes.length} numbers are`,
    seeMoved = button("See what moved", () => ask("whatif"));
  return h("p", { class: "changed" }, `${count} set by hand. `, seeMoved, drawUndoAll(send));
}

const drawUndoAll = send => button("Undo all", () => send("reset", true));
const drawList = (className, items) => h("ul", { class: className }, ...items.map(item => h("li", {}, item)));

/** @returns {View} */
export function makePanel(tools) {
  const name = h("h3"),
    inMicrogpt = h("p", { class: "in-microgpt" }),
    ofLayer = h("p", { class: "of-layer" }),
    bothValues = h("div", { class: "beside" }),
    story = h("div", { class: "said" }),
    habit = h("p", { class: "habit" }),
    writers = h("div"),
    elsewhere = h("div"),
    actions = h("div"),
    flips = makeFlips(tools),
    byHand = makeNumberInput(tools.set),
    questions = h("div", { class: "questions" }),
    answer = h("div", { class: "reply" }),
    changed = h("div");
  const numberParts = [name, ofLayer, inMicrogpt, bothValues, story, habit, writers, elsewhere],
    whatIfParts = [actions, flips.element, byHand.element, questions, answer, changed],
    box = h("aside", { class: "panel", "aria-label": "The number" }, numberParts, whatIfParts);
  rovingFocus(actions, () => [[...actions.querySelectorAll("button")]]);
  const answerSize = new ResizeObserver(() => showWholeLines(answer));
  const drawQuestions = memoLast(ask => redraw(questions, [choice(QUESTIONS, ask, tools.ask, LABELS)]));
  tools.onPoint((...cell) => lightUp(box, ...cell));
  /** @type {View["update"]} */
  const update = (pass, where, look) => {
    const focus = focusOf(pass, where),
      step = stepAt(pass, where),
      value = pass.number(focus.name, focus.index),
      isShown = value !== undefined && look.shown(focus.name, focus.index),
      cellName = pass.nameOf(focus.name, focus.index);
    if (value === undefined) tools.want(focus.name, focus.index);
    write(name, isShown ? titleOf(pass, look, focus) : cellName);
    const { layer } = pass.stepOf(focus.name);
    ofLayer.hidden = !pass.document.layers[layer - 1]?.title;
    write(ofLayer, ofLayer.hidden ? "" : nameInBlock(pass.document, layer));
    redraw(story, isShown ? [drawStory(pass.story(focus.name, focus.index, where.cell), tools)] : []);
    const nameInMicrogpt = pass.stages.get(focus.name).inMicrogpt; // of the number's array in that script
    redraw(inMicrogpt, nameInMicrogpt ? ["in microgpt: ", h("code", {}, nameInMicrogpt)] : []);
    write(habit, habitOf(pass, where, focus));
    redraw(bothValues, drawBothValues(pass, where, look, focus));
    redraw(writers, where.ask === QUESTIONS[0] ? drawWriters(pass, focus, isShown, tools) : []);
    const home = homeOf(pass, where),
      pick = () => tools.pick(focus.name, focus.index);
    redraw(elsewhere, home ? [button(`Show it in “${home.title}”`, pick, "link")] : []);
    // where arcs are, one sees what follows; and where a model answers, that is what one came for
    const isOffered = where.ask === "whatif" || (pass.document.model && step.arcs),
      at = placeOf(pass, where, focus),
      { head } = at.cell,
      mutedHead = { stage: stepAt(pass, at).heads, place: head, index: [head], kind: "head" };
    const buttons = [
      ...(isOffered ? [drawHide(pass, at, tools), drawSwap(pass, at, tools), drawMute(pass, mutedHead, tools)] : []),
      drawMuteNeuron(pass, focus, tools),
      isShown && drawFlipsQuestion(pass, focus, tools),
    ].filter(Boolean);
    setTabStop(buttons, buttons[0]);
    redraw(actions, buttons.length ? [h("p", { class: "acts" }, buttons)] : []);
    flips.update(pass);
    byHand.update(pass, focus);
    const isAsked = !isFirst(pass, where) || where.ask !== QUESTIONS[0] || where.trail.length > 0;
    byHand.element.hidden = !isShown || !isAsked;
    actions.hidden = !flips.element.hidden;
    questions.hidden = answer.hidden = !isAsked || !flips.element.hidden; // the first screen is of one sentence
    drawQuestions(where.ask);
    redraw(changed, pass.document.changes.length && where.ask !== "whatif" ? [drawChanged(pass, tools)] : []);
    const terms = where.ask === QUESTIONS[0] ? pass.terms(focus.name, focus.index) : null,
      isLeftOut =
        isAbsent(pass, focus.name) || terms?.lines.some(({ cells }) => cells.some(({ name }) => isAbsent(pass, name))),
      waiting = h("p", { class: "waiting" }, isLeftOut ? WITHOUT : (tools.alone ?? `${cellName} is on its way.`));
    redraw(
      answer,
      value === undefined || isLeftOut
        ? [waiting]
        : where.ask === "whatif"
          ? [drawWhatIf(pass, where, look.kind === "differences", tools)]
          : where.ask === "slope"
            ? drawSlopes(pass, where, look, cellName, tools)
            : terms
              ? drawMade(pass, where, look, { terms, value, isShown }, tools)
              : [waiting],
    );
    answerSize.unobserve(answer); // observed anew it reports once more, when all is laid out
    answerSize.observe(answer);
  };
  return { element: box, update };
}

const WITHOUT =
  "The parameters that make this number aren’t in this page. attnviz.show(…, parameters=True) and page(…, parameters=True) put them in.";

/** Whether a page holds none of a stage's numbers. @param {Pass} pass @param {string} name */
const isAbsent = (pass, name) => pass.stages.get(name).values.every(each => each === null);

/** What would flip an attention weight or a probability. @param {Pass} pass @param {Cell} cell */
function drawFlipsQuestion(pass, { name, index }, { wantFlips }) {
  const what = pass.document.model?.answers === name ? "it" : "this row";
  return pass.stages.get(name).scale === "share" && button(`What would flip ${what}?`, () => wantFlips(name, index));
}

/** What a head was measured to do in other texts, beside what it does here. @param {Pass} pass @param {Where} where @param {Cell} cell */
function habitOf(pass, where, { name, index: [head] }) {
  const isWeight = !isFirst(pass, where) && name === stepAt(pass, where).attention;
  return (isWeight && pass.document.model?.training?.heads[head]) || "";
}

/** @param {Pass} pass @param {Where} where @param {Look} look @param {string} cellName */
function drawSlopes(pass, where, look, cellName, { wantSlopes, alone }) {
  const { slopes, steps } = pass.document;
  if (look.kind !== "slopes" || !slopes) {
    wantSlopes();
    return [h("p", { class: "waiting" }, alone ?? `The slopes of ${cellName} are on their way.`)];
  }
  const hasSlopes = step => slotsOf(step).some(slot => look.titleOf(slot.stage)),
    last = steps.findLast(hasSlopes),
    title = last?.layer ? `${last.title} of ${layerInText(pass.document, last.layer)}` : last?.title;
  const help = hasSlopes(stepAt(pass, where))
    ? "Where a title says “slope of”, a gold cell raises the number when it rises, and a slate one lowers it."
    : last
      ? `No matrix drawn here moves this number. Open “${title}” to see its slopes.`
      : "";
  return [h("p", {}, slopes.text), h("p", {}, help)];
}

/** What made the number: its formula and its terms. @param {Pass} pass @param {Where} where @param {Look} look */
function drawMade(pass, where, look, { terms, value, isShown }, tools) {
  const trail = where.trail.length > 1 ? [drawTrail(pass, where.trail, tools.back)] : [];
  if (!terms.lines.length) return [...trail, h("p", {}, terms.recipe)];
  const { order } = where,
    count = isShown ? null : (look.lines ?? terms.lines.length),
    orders = choice(ORDERS, order, each => tools.go({ order: each }), LABELS),
    formula = isShown && terms.formula ? typesetInPieces(terms.formula) : [];
  return [
    ...trail,
    makeScroller(h("p", { class: "formula", role: "group", "aria-label": "Formula" }, formula)),
    ...(terms.lines.length > 4 && isShown ? [h("p", { class: "switch" }, "Terms: ", orders)] : []),
    drawTerms(pass, terms, { order, count, value }, tools),
  ];
}
