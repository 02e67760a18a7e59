// The text of a step: its sentences, formula and shapes, the welcome, and at a talk's end the offer of another
// sentence.
import { ofHead } from "../model/latex.js";
import { sourceAt, isFirst, stepAt, stepsOf } from "../model/state.js";
import { pairOf } from "../model/looks.js";
import { offeredAt } from "../model/route.js";
import { button, element, h, write } from "../dom/element.js";
import { makeScroller } from "../dom/grid.js";
import { drawRuns, runsAt, typeset, typesetInPieces } from "../dom/runs.js";
import { whenOther } from "../dom/timing.js";
import { nameOf } from "./diagram.js";

function drawShapes({ stages, symbol }, head) {
  const table = h(
    "table",
    {},
    ...[...stages].map(([name, { title, meaning, axes, shape }]) => {
      const sign = h("td", {}, typeset(symbol(name, head)));
      return h(
        "tr",
        {},
        sign,
        element("td", "", `${title}: ${meaning}`),
        element("td", "", shape.join(" × ")),
        element("td", "", axes.map(axis => axis.title).join(" × ")),
      );
    }),
  );
  return h("details", { class: "shapes" }, element("summary", "", "All shapes"), table);
}

const WELCOME =
  "attnviz shows attention number by number: each number is real, and opens down to the multiplications that make it.";
const KEPT = "attnviz was opened";

// Whether this browser opens attnviz for the first time; asked once, as it is not from then on.
export function isNewcomer(storage) {
  try {
    const isFirst = storage().getItem(KEPT) === null;
    storage().setItem(KEPT, "yes");
    return isFirst;
  } catch {
    return false; // a page in a sandbox may keep nothing, and would say it each time
  }
}

/** @returns {View} */
export function makeOffer({ send }) {
  const box = element("p", "offer"),
    act = button("", () => send(shown.event, shown.value), "link");
  let shown = null;
  box.append(act);
  return {
    element: box,
    update(pass, where) {
      shown = offeredAt(pass, where);
      box.hidden = !shown;
      if (shown) write(act, shown.label);
    },
  };
}

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
  return h(tag, { class: className }, ...drawRuns(runs));
}

function drawFormula(latex) {
  return h("span", { class: "formula" }, ...typesetInPieces(latex));
}
