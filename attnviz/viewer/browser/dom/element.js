// Building blocks of the page: HTML and SVG elements, buttons, dialogs and menus, keyboard access, and scheduling (once per frame, after a
// frame, debounced).

/** @typedef {Node | string | number | null | false | undefined} Child @typedef {Node | (Node | string | number)[]} TableLine */

/** An element with its properties and children. `class` is its class, `style` an object; `role` and names with a dash are attributes.
 * Strings among the children are text, never markup; null, undefined and false are left out, and lists are flattened. @param {string} tag
 * @param {Record<string, any>} [props] @param {...(Child | Child[])} children @returns {any} */
export function h(tag, props = {}, ...children) {
  const node = /** @type {any} */ (document.createElement(tag));
  if (props.class) node.className = props.class.trim();
  for (const [name, value] of Object.entries(props)) {
    if (name === "class" || value === null || value === undefined) continue;
    if (name === "style") Object.assign(node.style, value);
    else if (name === "role" || name.includes("-")) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...present(children));
  return node;
}

/** The children that are there: conditions in a list leave null, undefined or false. @param {any[]} children @returns {any[]} */
export const present = children =>
  children.flat().filter(child => child !== null && child !== undefined && child !== false);

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Child | Child[])} children @returns {any} */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...present(children));
  return node;
}

/** Sets a text if it differs: writing the same again costs a layout. @param {Node} node @param {string} text */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A text with space for the widest of `texts`, so that nothing moves when it changes. @param {string} tag @param {string} className
 * @param {string} text @param {string[]} texts */
export const roomy = (tag, className, text, texts) =>
  h(tag, { class: className, "data-room": texts.join("\n") }, text || null);

/** The scale that a box is drawn at. Divide what getBoundingClientRect() measures by it to get pixels of the layout. @param {any} box */
export const scaleOf = box =>
  Math.round((100 * box.getBoundingClientRect().width) / (box.offsetWidth ?? box.clientWidth)) / 100 || 1;

/** What identifies an element while its box is redrawn: its action or cell, else its text. @param {any} props */
const identityOf = ({ dataset, textContent }) => dataset.act ?? dataset.cell ?? textContent;

/** Replaces a box's children and keeps the keyboard's place. @param {Element} box @param {(Child | Child[])[]} children */
export function redraw(box, children) {
  keepFocus(box, () => box.replaceChildren(...present(children)));
}

// Runs change(), which redraws a box. If one of its elements had the focus, the one with the same identity gets it, else the current one, else
// the first button.
export function keepFocus(/** @type {any} */ box, /** @type {() => void} */ change) {
  const focused = box.getRootNode().activeElement,
    identity = box.contains(focused) ? identityOf(focused) : null;
  change();
  if (identity === null) return;
  const same = [...box.querySelectorAll("button")].find(each => identityOf(each) === identity);
  (same ?? box.querySelector("[aria-current]") ?? box.querySelector("button"))?.focus({ preventScroll: true });
}

/** @param {string} text @param {((event: MouseEvent) => unknown) | null} [act] @param {Record<string, any>} [props] those of h() */
export const button = (text, act = null, className = "", props = {}) =>
  h("button", { type: "button", class: className, onclick: act, ...props }, text);

/** A group of buttons for some texts, of which the present one is pressed; a click calls act(text). `labels` are shown in place of ids.
 * @param {readonly string[]} texts @param {string} present @param {(text: any) => unknown} act */
export function choice(texts, present, act, labels = /** @type {Record<string, string>} */ ({})) {
  const buttons = texts.map(text =>
    button(labels[text] ?? text, () => act(text), "", { "aria-pressed": text === present }),
  );
  return h("span", { class: "choice" }, buttons);
}

/** A table of lines, each a row or the list of its cells; a text among these is a cell, too. @param {Record<string, any>} props
 * @param {{ caption?: string | null, head?: TableLine[], rows: TableLine[], foot?: TableLine[] }} parts @returns {any} */
export function table(props, { caption = null, head = [], rows, foot = [] }) {
  const cellOf = (/** @type {Node | string | number} */ cell) => (typeof cell === "object" ? cell : h("td", {}, cell)),
    lineOf = (/** @type {TableLine} */ line) => (Array.isArray(line) ? h("tr", {}, line.map(cellOf)) : line),
    group = (/** @type {string} */ tag, /** @type {TableLine[]} */ lines) =>
      lines.length > 0 && h(tag, {}, lines.map(lineOf));
  const title = caption !== null && h("caption", {}, caption);
  return h("table", props, title, group("thead", head), h("tbody", {}, rows.map(lineOf)), group("tfoot", foot));
}

/** The middle of each element along a line, in pixels from the left of `origin`. @param {any[]} elements @param {Element} origin */
export function middlesOf(elements, origin) {
  const { left } = origin.getBoundingClientRect(),
    scale = scaleOf(origin);
  return elements.map(each => {
    const at = each.getBoundingClientRect();
    return { x: (at.left - left + at.width / 2) / scale };
  });
}

/** Shows a dialog, which is in the page only while it is open. @param {any} dialog @param {Element} parent */
export function openDialog(dialog, parent) {
  if (dialog.open) return;
  parent.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", removeIfClosed); // added once, however often it is opened
}

/** The close event fires late: the dialog may be open again. @param {{ currentTarget: any }} props */
function removeIfClosed({ currentTarget: dialog }) {
  if (!dialog.open) dialog.remove();
}

let count = 0;

// A panel that a button opens over the page; Escape and a click elsewhere close it.
export function makePopover(/** @type {any} */ opener, /** @type {string} */ className, /** @type {string} */ label) {
  count += 1;
  const id = `${className.split(" ").at(-1)}-${count}`,
    panel = h("div", { class: className, id, popover: "auto", role: "group", "aria-label": label });
  opener.popoverTargetElement = panel;
  opener.setAttribute("aria-controls", id);
  opener.setAttribute("aria-expanded", "false");
  panel.addEventListener("toggle", (/** @type {ToggleEvent} */ { newState }) =>
    opener.setAttribute("aria-expanded", String(newState === "open")),
  );
  return panel;
}

/** An event listener that closes a popover and then calls act(). @param {any} panel @param {any} act */
export const closingPopover = (panel, act) => () => {
  panel.hidePopover();
  return act();
};

/** A menu: a popover beside its opener. It focuses its first item when it opens; arrow keys move between items.
 * @param {any} opener @param {string} className @param {string} label */
export function makeMenu(opener, className, label) {
  const panel = makePopover(opener, `menu ${className}`, label),
    items = () =>
      [...panel.querySelectorAll("button, summary")].filter(each => !each.disabled && each.checkVisibility());
  panel.addEventListener("beforetoggle", (/** @type {ToggleEvent} */ { newState }) => {
    const isFocused = panel.contains(panel.getRootNode().activeElement);
    if (newState === "closed") return isFocused && opener.focus({ preventScroll: true }); // Chromium doesn't, in a shadow tree
    const { left, right, top, bottom } = opener.getBoundingClientRect(),
      { clientWidth: width, clientHeight: height } = document.documentElement,
      [isLeft, isBelow] = [left + right < width, top + bottom < height];
    Object.assign(panel.style, {
      [isLeft ? "left" : "right"]: `${Math.max(isLeft ? left : width - right, 8)}px`,
      [isLeft ? "right" : "left"]: "auto",
      [isBelow ? "top" : "bottom"]: `${isBelow ? bottom + 6 : height - top + 6}px`,
      [isBelow ? "bottom" : "top"]: "auto",
      maxHeight: `${(isBelow ? height - bottom : top) - 14}px`,
    });
  });
  panel.addEventListener("toggle", (/** @type {ToggleEvent} */ { newState }) => {
    if (newState === "open") items()[0]?.focus();
  });
  rovingFocus(panel, () => items().map(each => [each]));
  return panel;
}

/** The cell that a key moves to from a cell in a grid of that size; null for other keys. @param {string} key @param {boolean} ctrl
 * @param {number[]} all @param {number[]} all @returns {number[] | null} */
export function neighbour(key, ctrl, [row, column], [rows, columns]) {
  const to = new Map([
    ["ArrowUp", [row - 1, column]],
    ["ArrowDown", [row + 1, column]],
    ["ArrowLeft", [row, column - 1]],
    ["ArrowRight", [row, column + 1]],
    ["Home", ctrl ? [0, 0] : [row, 0]],
    ["End", ctrl ? [rows - 1, columns - 1] : [row, columns - 1]],
  ]).get(key);
  return to ? [Math.min(Math.max(to[0], 0), rows - 1), Math.min(Math.max(to[1], 0), columns - 1)] : null;
}

/** `cells` is {element, size(), positionIn(event), focus(position)}; focus() returns whether a key may move there. `actions` are point(position or
 * null), pick(position) and keyMoved(position); press(position, cell) and over(position, cell) while the pointer is pressed; toggle(position),
 * which returns whether Space does something else there.
 * @param {{ element: any, size(): number[], positionIn(event: any): number[] | null, focus(position: number[]): boolean }} cells
 * @param {Record<string, (...args: any[]) => any>} actions */
export function listen(cells, actions) {
  const { element: box } = cells;
  let pointed = "";
  const point = (/** @type {number[] | null} */ position) => {
    if (String(position) === pointed) return;
    pointed = String(position);
    actions.point(position);
  };
  box.addEventListener("pointermove", (/** @type {any} */ event) => {
    point(cells.positionIn(event));
    actions.over(cells.positionIn(event), event.target);
  });
  box.addEventListener("pointerdown", (/** @type {any} */ event) => {
    // so that a finger can move on to other cells
    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
    if (event.button === 0) actions.press(cells.positionIn(event), event.target);
  });
  box.addEventListener("pointerleave", () => point(null));
  box.addEventListener("focusin", (/** @type {any} */ event) => {
    if (event.target.matches(":focus-visible")) point(cells.positionIn(event));
  });
  box.addEventListener("focusout", () => point(null));
  box.addEventListener("click", (/** @type {any} */ event) => {
    const position = cells.positionIn(event);
    if (position) actions.pick(position);
  });
  box.addEventListener("keydown", (/** @type {any} */ event) => {
    const from = cells.positionIn(event);
    if (!from) return;
    const to = neighbour(event.key, event.ctrlKey, from, cells.size());
    const isPick = event.key === "Enter" || event.key === " ";
    if (!to && !isPick) return;
    event.preventDefault();
    event.stopPropagation(); // on the page, arrow keys lead to another step
    if (to) {
      if (String(to) !== String(from) && cells.focus(to)) actions.keyMoved(to);
    } else if (event.key === " " && actions.toggle(from)) return;
    else actions.pick(from);
  });
}

/** rows() returns the current elements; keyMoved(nth) is called as a key moves to the nth of all. @param {any} box @param {() => any[][]} rows */
export function rovingFocus(box, rows, keyMoved = (/** @type {number} */ _nth) => {}) {
  box.addEventListener("focusin", (/** @type {FocusEvent} */ { target }) => {
    const all = rows().flat();
    if (all.includes(target)) setTabStop(all, target);
  });
  box.addEventListener("keydown", (/** @type {any} */ event) => {
    const now = rows(),
      row = now.findIndex(each => each.includes(event.target));
    if (row < 0) return;
    const column = now[row].indexOf(event.target),
      to = neighbour(event.key, event.ctrlKey, [row, column], [now.length, now[row].length]);
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const next = now[to[0]][to[1]] ?? now[to[0]].at(-1);
    next.focus();
    keyMoved(now.flat().indexOf(next));
  });
}

export function setTabStop(/** @type {any[]} */ all, /** @type {any} */ one) {
  for (const each of all) each.tabIndex = each === one ? 0 : -1;
}

/** Makes a box a tab stop while it holds more than it shows, so that keys can scroll it. @param {any} box */
export function makeScroller(box) {
  const follow = () => {
    const { overflowX, overflowY } = getComputedStyle(box),
      isWide = overflowX === "auto" && box.scrollWidth > box.clientWidth;
    if (isWide || (overflowY === "auto" && box.scrollHeight > box.clientHeight)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  new ResizeObserver(() => {
    follow();
    if (document.fonts.status === "loading") document.fonts.ready.then(follow); // its letters have other widths
  }).observe(box);
  return box;
}

// Listeners to one event: add(listener) returns a function that removes it, call() calls all.
export function makeListeners() {
  const listeners = new Set();
  return {
    add(/** @type {(...args: any[]) => void} */ listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call(/** @type {any[]} */ ...args) {
      for (const listener of listeners) listener(...args);
    },
  };
}

/** Calls before() when the page is printed, on `paper` (an @page rule, which has no effect in a shadow tree) where that returns true, and
 * after() afterwards. Returns a function that ends this. @param {typeof globalThis} window @param {string} paper @param {() => boolean} before
 * @param {() => void} after */
export function onPrint(window, paper, before, after) {
  const { document } = window,
    sheet = new window.CSSStyleSheet();
  sheet.replaceSync(paper);
  const begin = () => {
    if (before()) document.adoptedStyleSheets.push(sheet);
  };
  const finish = () => {
    after();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(each => each !== sheet);
  };
  window.addEventListener("beforeprint", begin);
  window.addEventListener("afterprint", finish);
  return () => {
    window.removeEventListener("beforeprint", begin);
    window.removeEventListener("afterprint", finish);
    finish();
  };
}

/** Returns a function that shows a text in a line for some time. @param {Element} line @param {number} ms @returns {(text: string) => void} */
export function makeFlash(line, ms) {
  let timer = 0;
  return text => {
    line.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => line.replaceChildren(), ms);
  };
}

const waiting = /** @type {(() => void)[]} */ ([]);
let isComing = false; // the time for the first of them

/** Runs act() after the frame after the next, as browsers paint a frame on other threads. Calls run in order, each in a task of its own, so that
 * frames can come in between. @param {() => void} act */
export function afterFrame(act) {
  waiting.push(act);
  if (!isComing) requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(doNext)));
  isComing = true;
}

function doNext() {
  const act = waiting.shift();
  isComing = waiting.length > 0;
  if (isComing) setTimeout(doNext);
  act?.();
}

/** Calls act() in the next frame, once, with the last arguments. @param {(...args: any[]) => void} act @returns {(...args: any[]) => void} */
export function oncePerFrame(act) {
  let last = /** @type {any[] | null} */ (null);
  return (...args) => {
    if (!last)
      requestAnimationFrame(() => {
        const now = last ?? [];
        last = null;
        act(...now);
      });
    last = args;
  };
}

// Calls act() once soon() has not been called for `ms`. now() runs a pending call at once, drop() cancels it.
export function onceSettled(/** @type {() => void} */ act, /** @type {number} */ ms) {
  let timer = 0;
  const drop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  return {
    soon() {
      drop();
      timer = setTimeout(() => {
        drop();
        act();
      }, ms);
    },
    now() {
      if (!timer) return;
      drop();
      act();
    },
    drop,
  };
}

// Memoizes make(data, ...more) by `data` (as JSON), for its last `most` values; forget() clears it. `more` is passed on but not compared.
export function memoLast(/** @type {(data: any, ...more: any[]) => any} */ make, most = 1) {
  const known = new Map();
  const now = (/** @type {any} */ data, /** @type {any[]} */ ...more) => {
    const key = JSON.stringify(data);
    if (!known.has(key)) {
      if (known.size === most) known.delete(known.keys().next().value);
      known.set(key, undefined);
      known.set(key, make(data, ...more));
    }
    return known.get(key);
  };
  return Object.assign(now, { forget: () => known.clear() });
}
