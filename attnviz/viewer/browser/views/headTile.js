// One head among all: its name, the heatmap of its attention weights, and its statistics.
import { percent } from "../model/numeral.js";
import { STATISTICS, habitOf } from "../model/headStatistics.js";
import { h, redraw, write } from "../dom/element.js";
import { makeMatrix } from "./matrix.js";
import { marksOf } from "./matrixGrid.js";

// {element, name, head, buttons, update(content, drawing), mark(shown, cell, how)} of one head.
export function makeTile({ name, head, sizes, isDrawn }, actions, { choose, open, isQuiet }) {
  const label = h("span"),
    heading = h(
      "button",
      { type: "button", class: "name", onclick: choose },
      label,
      !isQuiet && h("span", { class: "larger", "aria-hidden": "true" }, "⤢"),
    ),
    kind = h("span", { class: "kind" }),
    matrices = sizes.map(size => makeMatrix(size, actions, isDrawn)),
    maps = matrices.map(({ element }) => h("div", { class: "map-of" }, h("strong", { class: "side" }), element)),
    numbers = Object.keys(STATISTICS).map(statistic => {
      const at = h("button", { type: "button", class: "statistic", onclick: () => open(statistic, at) });
      return at;
    });
  const statistics = h("div", { class: "statistics" }, numbers),
    body = h("div", { class: "body" }, h("div", { class: "maps" }, maps), !isQuiet && statistics),
    element = h("div", { class: "tile", role: "group" }, h("div", { class: "head" }, h("h3", {}, heading), kind), body);
  let slices = /** @type {any[]} */ ([]),
    isChosen = false;
  return {
    element,
    name,
    head,
    buttons: isQuiet ? [heading] : [heading, ...numbers],
    update(content, { layout, paintOf, isOfTwo, isOfRow }) {
      slices = content.slices;
      const { cell, rowLabel, columnLabel, upright, every, font, written } = layout,
        habit = content.isShown && !isQuiet ? habitOf(content.statistics) : null,
        offer = isQuiet ? "Choose" : "Enlarge";
      element.setAttribute("aria-label", isQuiet ? nameOf(content) : sentenceOn(content, habit));
      write(label, isOfRow ? nameOf(content) : content.label);
      heading.classList.toggle("of-title", isOfRow && content.isTitled);
      heading.title = offer;
      heading.setAttribute("aria-label", `${offer} ${nameOf(content)}`);
      write(kind, [content.isMuted && "muted", habit && seenAs(habit)].filter(Boolean).join(", "));
      for (const [nth, matrix] of matrices.entries()) {
        const slice = slices[nth],
          paint = paintOf(slice),
          [rows, columns] = slice.size,
          look = content.isThere ? paint.look : { ...paint.look, reveal: "to come", shown: () => false },
          geometry = {
            x: rowLabel,
            y: columnLabel,
            captionWidth: 0,
            cell: [cell, cell],
            font,
            label: layout.label,
            bands: 0,
            written,
          };
        maps[nth].style.width = `${rowLabel + columns * cell}px`;
        maps[nth].style.height = `${columnLabel + rows * cell}px`;
        write(maps[nth].firstChild, slice.side ?? "");
        matrix.update(
          slice,
          { ...geometry, labels: [rowLabel, columnLabel], upright, all: [true, true], every },
          { ...paint, look, family: layout.family },
        );
      }
      for (const [nth, id] of Object.keys(STATISTICS).entries()) {
        const now = content.statistics.find(each => each.name === id),
          then = content.statisticsOfA?.find(each => each.name === id),
          at = numbers[nth];
        at.hidden = !now;
        if (!now) continue;
        at.disabled = now.value === null;
        at.classList.toggle("most", habit?.name === id);
        redraw(at, [
          h("span", {}, STATISTICS[id].short),
          h(
            "span",
            { class: "value" },
            isOfTwo && then ? `${shareText(then.value)} → ${shareText(now.value)}` : shareText(now.value),
          ),
        ]);
      }
    },
    // Marks a cell, its row and column in every head, and the cells that an open statistic is the mean of.
    mark({ pass, where, look }, cell, opened) {
      for (const [nth, slice] of slices.entries()) {
        const isOfA = slice.side === "A",
          indexInB = pass.indexOfSame(cell.name, cell.index, name),
          index = isOfA ? indexInB && look.pair.toA(name, indexInB) : indexInB,
          isHere = cell.name === name && cell.index[0] === head,
          isIn = index && index[1] < slice.size[0] && index[2] < slice.size[1],
          sources = opened && opened.name === name && opened.head === head && !isOfA ? opened.cells : [],
          marks = isIn ? marksOf(slice, { name, index: index.with(0, head) }, sources, []) : [],
          stop = isOfA || !isChosen ? null : slice.positionOf(pass.indexAt(name, { ...where.cell, head }));
        matrices[nth].mark(isHere ? marks : marks.filter(({ kind }) => kind !== "focus"), stop);
      }
    },
    holds: each => matrices.some(matrix => matrix.element.contains(each)),
    // Only the cells of the head that is chosen are a Tab stop. What had the keyboard in another goes there.
    choose(is) {
      isChosen = is;
      element.classList.toggle("chosen", isChosen);
      if (isChosen) return;
      for (const each of element.querySelectorAll('[role="gridcell"][tabindex="0"]')) each.tabIndex = -1;
    },
  };
}

const seenAs = ({ name }) => (name === "spread" ? "almost evenly" : `mostly ${STATISTICS[name].short}`);

// In as little room as there is below a head.
const shareText = value => (value === null ? "–" : percent(value).replace("under ", "<").replace("over ", ">"));

// With its layer where there are several; the only head of a layer that has a name goes by that.
export const nameOf = ({ label, layer, isAlone }) => (isAlone ? layer : layer ? `${layer}, ${label}` : label);

function sentenceOn(content, habit) {
  const { isThere, isSent, isMuted, statistics } = content,
    label = nameOf(content);
  if (!isThere) return `${label}: still to come`;
  if (!isSent) return `${label}: not loaded yet`;
  const does = habit ? `looks ${STATISTICS[habit.name].kind}, ${percent(habit.value)}` : "looks mostly at no one place",
    rest = statistics.map(({ name, value }) => `${STATISTICS[name].name} ${shareText(value)}`).join(", ");
  return `${label}${isMuted ? ", muted" : ""}: ${does} (${rest})`;
}
