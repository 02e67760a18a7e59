// HTML and SVG elements, buttons, and keeping the keyboard's place while a box is redrawn.

export function element(tag, className = "", text = null) {
  const made = document.createElement(tag);
  if (className) made.className = className.trim();
  if (text !== null) made.textContent = text; // never as markup: a person may have typed it
  return made;
}

// An element with its properties and children. `class` is its class; `role` and names with a dash are attributes. Strings among the
// children are text, never markup.
export function h(tag, props = {}, ...children) {
  const made = element(tag, props.class);
  for (const [name, value] of Object.entries(props)) {
    if (name === "role" || name.includes("-")) made.setAttribute(name, value);
    else if (name !== "class") made[name] = value;
  }
  made.append(...children);
  return made;
}

// Sets a text if it differs: writing the same again costs a layout.
export function write(made, text) {
  if (made.textContent !== text) made.textContent = text;
}

// A text with space for the widest of `texts`, so that nothing moves when it changes.
export function roomy(tag, className, text, texts) {
  const made = element(tag, className, text);
  made.dataset.room = texts.join("\n");
  return made;
}

// The scale that a box is drawn at; a handout's pictures are drawn smaller. Divide what getBoundingClientRect() measures by it to get
// pixels of the layout.
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

// What identifies an element: its act or cell, else its text.
function sayingOf({ dataset, textContent }) {
  return dataset.act ?? dataset.cell ?? textContent;
}

// Replaces a box's children and keeps the keyboard's place.
export function redraw(box, children) {
  keepingPlace(box, () => box.replaceChildren(...children));
}

// Changes a box by act(). If one of its elements had the focus, the one with the same identity gets it, else the current one, else the
// first button.
export function keepingPlace(box, act) {
  const held = hasKeyboard(box) ? sayingOf(box.getRootNode().activeElement) : null;
  act();
  if (held === null) return;
  const alike = [...box.querySelectorAll("button")].find(each => sayingOf(each) === held);
  (alike ?? box.querySelector("[aria-current]") ?? box.querySelector("button"))?.focus({ preventScroll: true });
}

export function button(text, act, className = "") {
  const made = element("button", className, text);
  made.type = "button";
  made.onclick = act;
  return made;
}

// Buttons for some texts, the present one pressed; act(text) is called as one is clicked. Ids are drawn by their `labels`.
export function choice(texts, present, act, labels = {}) {
  const line = element("span", "choice");
  line.append(
    ...texts.map(text => {
      const made = button(labels[text] ?? text, () => act(text));
      made.setAttribute("aria-pressed", text === present);
      return made;
    }),
  );
  return line;
}
