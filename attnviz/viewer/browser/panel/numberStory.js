// The story of a number: a sentence whose own numbers light up their cells.
import { element } from "../elements/element.js";
import { digits, fraction } from "../pass/numeral.js";

// A number's name and its value, and by how much it moved where the pictures show that.
/** @param {Pass} pass @param {Look} look */
export function titleOf(pass, look, { name, index }) {
  return `${pass.nameOf(name, index)} = ${valueText(pass, name, pass.number(name, index))}${movedText(look, name, index)}`;
}

/** @param {Pass} pass */
function valueText(pass, name, value) {
  if (pass.stages.get(name).scale === "flag") return value ? "visible" : "hidden";
  const exact = pass.document.fractions ? fraction(value) : "";
  return exact ? `${exact} = ${digits(value)}` : digits(value);
}

function movedText({ kind, pass }, name, index) {
  return kind === "differences"
    ? `, moved by ${digits(pass.document.before[name] ? pass.number(name, index) : 0)}`
    : "";
}

export function drawStory(segments, tools) {
  const line = element("p", "story");
  for (const group of betweenSpaces(segments)) {
    const drawn = group.map(segment => drawSegment(segment, tools));
    const box = group.some(({ cell }) => cell) ? element("span", "unbroken") : line;
    box.append(...drawn);
    if (box !== line) line.append(box);
  }
  return line;
}

// A line may break at either side of a button, and so between a bracket and its number: here between spaces alone.
function betweenSpaces(segments) {
  const groups = [[]];
  for (const segment of segments) {
    for (const text of segment.cell ? [segment.text] : segment.text.split(/( )/)) {
      if (text === " ") groups.push([{ text }], []);
      else if (text) groups.at(-1).push({ ...segment, text });
    }
  }
  return groups;
}

function drawSegment({ text, cell, style }, { point, inspect }) {
  if (!cell) return element("span", style ?? "", text);
  const number = element("button", "link", text);
  lights(number, cell, point);
  number.onclick = () => inspect(cell.name, cell.index);
  return number;
}

// Has an element light up a cell while a pointer or the keyboard is on it, and the other way round.
export function lights(made, { name, index }, point) {
  made.dataset.cell = `${name}[${index}]`;
  made.onpointerenter = made.onfocus = () => point(name, index);
  made.onpointerleave = made.onblur = () => point(name, null);
}

// Lights up, of all elements in a box that name a cell, those that name this one.
export function lightUp(box, name, index) {
  for (const each of box.querySelectorAll("[data-cell]"))
    each.classList.toggle("lit", each.dataset.cell === `${name}[${index}]`);
}
