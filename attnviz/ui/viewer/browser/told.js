// What is said of a number, in a sentence whose own numbers light up their cells.
import { element } from "./element.js";

export function drawStory(segments, { point, pick }) {
  const line = element("p", "story");
  line.append(...segments.map(({ text, cell, style }) => {
    if (!cell) return element("span", style ?? "", text);
    const number = element("button", "link", text);
    lights(number, cell, point);
    number.onclick = () => pick(cell.name, cell.index);
    return number;
  }));
  return line;
}

// Has an element light up a cell while a pointer or the keyboard is on it, and the other way round.
export function lights(made, { name, index }, point) {
  made.dataset.cell = `${name}[${index}]`;
  made.onpointerenter = made.onfocus = () => point(name, index);
  made.onpointerleave = made.onblur = () => point(name, null);
}

// Lights up, of all elements in a box that name a cell, those that name this one.
export function lightUp(box, name, index) {
  for (const each of box.querySelectorAll("[data-cell]")) each.classList.toggle("lit", each.dataset.cell === `${name}[${index}]`);
}
