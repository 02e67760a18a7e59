// The lesson: a step's heading, what is said of it, and its formula.
import { element } from "./element.js";
import { typesetInPieces } from "./formula.js";
import { ofHead } from "./latex.js";
import { nameOf } from "./layers.js";
import { drawRuns, runsAt } from "./runs.js";
import { drawShapes } from "./shapes.js";
import { stepAt, stepsOf } from "./state.js";

export function makeLesson() {
  const box = element("section", "lesson");
  let shown = "";
  const update = (pass, where) => {
    const lesson = lessonAt(pass, where);
    const next = JSON.stringify([where.step, where.cell.head, lesson]);
    if (shown === next) return; // what is selected in it stays selected
    shown = next;
    const isLast = stepsOf(pass).at(-1) === where.step;
    box.replaceChildren(...drawLesson(lesson), ...(isLast ? [drawShapes(pass, where.cell.head)] : []));
  };
  return { element: box, update };
}

// What the step says, as it reads for what is selected.
export function lessonAt(pass, where) {
  const { layer, heading, text, notes, formulas } = stepAt(pass, where);
  const read = (runs) => runsAt(pass, runs, where.cell);
  return {
    layer: nameOf(layer),
    heading: read(heading),
    text: read(text),
    notes: notes.map(read),
    formulas: formulas.map((latex) => ofHead(latex, where.cell.head)),
  };
}

export function drawLesson({ layer, heading, text, notes, formulas }) {
  const title = element("header");
  title.append(...(layer ? [element("span", "layer", layer)] : []), lineOf("h2", "", heading), ...formulas.map(drawFormula));
  return [title, ...(text.length ? [lineOf("p", "said", text)] : []), ...notes.map((runs) => lineOf("p", "note", runs))];
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
