// Flips: for each stage the number that turns an answer over, or the order of two shares, with the smallest change.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";

// The button that leads there from a share of attention or of an answer.
/** @param {Pass} pass */
export function drawFlipsQuestion(pass, { name, index }, tools) {
  if (pass.stages.get(name).scale !== "share") return [];
  const what = pass.document.model?.answers === name ? "it" : "this row";
  return [button(`What would flip ${what}?`, () => tools.wantFlips(name, index))];
}

// It stays while one looks at the numbers that it names, until something is changed or it is closed.
export function makeFlips(tools) {
  const box = element("section", "flips");
  box.setAttribute("aria-label", "What would flip it");
  box.hidden = true;
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
  const head = element("div", "head"),
    list = element("ul");
  head.append(element("p", "", text), button("Close", close));
  list.append(
    ...stages.map(flip => {
      const item = element("li");
      item.append(...(flip.cell ? drawFlip(pass, flip, tools) : [element("p", "", flip.text)]));
      return item;
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
