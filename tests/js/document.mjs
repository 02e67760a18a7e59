// A document as small as the viewer needs: a tree of elements, without layout.

class Element {
  constructor(tag) {
    Object.assign(this, { tag, parent: null, children: [], attributes: new Map(), dataset: {}, classes: new Set() });
    this.style = { setProperty: (name, value) => { this.style[name] = value; } };
    this.listeners = new Map();
    this.clientWidth = this.scrollWidth = 30;
  }

  get className() { return [...this.classes].join(" "); }
  set className(text) { this.classes = new Set(text.split(" ").filter(Boolean)); }
  get classList() {
    return {
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
      contains: (name) => this.classes.has(name),
    };
  }

  get textContent() { return this.children.map((child) => child.textContent ?? child).join(""); }
  set textContent(text) { this.children = [String(text)]; }
  append(...children) {
    for (const child of children) if (child instanceof Element) child.parent = this;
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  setAttribute(name, value) { this.attributes.set(name, String(value)); }

  *all() {
    for (const child of this.children) {
      if (child instanceof Element) {
        yield child;
        yield* child.all();
      }
    }
  }
  matches(selector) {
    if (selector.startsWith(":")) return false;
    const [, kind, name, value] = selector.match(/^([.[]?)([\w-]+)(?:="(.*)")?\]?$/);
    if (kind === ".") return this.classes.has(name);
    if (!kind) return this.tag === name;
    const held = name.startsWith("data-") ? this.dataset[name.slice(5)] : this.attributes.get(name);
    return held !== undefined && (value === undefined || held === value);
  }
  querySelectorAll(selector) { return [...this.all()].filter((each) => each.matches(selector)); }
  querySelector(selector) { return this.querySelectorAll(selector)[0] ?? null; }
  closest(selector) { return this.matches(selector) ? this : (this.parent?.closest(selector) ?? null); }
  contains(other) { return other === this || [...this.all()].includes(other); }
  getRootNode() { return document; }
  getBoundingClientRect() { return { width: 30 }; }
  getContext() { return { fillStyle: "" }; }
  addEventListener(name, listener) { this.listeners.set(name, listener); }
  focus() { document.activeElement = this; }
}

globalThis.document = {
  createElement: (tag) => new Element(tag),
  createElementNS: (_, tag) => new Element(tag),
  querySelector: () => null,
  activeElement: null,
};
globalThis.getComputedStyle = () => ({ columnGap: "8px", getPropertyValue: () => "#ffffff" });

// What Streamlit gives the component, and the root in which it draws.
export function page() {
  const parent = new Element("div"), root = new Element("div");
  root.className = "picture";
  parent.append(root);
  return { parent, root };
}
