// A sentence of a lesson: styled runs, in which a number links to its cell.
import { button, h } from "../dom/element.js";
import { drawRuns } from "../dom/runs.js";

export const plainText = runs => runs.map(([, text]) => text.text ?? text).join("");

/** Runs with the numbers as texts, for a heading. */
export const unlinked = runs => runs.map(([style, text]) => [style === "number" ? "" : style, text.text ?? text]);

// `numbers` is {point(link), open(link)}: what pointing at a number and pressing it do; point(null) as that ends.
export function drawSentence(runs, numbers, tag = "p", className = "") {
  const draw = ([style, text]) => (style === "number" ? [drawNumber(text, numbers)] : drawRuns([[style, text]])),
    line = h(tag, { class: className }, runs.flatMap(draw));
  for (const each of line.querySelectorAll(".number, math")) keepTogether(each);
  return line;
}

// A bracket or a root before a number or a symbol, what it is equal to, and what ends a phrase after it, stay in its line.
function keepTogether(number) {
  const textOf = each => (each?.matches("span:not([class])") ? each.firstChild : null),
    [before, after] = [textOf(number.previousSibling), textOf(number.nextSibling)],
    [opens] = before?.data.match(/[^\s\w]*$/) ?? [""],
    [closes] = after?.data.match(/^(?:\s=\s\d+)?[^\s\w]*/) ?? [""];
  if (!opens && !closes) return;
  if (before) before.data = before.data.slice(0, before.length - opens.length);
  if (after) after.data = after.data.slice(closes.length);
  const unbroken = h("span", { class: "unbroken" });
  number.replaceWith(unbroken);
  unbroken.append(opens, number, closes);
}

function drawNumber(link, numbers) {
  const made = button(link.text, () => numbers.open(link), "link number");
  made.onpointerenter = made.onfocus = () => numbers.point(link);
  made.onpointerleave = made.onblur = () => numbers.point(null);
  return made;
}

export const INERT = { point: () => {}, open: () => {} };
