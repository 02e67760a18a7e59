// A document for node: elements that hold what the viewer draws. Nothing has a layout: every box has the size that `sizes` says.

export const sizes = { width: 1366, height: 768, line: 20, word: 60, isInHand: false };

// Listeners hear only what is sent to their own element.
class Node {
  static TEXT_NODE = 3;
  parentNode = null;
  #listeners = null;
  childNodes = [];

  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get isConnected() {
    return this.getRootNode() === globalThis.document;
  }
  get previousSibling() {
    return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) - 1] ?? null;
  }
  get nextSibling() {
    return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) + 1] ?? null;
  }
  addEventListener(type, act) {
    this.#listeners ??= [];
    this.#listeners.push([type, act]);
  }
  removeEventListener(type, act) {
    this.#listeners = this.#listeners?.filter(([of, each]) => of !== type || each !== act) ?? null;
  }
  dispatchEvent(event) {
    this[`on${event.type}`]?.(event);
    for (const [type, act] of this.#listeners ?? []) if (type === event.type) act(event);
  }
  getRootNode() {
    return this.parentNode ? this.parentNode.getRootNode() : this;
  }
  contains(other) {
    for (let each = other; each; each = each.parentNode) if (each === this) return true;
    return false;
  }
  remove() {
    if (!this.parentNode) return;
    this.parentNode.childNodes.splice(this.parentNode.childNodes.indexOf(this), 1);
    this.parentNode = null;
  }
  #beside(nodes, by) {
    const parent = this.parentNode,
      made = nodes.map(each => asNode(each, parent));
    parent.childNodes.splice(parent.childNodes.indexOf(this) + by, 0, ...made);
  }
  before(...nodes) {
    this.#beside(nodes, 0);
  }
  after(...nodes) {
    this.#beside(nodes, 1);
  }
  replaceWith(...nodes) {
    this.#beside(nodes, 0);
    this.remove();
  }
}

function asNode(given, parent) {
  const node = given instanceof Node ? given : new Text(String(given));
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

const ofData = {
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
const reflected = { ariaLabel: "aria-label", ariaDescription: "aria-description", role: "role", id: "id" };

class Style {
  setProperty(name, value) {
    this[name] = value;
  }
  getPropertyValue(name) {
    return this[name] ?? "";
  }
  removeProperty(name) {
    delete this[name];
  }
}

class Element extends Node {
  nodeType = 1;
  attributes = new Map();
  hidden = false;
  #style = null;
  #dataset = null;
  constructor(tag) {
    super();
    this.localName = tag;
  }
  get style() {
    this.#style ??= new Style();
    return this.#style;
  }
  set style(text) {
    this.setAttribute("style", text);
  }
  get dataset() {
    this.#dataset ??= new Proxy(this, ofData);
    return this.#dataset;
  }
  get tagName() {
    return this.localName.toUpperCase();
  }
  get children() {
    return this.childNodes.filter(each => each instanceof Element);
  }
  get childElementCount() {
    return this.children.length;
  }
  get firstElementChild() {
    return this.children[0] ?? null;
  }
  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }
  get textContent() {
    return this.childNodes.map(each => each.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(text === "" || text === null ? [] : [text]));
  }
  get innerText() {
    return this.textContent;
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
    if (name === "style") this.#style = null;
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
    const read = () => new Set(this.className.split(/\s+/).filter(Boolean));
    return {
      contains: name => read().has(name),
      add: (...names) => {
        this.className = [...new Set([...read(), ...names])].join(" ");
      },
      remove: (...names) => {
        this.className = [...read()].filter(each => !names.includes(each)).join(" ");
      },
      toggle: (name, is = !read().has(name)) => {
        this.classList[is ? "add" : "remove"](name);
        return is;
      },
      [Symbol.iterator]: () => read()[Symbol.iterator](),
    };
  }
  matches(selector) {
    return compiled(selector)(this);
  }
  closest(selector) {
    for (let each = this; each instanceof Element; each = each.parentNode) if (each.matches(selector)) return each;
    return null;
  }
  querySelectorAll(selector) {
    const found = [];
    search(this, compiled(selector), found, Number.POSITIVE_INFINITY, selector.startsWith(":scope >"));
    return found;
  }
  querySelector(selector) {
    const found = [];
    search(this, compiled(selector), found, 1, false);
    return found[0] ?? null;
  }
  get clientWidth() {
    return sizes.width;
  }
  get clientHeight() {
    return sizes.height;
  }
  get offsetHeight() {
    return sizes.line;
  }
  get offsetWidth() {
    return sizes.word;
  }
  offsetLeft = 0;
  offsetTop = 0;
  scrollLeft = 0;
  scrollTop = 0;
  get scrollWidth() {
    return this.clientWidth;
  }
  get scrollHeight() {
    return this.clientHeight;
  }
  getBoundingClientRect() {
    const at = this.parentNode ? this.parentNode.childNodes.indexOf(this) : 0,
      left = at * sizes.word;
    return {
      left,
      top: 0,
      right: left + sizes.word,
      bottom: sizes.line,
      width: sizes.word,
      height: sizes.line,
      x: left,
      y: 0,
    };
  }
  checkVisibility() {
    for (let each = this; each instanceof Element; each = each.parentNode) if (each.hidden) return false;
    return true;
  }
  // A pen that draws nothing. All that it is asked for is as wide as a letter.
  getContext() {
    const answer = (width = 1, height = 1) => ({ width: 10, data: new Uint8ClampedArray(4 * width * height || 4) });
    return new Proxy(
      { getImageData: (_x, _y, width, height) => answer(width, height), createImageData: answer },
      {
        get: (kept, name) => kept[name] ?? answer.bind(null, 1, 1),
        set: Reflect.set,
      },
    );
  }
  focus() {
    globalThis.document.activeElement = this;
    this.dispatchEvent(new Event("focus"));
  }
  blur() {
    globalThis.document.activeElement = null;
    this.dispatchEvent(new Event("blur"));
  }
  click() {
    this.onclick?.({ target: this, shiftKey: false, preventDefault() {} });
  }
  scrollIntoView() {}
  scrollTo() {}
  setPointerCapture() {}
  showPopover() {}
  hidePopover() {}
  togglePopover() {}
  close() {}
  animate() {
    return { cancel() {}, finished: Promise.resolve() };
  }
}
for (const [name, attribute] of Object.entries(reflected))
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

// The elements inside one that fit, in their order, as far as so many are found.
function search(box, fits, found, most, isShallow) {
  for (const each of box.childNodes) {
    if (!(each instanceof Element)) continue;
    if (fits(each)) found.push(each);
    if (found.length >= most) return;
    if (!isShallow) search(each, fits, found, most, false);
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
  return element => {
    if (!isLast(element)) return false;
    for (let each = element.parentNode; each instanceof Element; each = each.parentNode) {
      if (fitsRest(each)) return true;
      if (isChild) return false;
    }
    return false;
  };
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
    return value === undefined
      ? element => element.hasAttribute(name)
      : element => element.getAttribute(name) === value;
  });
  return element => tests.every(fits => fits(element));
}

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

class Document extends Element {
  documentElement = new Element("html");
  body = new Element("body");
  defaultView = globalThis;
  visibilityState = "visible";
  activeElement = null;
  fonts = { status: "loaded", ready: Promise.resolve(), check: () => true, addEventListener() {} };
  adoptedStyleSheets = [];
  constructor() {
    super("#document");
    this.append(this.documentElement);
    this.documentElement.append(this.body);
  }
  createElement(tag) {
    return new Element(tag);
  }
  createElementNS(_, tag) {
    return new Element(tag);
  }
  createTextNode(text) {
    return new Text(text);
  }
}

// Makes node's globals those of a window; returns its document.
export function install() {
  const document = new Document(),
    events = new EventTarget();
  const given = {
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
    history: { state: null, pushState() {}, replaceState() {} },
    localStorage: { getItem: () => null, setItem() {}, removeItem() {} },
    sessionStorage: { getItem: () => null, setItem() {}, removeItem() {} },
    PointerEvent: class extends Event {},
    CSSStyleSheet: class {
      replaceSync() {}
    },
    ResizeObserver: Observer,
    MutationObserver: Observer,
    requestAnimationFrame: () => 0, // no frame ever comes
    cancelAnimationFrame() {},
    getComputedStyle: () =>
      new Proxy(
        {},
        {
          get: (_, name) =>
            name === "getPropertyValue" ? () => "#ffffff" : name === "fontSize" ? "16px" : "rgb(255, 255, 255)",
        },
      ),
    matchMedia: () => ({ matches: sizes.isInHand, addEventListener() {}, removeEventListener() {} }),
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
    dispatchEvent: events.dispatchEvent.bind(events),
    print() {},
  };
  for (const [name, value] of Object.entries(given))
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  return document;
}
