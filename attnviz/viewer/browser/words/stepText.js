// A step's text: its heading, what is said of it, and its formula; and beside what a model is asked first, the door to
// one's own sentence.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { typesetInPieces } from "../elements/formula.js";
import { makeScroller } from "../elements/scroller.js";
import { whenOther } from "../elements/whenOther.js";
import { ofHead } from "../pass/latex.js";
import { nameOf } from "../pass/layers.js";
import { drawRuns, runsAt } from "../elements/runs.js";
import { drawShapes } from "./shapes.js";
import { isFirst, sourceAt, stepAt, stepsOf } from "../scene/state.js";
import { pairOf } from "../scene/looks.js";
import { WELCOME, isNewcomer } from "./welcome.js";

// enter(door) is called as somebody goes through it. `isNew` says whether this is a first visit, where that is known.
export function makeStepText(enter, isNew = null) {
  const box = makeScroller(element("section", "step-text"));
  // As long as it says the same, what is selected in it stays selected.
  const draw = whenOther(([, , content, door], pass, where) => {
    const isLast = stepsOf(pass).at(-1) === where.step;
    if (isFirst(pass, where)) isNew ??= isNewcomer(() => localStorage);
    const welcome = isNew && isFirst(pass, where) && content.text.length ? [element("p", "welcome", WELCOME)] : [];
    box.replaceChildren(...drawStepText(content), ...welcome, ...(isLast ? [drawShapes(pass, where.cell.head)] : []));
    if (door) box.firstChild.append(button(door.label, () => enter(door), "link door"));
  });
  return {
    element: box,
    /** @type {View["update"]} */
    update(pass, where) {
      const door = isFirst(pass, where) ? pass.document.door : null;
      draw([where.step, where.cell.head, stepTextIn(pass, where), door], pass, where);
    },
    get isNew() {
      return isNew;
    },
  };
}

// The text of the step, filled in for the selection; or the sources of the sheet's numbers, where one asks for those.
/** @param {Pass} pass @param {Where} where */
export function stepTextAt(pass, where) {
  const { layer, ...step } = stepAt(pass, where),
    source = sourceAt(pass, where);
  const { heading, why, text, notes, formulas } = source
    ? { heading: source.heading, why: [], text: [], notes: [], formulas: [source.formula] }
    : step;
  const read = runs => runsAt(pass, runs, where.cell);
  return {
    layer: nameOf(layer),
    heading: read(heading),
    why: read(why),
    text: read(text),
    notes: notes.map(read),
    formulas: formulas.map(latex => ofHead(latex, where.cell.head)),
  };
}

// Two passes of a model that writes on have their answers and their arcs on one page, and need the room of what is said of it.
/** @param {Pass} pass @param {Where} where */
function stepTextIn(pass, where) {
  const content = stepTextAt(pass, where);
  return pass.document.next && isFirst(pass, where) && pairOf(pass, where) ? { ...content, text: [] } : content;
}

export function drawStepText({ layer, heading, why, text, notes, formulas }) {
  const title = element("header");
  title.append(
    ...(layer ? [element("span", "layer", layer)] : []),
    lineOf("h2", "", heading),
    ...formulas.map(drawFormula),
  );
  return [
    title,
    ...(why.length ? [lineOf("p", "why", why)] : []),
    ...(text.length ? [lineOf("p", "said", text)] : []),
    ...notes.map(runs => lineOf("p", "note", runs)),
  ];
}

function lineOf(tag, className, runs) {
  const line = element(tag, className);
  line.append(...drawRuns(runs));
  return line;
}

function drawFormula(latex) {
  const formula = element("span", "formula");
  formula.append(...typesetInPieces(latex));
  return formula;
}
