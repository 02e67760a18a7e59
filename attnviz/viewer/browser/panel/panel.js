// The panel: what the number in focus is, what made it, what would move it, and what if it were another.
import { LABELS } from "../../generated/where.js";
import { drawBeside } from "../picture/beside.js";
import { drawActs, drawMuteNeuron } from "./acts.js";
import { button, choice } from "../elements/button.js";
import { makeByHand } from "../elements/byhand.js";
import { element, redraw, write } from "../elements/element.js";
import { typesetInPieces } from "../elements/formula.js";
import { makeScroller } from "../elements/scroller.js";
import { whenOther } from "../elements/whenOther.js";
import { ORDERS, QUESTIONS, focusOf, homeOf, isFirst, slotsOf, stepAt } from "../scene/state.js";
import { drawFlipsQuestion, makeFlips } from "./flips.js";
import { drawTerms, showWholeLines } from "./terms.js";
import { drawStory, lightUp, titleOf } from "./numberStory.js";
import { drawTrail } from "./trail.js";
import { drawWriters } from "./writers.js";
import { drawChanged, drawWhatIf } from "./whatif.js";

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
    redraw(besides, drawBeside(pass, where, look, focus));
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

// The name of the number's array in microgpt, for someone who knows its script.
function drawName({ inMicrogpt }) {
  return inMicrogpt ? ["in microgpt: ", element("code", "", inMicrogpt)] : [];
}

// The behaviour of a share's head in other texts, where that was measured; on the first screen, which has room for it.
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
  const line = element("p", "switch", "Terms: ");
  line.append(choice(ORDERS, order, each => go({ order: each }), LABELS));
  return line;
}
