// Elements: how they are made, and whether the keyboard is in one.

export function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className.trim();
  if (text !== null) made.textContent = text; // never as markup: a person may have typed it
  return made;
}

export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export function hasKeyboard(box) {
  return box.contains(box.getRootNode().activeElement);
}
