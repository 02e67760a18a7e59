// Flips: for each stage the number that turns an answer over, or the order of two shares, with the smallest change.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";

export const WHAT_FLIPS = "What would flip it?";

// What leads there from a share of attention or of an answer.
export function drawFlipsQuestion(pass, { name, index }, tools) {
  if (pass.stages.get(name).scale !== "share") return [];
  const line = element("p", "acts");
  line.append(button(WHAT_FLIPS, () => tools.wantFlips(name, index)));
  return [line];
}

// It stays while one looks at the numbers that it names, until something is changed or it is closed.
export function makeFlips(tools) {
  const box = element("section", "flips");
  box.setAttribute("aria-label", WHAT_FLIPS);
  box.hidden = true;
  let drawn = null;
  const close = () => {
    box.hidden = true;
    tools.go({});
  };
  return {
    element: box,
    get isOpen() { return !box.hidden; },
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

function draw(pass, { text, stages }, tools, close) {
  const said = element("p", "", text), list = element("ul"), line = element("p", "acts");
  list.append(...stages.map((found) => {
    const item = element("li");
    item.append(...(found.cell ? drawFlip(pass, found, tools) : [element("span", "", found.text)]));
    return item;
  }));
  line.append(button("Close", close));
  return [said, list, line];
}

function drawFlip(pass, { cell, value, text }, tools) {
  const { name, index } = pass.read(cell);
  const set = button("Set it", () => tools.setFlip(name, index, value));
  set.ariaDescription = pass.nameOf(name, index);
  return [button(text, () => tools.pick(name, index), "link"), set];
}
