// Bars: one row of numbers as bars over the keys, for each way that a step shows it: scores, exponentials, attention weights.
import { short } from "../model/numeral.js";
import { stepAt } from "../model/state.js";
import { hueOf } from "../dom/colour.js";
import { button, h, memoLast, write } from "../dom/element.js";

const MAX_LABELLED_BARS = 8; // bars that have space for their label and number

/** @returns {View} */
export function makeBars(tools) {
  const box = h("section", { class: "bars" });
  const makeRows = memoLast(titles => {
    const rows = titles.map(row => makeRow(row, tools));
    box.replaceChildren(...rows.map(row => row.element));
    return rows;
  });
  return {
    element: box,
    update(pass, where, look) {
      const { bars } = stepAt(pass, where);
      box.hidden = !bars.length;
      const shown = bars.map(([name, array]) => {
        const index = pass.indexAt(name, where.cell);
        return {
          name,
          index,
          scale: array ? "share" : pass.stages.get(name).scale,
          title: array ? "exp(score − max)" : pass.stages.get(name).title,
          values: [...(array ? pass.named(name, array, index) : pass.row(name, index))],
        };
      });
      const rows = makeRows(shown.map(({ title, values: { length } }) => ({ title, length })));
      for (const [nth, row] of rows.entries()) row.update(shown[nth], pass, look);
    },
  };
}

function makeRow({ title, length }, tools) {
  const columns = Array.from({ length }, () => makeColumn(tools)),
    inner = h("div", { class: "columns-of" }, ...columns.map(column => column.element)),
    name = h("span", { class: "of" }, title);
  return {
    element: h("div", { class: "bar-row", role: "group", "aria-label": title }, name, inner),
    update({ name, index, values, scale }, pass, look) {
      const finite = values.filter(Number.isFinite),
        { labels } = pass.stages.get(name).axes.at(-1),
        low = Math.min(0, ...finite),
        range = Math.max(0, ...finite) - low || 1;
      const line = { name, scale, low, range, isLabelled: length <= MAX_LABELLED_BARS, look };
      for (const [nth, column] of columns.entries()) {
        const cell = [...index.slice(0, -1), nth];
        column.update({ value: values[nth], label: labels[nth], index: cell, isLit: nth === index.at(-1) }, line);
      }
    },
  };
}

function makeColumn({ pick, point }) {
  const [bar, zero, number, key] = ["bar", "zero", "number", "key"].map(name => h("span", { class: name })),
    column = button("", () => pick(cell.name, cell.index), "", { tabIndex: -1 });
  let cell;
  column.append(bar, zero, number, key);
  column.onpointerenter = () => point(cell.name, cell.index);
  column.onpointerleave = () => point(cell.name, null);
  return {
    element: column,
    update({ value, label, index, isLit }, { name, scale, low, range, isLabelled, look: { shown } }) {
      const isShown = shown(name, index),
        hasValue = Number.isFinite(value),
        hasBar = isShown && hasValue;
      cell = { name, index };
      column.className = isLit ? "lit" : "";
      column.title = isShown ? `${label}: ${hasValue ? short(value) : "hidden"}` : "";
      column.ariaHidden = !isShown;
      bar.hidden = !hasBar;
      bar.className = `bar ${hueOf(value, scale)}`;
      Object.assign(bar.style, {
        height: `${hasBar ? (100 * Math.abs(value)) / range : 0}%`,
        bottom: `${(100 * (Math.min(value, 0) - low)) / range || 0}%`,
      });
      zero.style.bottom = `${(-100 * low) / range}%`;
      write(number, hasBar && isLabelled ? short(value) : "");
      write(key, isLabelled ? label : "");
    },
  };
}
