// Terms of the glossary, marked in a text and explained on request.
import { TERMS } from "../../generated/glossaryTerms.js";
import { afterFrame, h, rovingFocus, setTabStop } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";

// Texts that a visitor may have typed, or that do something.
const UNMARKED = "button, a, input, select, textarea, math, svg, pre, code, .word, [hidden], [aria-hidden=true]";

// Marks each term once, where it stands first; marks that are no longer the first go. `terms` are {id, pattern}.
function markTerms(boxes, terms) {
  const finder = finderOf(terms),
    marked = new Set();
  for (const box of boxes) for (const text of textsIn(box)) markIn(text, finder, marked);
}

const finders = new WeakMap(); // terms -> {find, ids}

function finderOf(terms) {
  if (!finders.has(terms)) {
    const find = new RegExp(terms.map(({ pattern }) => `(${pattern})`).join("|"), "giu");
    finders.set(terms, { find, ids: terms.map(({ id }) => id) });
  }
  return finders.get(terms);
}

function textsIn(box) {
  const { FILTER_REJECT, FILTER_SKIP, FILTER_ACCEPT, SHOW_ELEMENT, SHOW_TEXT } = NodeFilter;
  const walker = document.createTreeWalker(box, SHOW_ELEMENT | SHOW_TEXT, node => {
    if (node.nodeType !== Node.ELEMENT_NODE) return FILTER_ACCEPT;
    return /** @type {Element} */ (node).matches(UNMARKED) ? FILTER_REJECT : FILTER_SKIP;
  });
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function markIn(text, { find, ids }, marked) {
  const mark = text.parentElement.closest("dfn.term");
  if (mark) {
    if (marked.has(mark.dataset.term)) mark.replaceWith(...mark.childNodes);
    marked.add(mark.dataset.term);
    return;
  }
  const pieces = [];
  let end = 0;
  for (const match of text.data.matchAll(find)) {
    const id = ids[match.slice(1).findIndex(each => each !== undefined)];
    if (marked.has(id)) continue;
    marked.add(id);
    const mark = h("dfn", { class: "term", tabIndex: -1, "data-term": id }, match[0]);
    pieces.push(text.data.slice(end, match.index), mark);
    end = match.index + match[0].length;
  }
  if (pieces.length) text.replaceWith(...pieces, text.data.slice(end));
}

const BOXES =
  ".step-text > p, .all-heads > .told, .sheet .said > p, .hand p, .panel > .said, .panel > .habit, .measures, .panel > h3";
const NEVER_HIDDEN = "td.focus, [role=gridcell].focus, .stop[aria-expanded=true], .panel > h3"; // the number that a text explains
const REST_MS = 200; // from where the mouse leaves a term until its sentence goes, so that one may point at that

// The terms of a text, and the numbers that it links to, are one Tab stop; arrow keys lead from one to the next.
const TEXTS = ".step-text, .training, .hand, .said, .panel, .lesson-said, .viewer";
const STOPS = "dfn.term, .panel > .said .link";
const textOf = stop => stop.closest(TEXTS);

function stopsBeside(stop) {
  const text = stop?.matches(STOPS) && textOf(stop);
  return text ? [...text.querySelectorAll(STOPS)].filter(each => textOf(each) === text) : [];
}

function keepOneStop(stops) {
  for (const all of Map.groupBy(stops, textOf).values()) {
    const visible = all.filter(each => each.checkVisibility()),
      first = visible.find(each => each === each.getRootNode().activeElement) ?? visible[0];
    setTabStop(all, first);
  }
}

// `boxes` are a selector of the texts at `root` in which terms are marked.
export function makeGlossary(root, boxes = BOXES) {
  const tip = h("p", { class: "glossary", id: "glossary", role: "tooltip", hidden: true });
  let context = null, // {pass, cell, tellsNumbers}
    open = null,
    isQuiet = true, // in a talk nothing is pointed at
    isToMark = false,
    timer = null;
  const show = mark => {
    clearTimeout(timer);
    if (open === mark) return;
    close();
    const term = TERMS.find(({ id }) => id === mark.dataset.term);
    tip.replaceChildren(...drawRuns(runsOf(/** @type {typeof TERMS[number]} */ (term), context)));
    open = mark;
    mark.setAttribute("aria-describedby", tip.id);
    tip.hidden = false;
    position(tip, mark, root);
  };
  const close = () => {
    clearTimeout(timer);
    open?.removeAttribute("aria-describedby");
    open = null;
    tip.hidden = true;
  };
  const closeSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(close, REST_MS);
  };
  const marked = ({ target }) => target.closest?.("dfn.term");
  root.addEventListener("pointerover", event => {
    if (event.pointerType === "touch") return;
    if (marked(event)) show(marked(event));
    else if (tip.contains(event.target)) clearTimeout(timer);
    else if (open && open !== open.getRootNode().activeElement) closeSoon();
  });
  root.addEventListener("pointerleave", ({ pointerType }) => open && pointerType === "mouse" && closeSoon()); // a finger that is lifted leaves, too
  root.addEventListener("focusin", event => (marked(event) ? show(marked(event)) : close()));
  root.addEventListener("focusout", event => marked(event) && closeSoon());
  root.addEventListener("pointerdown", event => {
    if (marked(event))
      show(marked(event)); // touching what is no control gives it no focus
    else if (!tip.contains(event.target)) close();
  });
  root.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault(); // the talk, or whatever else it would leave, goes on
    close();
  });
  rovingFocus(root, () => [stopsBeside(root.getRootNode().activeElement)]);
  const mark = () => {
    isToMark = false;
    if (isQuiet) return;
    const visible = [...root.querySelectorAll(boxes)].filter(box => box.checkVisibility());
    markTerms(visible, TERMS);
    keepOneStop(root.querySelectorAll(STOPS));
    observer.takeRecords(); // of its own marks
    if (open && !open.isConnected) close();
  };
  const markSoon = () => {
    if (!isToMark) afterFrame(mark); // to ask what is visible costs a layout
    isToMark = true;
  };
  const observer = new MutationObserver(markSoon); // a sheet is drawn again where its box has another size
  observer.observe(root, { childList: true, characterData: true, subtree: true });
  return {
    element: tip,
    // Numbers that would give an answer away aren't told.
    update(pass, { cell, present }, { tellsNumbers = true } = {}) {
      context = { pass, cell, tellsNumbers };
      isQuiet = present;
      if (isQuiet) close();
      markSoon();
    },
    end: () => observer.disconnect(),
  };
}

// A term's sentence, and its number in the last layer of a pass.
export function runsOf({ id, says, here }, { pass, cell, tellsNumbers }) {
  const { layers, words, measured } = pass.document,
    sentence = ["", says.replace("{unit}", words.unit)];
  if (!tellsNumbers) return [sentence];
  const { attention } = layers.at(-1),
    ofLayer = attention.slice("attention".length);
  const renamed = text =>
    text.replace(/\{(\w+)/g, (slot, name) => (pass.stages.has(name + ofLayer) ? slot + ofLayer : slot));
  const stories = [here].flat().filter(Boolean),
    filled = { of: attention, stories: stories.map(text => ["", renamed(text)]) },
    example = stories.length ? pass.selectionStory(filled, cell) : [];
  return [
    sentence,
    ...(example.length ? [["", " "], ...example.map(({ style, text }) => [style ?? "", text])] : []),
    ["", measured[id] ? ` ${measured[id]}` : ""],
  ];
}

// Below the term or above it, wherever it hides less of what is to be seen: never the number in focus.
function position(tip, mark, root) {
  Object.assign(tip.style, { left: "0px", top: "0px" });
  const at = mark.getBoundingClientRect(),
    { width, height, left: zero, top: zeroTop } = tip.getBoundingClientRect(), // where 0 is: some frames move it
    { clientWidth, clientHeight } = document.documentElement,
    left = Math.max(4, Math.min(at.left, clientWidth - width - 4)),
    below = at.bottom + 4,
    visible = [...root.querySelectorAll(NEVER_HIDDEN)].map(each => each.getBoundingClientRect());
  const fits = top => top >= 0 && top + height <= clientHeight,
    hides = top =>
      visible.some(box => box.left < left + width && box.right > left && box.top < top + height && box.bottom > top);
  const tops = [below, at.top - 4 - height].filter(fits),
    top = tops.find(each => !hides(each)) ?? tops[0] ?? below;
  Object.assign(tip.style, { left: `${left - zero}px`, top: `${top - zeroTop}px` });
}
