// The worksheet: the sheet with its numbers left out from some band on, for pupils to write. What has to be known to work them
// out is there: keys, values and parameters, and what other heads found.
import { isHeaded, isOfHeads } from "../pass/axes.js";
import { layerOfPage, pagesOf, standing, stepAt } from "../scene/state.js";

// The labels of the bands that numbers can be left out from, in their order. In each layer it is the band of that label.
export function beginnings(pass, where) {
  return [
    ...new Set(
      pagesOf(pass)
        .flatMap(({ id }) => bandsOf(pass, where, id))
        .filter(isWorkedOut)
        .map(({ label }) => label),
    ),
  ];
}

// shown(stage, index, array) of a look that leaves out all from those bands on.
/** @param {Pass} pass @param {Where} where */
export function shownBefore(pass, where, from) {
  const layers = Object.values(Object.groupBy(pagesOf(pass), ({ page }) => layerOfPage(page)));
  const left = new Set(
    layers.flatMap(pages =>
      leftOut(
        pass,
        pages.flatMap(({ id }) => bandsOf(pass, where, id)),
        from,
      ),
    ),
  );
  return (name, index, array = "") =>
    !left.has(keyOf(name, array)) || (isHeaded(pass.stages.get(name)) && index[0] !== where.cell.head);
}

// The same place with another word and answer selected than the largest, where that is left to be found.
/** @param {Pass} pass @param {Where} where */
export function besideTheLargest(pass, where, shown) {
  const other = (role, name) => {
    const index = name && pass.indexAt(name, where.cell),
      row = name ? [...pass.row(name, index)] : [],
      most = Math.max(...row);
    if (!name || shown(name, index) || row[where.cell[role]] < most) return {};
    const smaller = row.map((_, place) => place).filter(place => row[place] < most);
    return smaller.length ? { [role]: smaller.find(place => row[place] > 0) ?? smaller[0] } : {};
  };
  const { attention } = stepAt(pass, where),
    { model } = pass.document;
  return { ...where, cell: { ...where.cell, ...other("key", attention), ...other("answer", model?.answers) } };
}

function bandsOf(pass, where, step) {
  return standing(pass, { ...where, step, reveal: null }).map(({ band }) => band);
}

// Of a layer's bands from one on: their rows, what the heads make of them, what those add up to, and what is carried on to be multiplied.
function leftOut(pass, bands, from) {
  const first = bands.findIndex(band => band.label === from && isWorkedOut(band));
  const after = first < 0 ? [] : bands.slice(first);
  return after.flatMap(band => [
    ...(isWorkedOut(band) || hasRowOfHead(pass, band) ? [keyOf(band.cells.stage, band.array)] : []),
    ...[band.left, band.right].flatMap(slot => (slot ? [keyOf(slot.stage, "")] : [])),
  ]);
}

// A row that something is said of is worked out; what stands without a sentence, as what came in, is only there to be added.
function isWorkedOut({ cells, sentence }) {
  return cells.rows === null && sentence.length > 0;
}

// Each head has a row in it: that of the selected one follows from what was left out before.
/** @param {Pass} pass */
function hasRowOfHead(pass, { cells: { stage, rows } }) {
  return rows !== null && isOfHeads(pass.stages.get(stage).axes[rows]);
}

function keyOf(stage, array) {
  return `${stage} ${array}`;
}
