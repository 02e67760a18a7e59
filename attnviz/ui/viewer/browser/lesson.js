// The lesson: a step's heading, what is said of it, and its formula.
import { element } from "./element.js";
import { typeset } from "./formula.js";
import { drawRuns } from "./runs.js";
import { drawShapes } from "./shapes.js";
import { stepAt, stepsOf } from "./state.js";

export function makeLesson() {
  const box = element("section", "lesson");
  let shown = "";
  const update = (pass, where) => {
    const { heading, text, notes, formulas } = stepAt(pass, where);
    const next = JSON.stringify([where.step, heading, text, notes, formulas]);
    if (shown === next) return; // what is selected in it stays selected
    shown = next;
    const isLast = stepsOf(pass).at(-1) === where.step;
    box.replaceChildren(...drawLesson(stepAt(pass, where)), ...(isLast ? [drawShapes(pass, where.cell.head)] : []));
  };
  return { element: box, update };
}

export function drawLesson({ heading, text, notes, formulas }) {
  const title = element("header");
  title.append(lineOf("h2", "", typeof heading === "string" ? [["", heading]] : heading), ...formulas.map(typeset));
  return [title, ...(text.length ? [lineOf("p", "said", text)] : []), ...notes.map((runs) => lineOf("p", "note", runs))];
}

function lineOf(tag, className, runs) {
  const line = element(tag, className);
  line.append(...drawRuns(runs));
  return line;
}
