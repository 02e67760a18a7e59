// The text of a step: its sentences, formula and shapes, the welcome, and at a talk's end the offer of another sentence.
import { ofHead } from "../model/latex.js";
import { pairOf } from "../model/looks.js";
import { offeredAt } from "../model/route.js";
import { isFirst, sourceAt, stepAt, stepsOf } from "../model/state.js";
import { nameInBlock } from "../model/words.js";
import { button, h, makeScroller, memoLast, write } from "../dom/element.js";
import { drawRuns, runsAt, typeset, typesetInPieces } from "../dom/runs.js";

function drawShapes({ stages, symbol }, head) {
  const rows = [...stages].map(([name, { title, meaning, axes, shape }]) => {
    const texts = [`${title}: ${meaning}`, shape.join(" × "), axes.map(axis => axis.title).join(" × ")];
    return h("tr", {}, h("td", {}, typeset(symbol(name, head))), ...texts.map(text => h("td", {}, text)));
  });
  return h("details", { class: "shapes" }, h("summary", {}, "All shapes"), h("table", {}, ...rows));
}

const WELCOME =
  "attnviz shows attention number by number. Click any number to trace it back to the multiplications behind it.";
const OPENED = "attnviz was opened";

// Whether this browser opens attnviz for the first time; asked once, as it is not from then on.
export function isNewcomer(storage) {
  try {
    const isNew = storage().getItem(OPENED) === null;
    storage().setItem(OPENED, "yes");
    return isNew;
  } catch {
    return false; // a page in a sandbox may store nothing, and would welcome each time
  }
}

/** @returns {View} */
export function makeOffer({ send }) {
  const act = button("", () => send(shown.event, shown.value), "link"),
    box = h("p", { class: "offer" }, act);
  let shown = null;
  return {
    element: box,
    update(pass, where) {
      shown = offeredAt(pass, where);
      box.hidden = !shown;
      if (shown) write(act, shown.label);
    },
  };
}

// enter(door) is called for a click on the link to another model. `isNew` says whether this is a first visit, where that is known.
/** @param {boolean | null} isNew */
export function makeStepText(enter, isNew = null) {
  const box = makeScroller(h("section", { class: "step-text" }));
  // As long as the text is the same, what is selected in it stays selected.
  const draw = memoLast(([, , content, door], pass, where) => {
    const isLast = stepsOf(pass).at(-1) === where.step;
    if (isFirst(pass, where)) isNew ??= isNewcomer(() => localStorage);
    const isWelcomed = isNew && isFirst(pass, where) && content.text.length,
      welcome = isWelcomed ? [h("p", { class: "welcome" }, WELCOME)] : [];
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

// The text of the step, filled in for the selection; or the sources of the One word view's numbers, where one asks for those.
/** @param {Pass} pass @param {Where} where */
export function stepTextAt(pass, where) {
  const { layer, ...step } = stepAt(pass, where),
    source = sourceAt(pass, where),
    ofSource = source && { heading: source.heading, why: [], text: [], notes: [], formulas: [source.formula] };
  const { heading, why, text, notes, formulas } = ofSource ?? step,
    read = runs => runsAt(pass, runs, where.cell, undefined);
  return {
    layer: nameInBlock(pass.document, layer),
    heading: read(heading),
    why: read(why),
    text: read(text),
    notes: notes.map(read),
    formulas: formulas.map(latex => ofHead(latex, where.cell.head)),
  };
}

// Two passes of a model that writes on have their answers and their arcs on one page, which need the space of its text.
/** @param {Pass} pass @param {Where} where */
function stepTextIn(pass, where) {
  const content = stepTextAt(pass, where);
  return pass.document.next && isFirst(pass, where) && pairOf(pass, where) ? { ...content, text: [] } : content;
}

export function drawStepText({ layer, heading, why, text, notes, formulas }) {
  const line = (tag, name, runs) => h(tag, { class: name }, ...drawRuns(runs)),
    layerName = layer ? [h("span", { class: "layer" }, layer)] : [],
    drawnFormulas = formulas.map(latex => h("span", { class: "formula" }, ...typesetInPieces(latex)));
  return [
    h("header", {}, ...layerName, line("h2", "", heading), ...drawnFormulas),
    ...(why.length ? [line("p", "why", why)] : []),
    ...(text.length ? [line("p", "said", text)] : []),
    ...notes.map(runs => line("p", "note", runs)),
  ];
}
