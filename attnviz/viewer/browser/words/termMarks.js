// Marks: where terms of the glossary first stand in some boxes. Others may mark other boxes in the same way.
import { element } from "../elements/element.js";

const APART = "button, a, input, select, textarea, math, svg, pre, code, .word, [hidden], [aria-hidden=true]"; // texts that aren't ours, or have an act

// Marks each term once, where it stands first; marks that are no longer the first go. `terms` are {id, pattern}.
export function markTerms(boxes, terms) {
  const finder = finderOf(terms),
    seen = new Set();
  for (const box of boxes) for (const text of textsIn(box)) markIn(text, finder, seen);
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

function markIn(text, { find, ids }, seen) {
  const mark = text.parentElement.closest("dfn.term");
  if (mark) {
    if (seen.has(mark.dataset.term)) mark.replaceWith(...mark.childNodes);
    seen.add(mark.dataset.term);
    return;
  }
  const pieces = [];
  let end = 0;
  for (const match of text.data.matchAll(find)) {
    const id = ids[match.slice(1).findIndex(each => each !== undefined)];
    if (seen.has(id)) continue;
    seen.add(id);
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
