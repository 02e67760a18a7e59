// Pieces of an article, each by its kind: {element}, and update(value) where something can be chosen.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { drawRuns } from "../elements/runs.js";
import { drawMatrix, drawTable } from "./tables.js";

// acts: {choose(event, value), open(door)}.
export function makePiece(piece, acts) {
  return piece.kind === "choice" ? makeChoice(piece, acts) : { element: KINDS[piece.kind](piece, acts) };
}

const KINDS = {
  heading: ({ level, text }) => element(`h${level}`, "", text),
  text: ({ runs }) => filled("p", "", drawRuns(runs)),
  door: drawDoor,
  box: ({ pieces }, acts) => filled("div", "box", drawAll(pieces, acts)),
  beside: ({ columns }, acts) =>
    filled(
      "div",
      "beside",
      columns.map(each => filled("div", `of-${each.at(-1).kind}`, drawAll(each, acts))),
    ),
  matrix: drawMatrix,
  table: drawTable,
};

function filled(tag, className, children) {
  const made = element(tag, className);
  made.append(...children);
  return made;
}

function drawAll(pieces, acts) {
  return pieces.map(piece => KINDS[piece.kind](piece, acts));
}

// A button that leads to another page, with what is said of it.
/** @param {import("../../generated/contract").DoorButton} door @param {{open(door: string): void}} acts */
function drawDoor({ door, label, runs }, { open }) {
  return filled("div", "door", [
    button(label, () => open(door)),
    ...(runs.length ? [filled("p", "", drawRuns(runs))] : []),
  ]);
}

/** @param {import("../../generated/contract").Alternatives} choice @param {{choose(event: string, value: string): void}} acts */
function makeChoice({ event, label, look, options }, { choose }) {
  const inputs = options.map(({ value }) => {
    const input = element("input");
    Object.assign(input, { type: "radio", name: event, value });
    input.onchange = () => choose(event, value);
    return input;
  });
  const named = options.map(({ runs }, i) => filled("label", "", [inputs[i], filled("span", "", drawRuns(runs))]));
  return {
    element: filled("fieldset", `choice ${look}`, [element("legend", "", label), ...named]),
    update: value => {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}
