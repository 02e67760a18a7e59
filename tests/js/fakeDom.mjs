// A document for node: elements that hold what the viewer draws. Nothing has a layout: every box has the size that `sizes` says.

export const sizes = { width: 1366, height: 768, line: 20, word: 60, isInHand: false };

// Listeners hear only what is sent to their own element.
class Node {
  static TEXT_NODE = 3;
  parentNode = null;
  childNodes = [];
  #listeners = [];

  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get isConnected() {
    return this.getRootNode() === globalThis.document;
  }
  get position() {
    return this.parentNode ? this.parentNode.childNodes.indexOf(this) : 0;
  }
  get previousSibling() {
    return this.parentNode?.childNodes[this.position - 1] ?? null;
  }
  addEventListener(type, act) {
    this.#listeners.push([type, act]);
  }
  removeEventListener(type, act) {
    this.#listeners = this.#listeners.filter(([of, each]) => of !== type || each !== act);
  }
  dispatchEvent(event) {
    this[`on${event.type}`]?.(event);
    for (const [type, act] of this.#listeners) if (type === event.type) act(event);
  }
  getRootNode() {
    return this.parentNode?.getRootNode() ?? this;
  }
  contains(other) {
    return other === this || Boolean(other?.parentNode && this.contains(other.parentNode));
  }
  remove() {
    this.parentNode?.childNodes.splice(this.position, 1);
    this.parentNode = null;
  }
  before(...nodes) {
    const made = nodes.map(each => asNode(each, this.parentNode));
    this.parentNode.childNodes.splice(this.position, 0, ...made);
  }
  replaceWith(...nodes) {
    this.before(...nodes);
    this.remove();
  }
}

function asNode(child, parent) {
  const node = child instanceof Node ? child : new Text(String(child));
  node.remove();
  node.parentNode = parent;
  return node;
}

class Text extends Node {
  nodeType = Node.TEXT_NODE;
  constructor(data) {
    super();
    this.data = data;
  }
  get textContent() {
    return this.data;
  }
}

const DATA = {
  get: (element, name) => element.getAttribute(`data-${kebab(name)}`) ?? undefined,
  set: (element, name, value) => {
    element.setAttribute(`data-${kebab(name)}`, value);
    return true;
  },
  deleteProperty: (element, name) => {
    element.removeAttribute(`data-${kebab(name)}`);
    return true;
  },
};

class Style {
  setProperty(name, value) {
    this[name] = value;
  }
  getPropertyValue(name) {
    return this[name] ?? "";
  }
}

class Element extends Node {
  nodeType = 1;
  attributes = new Map();
  hidden = false;
  style = new Style();
  dataset = new Proxy(this, DATA);
  offsetLeft = 0;
  offsetTop = 0;
  scrollLeft = 0;
  scrollTop = 0;
  constructor(tag) {
    super();
    this.localName = tag;
  }
  get children() {
    return this.childNodes.filter(each => each instanceof Element);
  }
  get childElementCount() {
    return this.children.length;
  }
  get textContent() {
    return this.childNodes.map(each => each.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(text === "" || text === null ? [] : [text]));
  }
  append(...nodes) {
    this.childNodes.push(...nodes.map(each => asNode(each, this)));
  }
  prepend(...nodes) {
    this.childNodes.unshift(...nodes.map(each => asNode(each, this)));
  }
  insertBefore(node, other) {
    if (other) other.before(node);
    else this.append(node);
  }
  replaceChildren(...nodes) {
    for (const each of this.childNodes) each.parentNode = null;
    this.childNodes = [];
    this.append(...nodes);
  }
  cloneNode() {
    const made = new Element(this.localName);
    for (const [name, value] of this.attributes) made.setAttribute(name, value);
    return made;
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  hasAttribute(name) {
    return this.attributes.has(name);
  }
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }
  removeAttribute(name) {
    this.attributes.delete(name);
    if (name === "style") this.style = new Style();
  }
  toggleAttribute(name, is = !this.hasAttribute(name)) {
    if (is) this.setAttribute(name, "");
    else this.removeAttribute(name);
  }
  get className() {
    return this.getAttribute("class") ?? "";
  }
  set className(text) {
    this.setAttribute("class", text);
  }
  get classList() {
    const names = new Set(this.className.split(/\s+/).filter(Boolean));
    const change = (act, ...all) => {
      for (const each of all) names[act](each);
      this.className = [...names].join(" ");
    };
    return {
      contains: name => names.has(name),
      add: (...all) => change("add", ...all),
      remove: (...all) => change("delete", ...all),
      toggle: (name, is = !names.has(name)) => change(is ? "add" : "delete", name),
    };
  }
  matches(selector) {
    return compiled(selector)(this);
  }
  closest(selector) {
    return this.matches(selector) ? this : (this.parentNode?.closest?.(selector) ?? null);
  }
  querySelectorAll(selector) {
    return [...found(this, compiled(selector), selector.startsWith(":scope >"))];
  }
  querySelector(selector) {
    return found(this, compiled(selector)).next().value ?? null;
  }
  getBoundingClientRect() {
    const left = this.position * sizes.word;
    return { left, top: 0, right: left + sizes.word, bottom: sizes.line, width: sizes.word, height: sizes.line };
  }
  checkVisibility() {
    return !this.hidden && (this.parentNode?.checkVisibility?.() ?? true);
  }
  // A pen that draws nothing. All that it is asked for is as wide as a letter.
  getContext() {
    const answer = (width = 1, height = 1) => ({ width: 10, data: new Uint8ClampedArray(4 * width * height) });
    const get = (kept, name) => kept[name] ?? answer.bind(null, 1, 1);
    return new Proxy({ createImageData: answer }, { get, set: Reflect.set });
  }
}
const MEASURED = {
  ...{ clientWidth: "width", clientHeight: "height", scrollWidth: "width", scrollHeight: "height" },
  ...{ offsetHeight: "line", offsetWidth: "word" },
};
for (const [name, size] of Object.entries(MEASURED))
  Object.defineProperty(Element.prototype, name, { get: () => sizes[size] });
const REFLECTED = { ariaLabel: "aria-label", ariaDescription: "aria-description", role: "role", id: "id" };
for (const [name, attribute] of Object.entries(REFLECTED))
  Object.defineProperty(Element.prototype, name, {
    get() {
      return this.getAttribute(attribute);
    },
    set(value) {
      if (value === null) this.removeAttribute(attribute);
      else this.setAttribute(attribute, value);
    },
  });

function kebab(name) {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}

// The elements inside one that fit, in their order.
function* found(box, fits, isShallow = false) {
  for (const each of box.childNodes) {
    if (!(each instanceof Element)) continue;
    if (fits(each)) yield each;
    if (!isShallow) yield* found(each, fits);
  }
}

const matchers = new Map();

// Whether an element fits a selector: compounds of a tag, classes, attributes and :not(...), with spaces, > or commas between.
function compiled(selector) {
  if (!matchers.has(selector)) {
    const each = selector.split(/,(?![^(]*\))/).map(one => chain(one.trim().replace(":scope > ", "")));
    matchers.set(selector, element => each.some(fits => fits(element)));
  }
  return matchers.get(selector);
}

function chain(selector) {
  const parts = selector.match(/>|(?:\[[^\]]*\]|\([^)]*\)|[^\s>[(])+/g),
    isLast = compound(parts.at(-1));
  if (parts.length === 1) return isLast;
  const isChild = parts.at(-2) === ">",
    fitsRest = chain(parts.slice(0, isChild ? -2 : -1).join(" "));
  const isInside = parent =>
    parent instanceof Element && (fitsRest(parent) || (!isChild && isInside(parent.parentNode)));
  return element => isLast(element) && isInside(element.parentNode);
}

function compound(text) {
  const tests = text.match(/:[\w-]+(?:\([^)]*\))?|\[[^\]]*\]|[.#]?[\w-]+|\*/g).map(piece => {
    if (piece === "*") return () => true;
    if (piece.startsWith(".")) return element => ` ${element.className} `.includes(` ${piece.slice(1)} `);
    if (piece.startsWith("#")) return element => element.id === piece.slice(1);
    if (piece.startsWith(":not")) {
      const fits = compiled(piece.slice(5, -1));
      return element => !fits(element);
    }
    if (piece.startsWith(":")) return () => false;
    if (!piece.startsWith("[")) return element => element.localName === piece;
    const [, name, value] = piece.match(/^\[([\w-]+)(?:=["']?(.*?)["']?)?\]$/);
    return element => (value === undefined ? element.hasAttribute(name) : element.getAttribute(name) === value);
  });
  return element => tests.every(fits => fits(element));
}

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

// Makes node's globals those of a window; returns its document.
export function install() {
  const nothing = () => {},
    store = { getItem: () => null, setItem: nothing },
    events = { addEventListener: nothing, removeEventListener: nothing },
    white = { getPropertyValue: () => "#ffffff", fontSize: "16px" };
  const document = Object.assign(new Element("#document"), {
    documentElement: new Element("html"),
    body: new Element("body"),
    defaultView: globalThis,
    visibilityState: "visible",
    activeElement: null,
    fonts: { status: "loaded", ready: Promise.resolve(), check: () => true, addEventListener: nothing },
    adoptedStyleSheets: [],
    createElement: tag => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
  });
  document.append(document.documentElement);
  document.documentElement.append(document.body);
  const globals = {
    document,
    Node,
    Text,
    Element,
    HTMLElement: Element,
    window: globalThis,
    self: globalThis,
    top: globalThis,
    innerWidth: sizes.width,
    innerHeight: sizes.height,
    devicePixelRatio: 1,
    location: new URL("http://alone.test/"),
    history: { state: null },
    localStorage: store,
    sessionStorage: store,
    CSSStyleSheet: class {
      replaceSync() {}
    },
    ResizeObserver: Observer,
    MutationObserver: Observer,
    requestAnimationFrame: () => 0, // no frame ever comes
    getComputedStyle: () => new Proxy(white, { get: (known, name) => known[name] ?? "rgb(255, 255, 255)" }),
    // whoever wants calm sees every motion's end
    matchMedia: query => ({ matches: query.includes("reduced-motion") || sizes.isInHand, ...events }),
    ...events,
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  return document;
}
