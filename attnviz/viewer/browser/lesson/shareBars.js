// Share bars: the shares of one row as bars, with their per cent; what is hidden is hatched.
import { element } from "../elements/element.js";
import { percent } from "../pass/numeral.js";

// A picture of such bars has no numbers of a pass to point at.
export const WITHOUT_PASS = { point: () => {}, open: () => {}, selected: () => null, leave: () => {} };

// `bars` are {label, share, isHidden}; a share of null is no number. `foot` is what they add up to, in words.
export function drawShareBars(title, bars, foot = "") {
  const figure = element("figure", "share-bars"),
    list = element("ol");
  figure.append(element("figcaption", "", title), list);
  for (const { label, share, isHidden } of bars) {
    const line = element("li", isHidden ? "hidden" : ""),
      rail = element("span", "rail"),
      bar = element("span", "bar");
    bar.style.width = `${100 * Math.min(share ?? 0, 1)}%`;
    rail.append(bar);
    line.append(
      element("span", "label", label),
      rail,
      element("span", "number", share === null ? "NaN" : percent(share)),
    );
    list.append(line);
  }
  if (foot) figure.append(element("p", "sum", foot));
  return figure;
}
