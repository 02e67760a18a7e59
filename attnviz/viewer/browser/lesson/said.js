// Sentences of a lesson, as elements: a number of the pass in it leads to its cell in the picture.
import { button } from "../elements/button.js";
import { element } from "../elements/element.js";
import { drawRuns } from "../elements/runs.js";

// `numbers` is {point(link), open(link)}: what pointing at a number and pressing it do; point(null) as that ends.
export function drawSaid(runs, numbers, tag = "p", className = "") {
  const line = element(tag, className);
  line.append(
    ...runs.flatMap(([style, text]) => (style === "number" ? [drawNumber(text, numbers)] : drawRuns([[style, text]]))),
  );
  for (const each of line.querySelectorAll(".number, math")) keepWhole(each);
  return line;
}

// A bracket or a root before a number or a symbol, what it is equal to, and what ends a phrase after it, stay in its line.
function keepWhole(number) {
  const whole = element("span", "unbroken"),
    [before, after] = [number.previousSibling, number.nextSibling].map(each =>
      each?.matches("span:not([class])") ? each.firstChild : null,
    ),
    [opens] = before?.data.match(/[^\s\w]*$/) ?? [""],
    [closes] = after?.data.match(/^(?:\s=\s\d+)?[^\s\w]*/) ?? [""];
  if (!opens && !closes) return;
  if (before) before.data = before.data.slice(0, before.length - opens.length);
  if (after) after.data = after.data.slice(closes.length);
  number.replaceWith(whole);
  whole.append(opens, number, closes);
}

function drawNumber(link, numbers) {
  const made = button(link.text, () => numbers.open(link), "link number");
  made.onpointerenter = made.onfocus = () => numbers.point(link);
  made.onpointerleave = made.onblur = () => numbers.point(null);
  return made;
}
