// Bars: one row of numbers as bars over the keys, for each way that a step shows it: scores, exponentials, shares.
import { short } from "../model/numeral.js";
import { stepAt } from "../model/state.js";
import { css, overPage } from "../dom/colour.js";
import { element, write } from "../dom/element.js";
import { whenOther } from "../dom/timing.js";

export const FAINT = 0.65; // how strong a bar is that can still be seen beside the page
const MAX_TITLED_BARS = 8; // bars that have room for what they say

export function makeBars(tools) {
  const box = element("section", "bars");
  const makeRows = whenOther(titles => {
    const rows = titles.map(row => makeRow(row, tools));
    box.replaceChildren(...rows.map(row => row.element));
    return rows;
  });
  return {
    element: box,
    update(pass, where, look) {
      const { bars } = stepAt(pass, where);
      box.hidden = !bars.length;
      const shown = bars.map(bar => readRow(bar, pass, where));
      makeRows(shown.map(({ title, values: { length } }) => ({ title, length }))).forEach((row, position) => {
        row.update(shown[position], pass, look);
      });
    },
  };
}

function readRow([name, array], pass, where) {
  const index = pass.indexAt(name, where.cell);
  return {
    name,
    index,
    title: array ? "exp(score − max)" : pass.stages.get(name).title,
    values: [...(array ? pass.named(name, array, index) : pass.row(name, index))],
  };
}

function makeRow({ title, length }, tools) {
  const row = element("div", "bar-row"),
    inner = element("div", "columns-of");
  const columns = Array.from({ length }, () => makeColumn(tools));
  inner.append(...columns.map(column => column.element));
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", title);
  row.append(element("span", "of", title), inner);
  return {
    element: row,
    update({ name, index, values }, pass, look) {
      const finite = values.filter(Number.isFinite),
        { labels } = pass.stages.get(name).axes.at(-1);
      const high = Math.max(0, ...finite),
        low = Math.min(0, ...finite),
        range = high - low || 1;
      const line = { name, low, range, isNamed: length <= MAX_TITLED_BARS, selected: index.at(-1) };
      columns.forEach((column, place) => {
        column.update(
          { place, value: values[place], label: labels[place], index: [...index.slice(0, -1), place] },
          line,
          look,
        );
      });
    },
  };
}

function makeColumn({ pick, point }) {
  const column = element("button"),
    bar = element("span", "bar"),
    zero = element("span", "zero");
  const number = element("span", "number"),
    key = element("span", "key");
  let cell = null;
  column.type = "button";
  column.tabIndex = -1;
  column.append(bar, zero, number, key);
  column.onclick = () => pick(cell.name, cell.index);
  column.onpointerenter = () => point(cell.name, cell.index);
  column.onpointerleave = () => point(cell.name, null);
  return {
    element: column,
    update({ place, value, label, index }, { name, low, range, isNamed, selected }, { shown, colours }) {
      const isShown = shown(name, index),
        isThere = isShown && Number.isFinite(value);
      cell = { name, index };
      column.className = place === selected ? "lit" : "";
      column.title = isShown ? `${label}: ${Number.isFinite(value) ? short(value) : "hidden"}` : "";
      column.ariaHidden = !isShown;
      bar.hidden = !isThere;
      Object.assign(bar.style, {
        height: `${isThere ? (100 * Math.abs(value)) / range : 0}%`,
        bottom: `${(100 * (Math.min(value, 0) - low)) / range || 0}%`,
        background: css(overPage(colours.share, colours.page, place === selected ? 0.92 : FAINT)),
      });
      zero.style.bottom = `${(-100 * low) / range}%`;
      write(number, isThere && isNamed ? short(value) : "");
      write(key, isNamed ? label : "");
    },
  };
}
