// The printed sheet: each page of the sheet on one of paper, whole; or as a worksheet with numbers left out, and its key after it.
import { element } from "../elements/element.js";
import { isOfHeads } from "../pass/axes.js";
import { nameOf } from "../pass/layers.js";
import { QUESTIONS, atStep, layerOfPage, pagesOf, stepAt } from "../scene/state.js";
import { lookAt, withPair } from "../scene/looks.js";
import { makeSheet } from "../sheet/sheet.js";
import { besideTheLargest, shownBefore } from "../sheet/worksheet.js";

// Draws the pages into `pages`; `inert` are tools that do nothing. Numbers are left out from the bands of the label `from` on.
export function drawSheets(pages, { pass, where, colours, inert }, from) {
  const copies = from
    ? [
        { name: "Worksheet", from },
        { name: "Key", from: "" },
      ]
    : [{ name: "", from: "" }];
  const places = pagesOf(pass).map(({ id }) => placeAt(pass, where, id)),
    count = copies.length * places.length;
  copies.forEach((copy, nth) => {
    places.forEach((usual, place) => {
      const page = element("section", "printed of-sheet"),
        sheet = makeSheet(inert),
        isWorksheet = copy.from !== "",
        shown = isWorksheet ? shownBefore(pass, usual, copy.from) : () => true;
      const at = isWorksheet ? besideTheLargest(pass, usual, shown) : usual;
      page.append(
        drawHead(pass, at, copy),
        drawWords(pass, at),
        sheet.element,
        drawFoot(pass, nth * places.length + place + 1, count),
      );
      pages.append(page);
      sheet.update(
        pass,
        at,
        withPair({ ...lookAt(pass, at, false), shown, isWorksheet, colours }, pass, at, () => shown),
      );
    });
  });
}

// All of the page of a step, and nothing else that one looks at.
function placeAt(pass, where, step) {
  const onSheet = { ...where, ask: QUESTIONS[0], view: "sheet", present: false };
  return { ...onSheet, ...atStep(pass, onSheet, step), picked: "" };
}

/** @param {Pass} pass @param {Where} where */
function drawHead(pass, where, { name }) {
  const head = element("header"),
    title = element("h2"),
    { page } = stepAt(pass, where);
  const layer = pass.document.layers.length > 1 ? layerOfPage(page) : 0,
    word = element("span", "word", pass.document.words.query[where.cell.query]),
    isOfWords = page.startsWith("words");
  title.append(isOfWords ? "Where “" : "What “", word, isOfWords ? `” looks${headOf(pass, where)}` : "” becomes");
  head.append(
    ...(name ? [element("strong", "copy", name)] : []),
    ...(layer ? [element("span", "layer", nameOf(layer))] : []),
    title,
  );
  if (name === "Worksheet") head.append(element("span", "writer", "Name"));
  return head;
}

// The head that looks, where there are several.
/** @param {Pass} pass @param {Where} where */
function headOf(pass, where) {
  const { labels } = pass.stages.get(stepAt(pass, where).attention).axes.find(isOfHeads);
  return labels.length > 1 ? `, ${labels[where.cell.head]} of ${labels.length}` : "";
}

// The sentence, with the word that looks; in front of another that it looks at, where that is not the same.
function drawWords(
  {
    document: {
      words: { query, key, shared },
    },
  },
  { cell },
) {
  const line = element("p", "sentence-whole");
  line.append(
    ...query.flatMap((text, place) => [element(place === cell.query ? "strong" : "span", "word", text), " "]),
  );
  if (!shared) line.append("looks at: ", ...key.flatMap(text => [element("span", "word", text), " "]));
  return line;
}

/** @param {Pass} pass */
function drawFoot({ document: { imprint, changes, other } }, nth, count) {
  const foot = element("footer"),
    { between, parted } = other ?? {};
  const set = changes.length ? ` Set by hand: ${changes.map(({ text }) => text).join("; ")}.` : "";
  const ofA = other ? ` A beside it: ${between.map(([name, one]) => `${name}: ${one}`).join("; ")}. ${parted}` : "";
  foot.append(element("span", "", `${imprint}${set}${ofA}`), element("span", "place", `Page ${nth} of ${count}`));
  return foot;
}
