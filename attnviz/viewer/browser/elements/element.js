// Elements: how they are made, and whether the keyboard is in one.

export function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className.trim();
  if (text !== null) made.textContent = text; // never as markup: a person may have typed it
  return made;
}

// Another text, if it is one: to write the same again has its line laid out again.
export function write(made, text) {
  if (made.textContent !== text) made.textContent = text;
}

// Text in a place that is wide enough for each of `texts`, so that nothing beside it moves when it becomes another of them.
export function roomy(tag, className, text, texts) {
  const made = element(tag, className, text);
  made.dataset.room = texts.join("\n");
  return made;
}

// How large a box is drawn, as a part of the size that it is laid out in: a handout's pictures are drawn smaller. What is measured by
// getBoundingClientRect() and written as pixels of the layout is divided by it.
export function scaleOf(box) {
  return Math.round((100 * box.getBoundingClientRect().width) / (box.offsetWidth ?? box.clientWidth)) / 100 || 1;
}

export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function hasKeyboard(box) {
  return box.contains(box.getRootNode().activeElement);
}

// The act or the cell that an element names, else its text.
function sayingOf({ dataset, textContent }) {
  return dataset.act ?? dataset.cell ?? textContent;
}

// Puts other elements into a box, and keeps the keyboard's place there.
export function redraw(box, children) {
  keepingPlace(box, () => box.replaceChildren(...children));
}

// Has what is in a box become something else. Where one had the keyboard, the one that says the same then gets it, or what is
// marked as the place where one is, or else the first.
export function keepingPlace(box, act) {
  const held = hasKeyboard(box) ? sayingOf(box.getRootNode().activeElement) : null;
  act();
  if (held === null) return;
  const alike = [...box.querySelectorAll("button")].find(each => sayingOf(each) === held);
  (alike ?? box.querySelector("[aria-current]") ?? box.querySelector("button"))?.focus({ preventScroll: true });
}
