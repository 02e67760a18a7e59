// Terms of the glossary, marked in a text and explained on request.
import { TERMS } from "../../generated/glossaryTerms.js";
import { element, h } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";
import { afterFrame } from "../dom/timing.js";

const APART = "button, a, input, select, textarea, math, svg, pre, code, .word, [hidden], [aria-hidden=true]"; // texts that aren't ours, or have an act

// Marks each term once, where it stands first; marks that are no longer the first go. `terms` are {id, pattern}.
function markTerms(boxes, terms) {
  const finder = finderOf(terms),
    marked = new Set();
  for (const box of boxes) for (const text of textsIn(box)) markIn(text, finder, marked);
}

const finders = new WeakMap(); // terms -> {find, ids}

function finderOf(terms) {
  if (!finders.has(terms))
    finders.set(terms, {
      find: new RegExp(terms.map(({ pattern }) => `(${pattern})`).join("|"), "giu"),
      ids: terms.map(({ id }) => id),
    });
  return finders.get(terms);
}

function textsIn(box) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, node =>
    node.nodeType === Node.ELEMENT_NODE
      ? /** @type {Element} */ (node).matches(APART)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_SKIP
      : NodeFilter.FILTER_ACCEPT,
  );
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
    pieces.push(text.data.slice(end, match.index), drawMark(id, match[0]));
    end = match.index + match[0].length;
  }
  if (pieces.length) text.replaceWith(...pieces, text.data.slice(end));
}

function drawMark(id, text) {
  const mark = element("dfn", "term", text);
  mark.dataset.term = id;
  mark.tabIndex = 0;
  return mark;
}

const BOXES = ".step-text > p, .sheet .said > p, .hand p, .panel > .said, .panel > .habit, .training, .panel > h3";
const KEPT_CLEAR = "td.focus, [role=gridcell].focus, .stop[aria-expanded=true], .panel > h3"; // the number that a text explains
const REST_MS = 200; // from where the mouse leaves a term until its sentence goes, so that one may point at that

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
    tip.replaceChildren(...drawRuns(runsOf(term, context)));
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
      show(marked(event)); // a finger gives no focus to what is no control
    else if (!tip.contains(event.target)) close();
  });
  root.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault(); // the talk, or whatever else it would leave, goes on
    close();
  });
  const mark = () => {
    isToMark = false;
    if (isQuiet) return;
    markTerms(
      [...root.querySelectorAll(boxes)].filter(box => box.checkVisibility()),
      TERMS,
    );
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
  if (!tellsNumbers) return [["", says.replace("{unit}", pass.document.words.unit)]];
  const { layers, words, measured } = pass.document,
    { attention } = layers.at(-1),
    ofLayer = attention.slice("attention".length);
  const renamed = text =>
    text.replace(/\{(\w+)/g, (slot, name) => (pass.stages.has(name + ofLayer) ? slot + ofLayer : slot));
  const stories = [here]
    .flat()
    .filter(Boolean)
    .map(text => ["", renamed(text)]);
  const example = stories.length ? pass.selectionStory({ of: attention, stories }, cell) : [];
  return [
    ["", says.replace("{unit}", words.unit)],
    ...(example.length ? [["", " "], ...example.map(({ style, text }) => [style ?? "", text])] : []),
    ["", measured[id] ? ` ${measured[id]}` : ""],
  ];
}

// Below the term or above it, wherever it hides less of what is to be seen: never the number in focus.
function position(tip, mark, root) {
  Object.assign(tip.style, { left: "0px", top: "0px" });
  const at = mark.getBoundingClientRect(),
    box = tip.getBoundingClientRect(),
    frame = document.documentElement,
    clear = [...root.querySelectorAll(KEPT_CLEAR)].map(each => each.getBoundingClientRect());
  const left = Math.max(4, Math.min(at.left, frame.clientWidth - box.width - 4)),
    below = at.bottom + 4,
    above = at.top - 4 - box.height;
  const fits = top => top >= 0 && top + box.height <= frame.clientHeight,
    hides = top =>
      clear.some(
        each => each.left < left + box.width && each.right > left && each.top < top + box.height && each.bottom > top,
      );
  const tops = [below, above].filter(fits);
  const top = tops.find(each => !hides(each)) ?? tops[0] ?? below;
  Object.assign(tip.style, { left: `${left - box.left}px`, top: `${top - box.top}px` }); // from where 0 is: some frames move it
}
