// Distance: how far apart two passes are at each step of the map, and where they part.
import { element } from "../elements/element.js";

const LEAST = 0.08; // of the bar, so that one number of many is seen

// Shows it on the buttons of the steps, which are those of `columns`.
export function showDistances(buttons, columns, { other }) {
  let isParted = false;
  buttons.forEach((button, nth) => {
    button.querySelector(".distance")?.remove();
    if (!other) return;
    const bar = element("span", "distance"),
      stages = columns[nth].stages.map(name => other.stages[name]); // without stages it keeps the titles in one line
    button.append(bar);
    if (!stages.length) return;
    const shares = stages.map(shareOf),
      share = Math.max(...shares);
    bar.classList.toggle("first", share > 0 && !isParted);
    isParted ||= share > 0;
    bar.style.setProperty("--share", share && LEAST + (1 - LEAST) * share);
    bar.append(element("span", "bar"), element("span", "text", share ? "≠" : "="));
    bar.title = stages[shares.indexOf(share)].text;
  });
}

// The part of a stage that differs: all of it where it has no numbers to compare.
function shareOf({ matched, other, of }) {
  return matched ? other / of : 1;
}
