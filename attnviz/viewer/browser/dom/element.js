// HTML and SVG elements, buttons, and keeping the keyboard's place while a box is redrawn.

/** @typedef {Node | string | number | null | false | undefined} Child */

/** @param {string} tag @param {string} [className] @param {string | number | null} [text] @returns {any} */
export function element(tag, className = "", text = null) {
  const node = document.createElement(tag);
  if (className) node.className = className.trim();
  if (text !== null) node.textContent = String(text); // never as markup: a person may have typed it
  return node;
}

/**
 * An element with its properties and children. `class` is its class, `style` an object; `role` and names with a dash are attributes.
 * Strings among the children are text, never markup; null, undefined and false are left out, and lists are flattened.
 * @param {string} tag @param {Record<string, any>} [props] @param {...(Child | Child[])} children @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const node = element(tag, props.class);
  for (const [name, value] of Object.entries(props)) {
    if (name === "class" || value === null || value === undefined) continue;
    if (name === "style") Object.assign(node.style, value);
    else if (name === "role" || name.includes("-")) node.setAttribute(name, value);
    else node[name] = value;
  }
  append(node, children);
  return node;
}

function append(node, children) {
  node.append(...present(children));
}

// The children that are there: conditions in a list leave null, undefined or false.
export function present(children) {
  return children.flat().filter(child => child !== null && child !== undefined && child !== false);
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Child | Child[])} children @returns {any} */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  append(node, children);
  return node;
}

// Sets a text if it differs: writing the same again costs a layout.
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A text with space for the widest of `texts`, so that nothing moves when it changes.
export function roomy(tag, className, text, texts) {
  const node = element(tag, className, text);
  node.dataset.room = texts.join("\n");
  return node;
}

// The scale that a box is drawn at; a handout's pictures are drawn smaller. Divide what getBoundingClientRect() measures by it to get
// pixels of the layout.
export function scaleOf(box) {
  return Math.round((100 * box.getBoundingClientRect().width) / (box.offsetWidth ?? box.clientWidth)) / 100 || 1;
}

// What identifies an element while its box is redrawn: its action or cell, else its text.
function identityOf({ dataset, textContent }) {
  return dataset.act ?? dataset.cell ?? textContent;
}

// Replaces a box's children and keeps the keyboard's place.
export function redraw(box, children) {
  keepingFocusIn(box, () => box.replaceChildren(...present(children)));
}

// Changes a box. If one of its elements had the focus, the one with the same identity gets it, else the current one, else the first button.
export function keepingFocusIn(box, change) {
  const focused = box.getRootNode().activeElement,
    identity = box.contains(focused) ? identityOf(focused) : null;
  change();
  if (identity === null) return;
  const same = [...box.querySelectorAll("button")].find(each => identityOf(each) === identity);
  (same ?? box.querySelector("[aria-current]") ?? box.querySelector("button"))?.focus({ preventScroll: true });
}

/** @param {string} text @param {((event: MouseEvent) => unknown) | null} [act] @param {Record<string, any>} [props] those of h() */
export function button(text, act = null, className = "", props = {}) {
  return h("button", { type: "button", class: className, onclick: act, ...props }, text);
}

// Buttons for some texts, the present one pressed; act(text) is called as one is clicked. Ids are drawn by their `labels`.
export function choice(texts, present, act, labels = {}) {
  const buttons = texts.map(text =>
    button(labels[text] ?? text, () => act(text), "", { "aria-pressed": text === present }),
  );
  return h("span", { class: "choice" }, buttons);
}

// The middle of each element along a line, in pixels from the left of `origin`.
export function middlesOf(elements, origin) {
  const { left } = origin.getBoundingClientRect(),
    scale = scaleOf(origin);
  return elements.map(each => {
    const at = each.getBoundingClientRect();
    return { x: (at.left - left + at.width / 2) / scale };
  });
}
