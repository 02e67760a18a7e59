// Bars: one row of numbers as bars over the keys, for each way that a step shows it: scores, exponentials, shares.
import { css, overPage } from "./colour.js";
import { element } from "./element.js";
import { short } from "./numeral.js";
import { stepAt } from "./state.js";

export const FAINT = 0.65; // how strong a bar is that can still be seen beside the page
const FEW = 8; // bars that have room for what they say

export function makeBars(tools) {
  const box = element("section", "bars");
  return {
    element: box,
    update(pass, where, look) {
      const { bars } = stepAt(pass, where);
      box.hidden = !bars.length;
      box.replaceChildren(...bars.map((bar) => drawRow(bar, pass, where, look, tools)));
    },
  };
}

function drawRow([name, array], pass, where, look, tools) {
  const index = pass.indexAt(name, where.cell), selected = index.at(-1);
  const values = [...(array ? pass.named(name, array, index) : pass.row(name, index))];
  const { labels } = pass.stages.get(name).axes.at(-1);
  const finite = values.filter(Number.isFinite);
  const high = Math.max(0, ...finite), low = Math.min(0, ...finite), range = high - low || 1;
  const row = element("div", "bar-row"), columns = element("div", "columns-of");
  columns.append(...values.map((value, place) => {
    const at = [...index.slice(0, -1), place];
    const isThere = look.shown(name, at) && Number.isFinite(value);
    const column = element("button", place === selected ? "lit" : "");
    column.type = "button";
    column.tabIndex = -1;
    column.title = `${labels[place]}: ${Number.isFinite(value) ? short(value) : "hidden"}`;
    const bar = element("span", "bar");
    const size = isThere ? Math.abs(value) / range : 0;
    Object.assign(bar.style, {
      height: `${100 * size}%`,
      bottom: `${(100 * (Math.min(value, 0) - low)) / range || 0}%`,
      background: css(overPage(look.colours.share, look.colours.page, place === selected ? 0.92 : FAINT)),
    });
    bar.hidden = !isThere;
    const zero = element("span", "zero");
    zero.style.bottom = `${(-100 * low) / range}%`;
    const isNamed = values.length <= FEW;
    column.append(bar, zero, element("span", "number", isThere && isNamed ? short(value) : ""), element("span", "key", isNamed ? labels[place] : ""));
    column.onclick = () => tools.pick(name, at);
    column.onpointerenter = () => tools.point(name, at);
    column.onpointerleave = () => tools.point(name, null);
    return column;
  }));
  const title = array ? "exp(score − max)" : pass.stages.get(name).title;
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", title);
  row.append(element("span", "of", title), columns);
  return row;
}
