// What is printed: all steps, or a worksheet with blanks, chosen in a dialog.
import { isHeaded, isOfHeads } from "../model/axes.js";
import {
  isOfSheet,
  layerOfPage,
  pagesOf,
  standing,
  atStep,
  focusOf,
  isFirst,
  QUESTIONS,
  stepAt,
  stepsOf,
} from "../model/state.js";
import { lookAt, withPair } from "../model/looks.js";
import { coloursOf } from "../dom/colour.js";
import { button, element, h } from "../dom/element.js";
import { makePicture } from "./picture.js";
import { makeSheet } from "./sheet.js";
import { nameOf } from "./diagram.js";
import { makeWholePass } from "./wholepass.js";
import { makePairing } from "./pairing.js";
import { drawStepText, stepTextAt } from "./stepText.js";
import { makeThread } from "./thread.js";
import { drawStory, titleOf } from "./numberStory.js";
import { makeTraining } from "./training.js";

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
function shownBefore(pass, where, from) {
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
function besideTheLargest(pass, where, shown) {
  const other = (role, name) => {
    const index = name && pass.indexAt(name, where.cell),
      row = name ? [...pass.row(name, index)] : [],
      most = Math.max(...row);
    if (!name || shown(name, index) || row[where.cell[role]] < most) return {};
    const smaller = row.map((_, position) => position).filter(position => row[position] < most);
    return smaller.length ? { [role]: smaller.find(position => row[position] > 0) ?? smaller[0] } : {};
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

// Draws the pages into `pages`; `inert` are tools that do nothing. Numbers are left out from the bands of the label `from` on.
function drawSheets(pages, { pass, where, colours, inert }, from) {
  const copies = from
    ? [
        { name: "Worksheet", from },
        { name: "Key", from: "" },
      ]
    : [{ name: "", from: "" }];
  const positions = pagesOf(pass).map(({ id }) => placeAt(pass, where, id)),
    count = copies.length * positions.length;
  copies.forEach((copy, nth) => {
    positions.forEach((usual, position) => {
      const page = element("section", "printed of-sheet"),
        sheet = makeSheet(inert),
        isWorksheet = copy.from !== "",
        shown = isWorksheet ? shownBefore(pass, usual, copy.from) : () => true;
      const at = isWorksheet ? besideTheLargest(pass, usual, shown) : usual;
      page.append(
        drawHead(pass, at, copy),
        drawWords(pass, at),
        sheet.element,
        drawFoot(pass, nth * positions.length + position + 1, count),
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
    ...query.flatMap((text, position) => [element(position === cell.query ? "strong" : "span", "word", text), " "]),
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

// print(from) prints, with the numbers left out from that band on if there is one.
export function makePrintDialog(print) {
  const box = element("dialog", "print-dialog asks"),
    label = element("label", "", "Numbers left out from "),
    from = element("select");
  box.setAttribute("aria-label", "Print");
  const act = run => () => {
    box.close();
    run();
  };
  label.append(from, " on");
  const whole = h(
    "p",
    {},
    button(
      "With all numbers",
      act(() => print()),
      "primary",
    ),
  );
  const sheet = h(
    "p",
    {},
    button(
      "Worksheet and key",
      act(() => print(from.value)),
    ),
    label,
  );
  const end = h(
    "p",
    {},
    button("Close", () => box.close()),
  );
  box.append(element("h3", "", "Print the sheet"), whole, sheet, end);
  return {
    element: box,
    // `bands` are the labels of those that it can begin with; the one chosen last stays, where it is among them.
    open(bands) {
      const chosen = from.value;
      from.replaceChildren(...bands.map(band => element("option", "", band)));
      if (bands.includes(chosen)) from.value = chosen;
      sheet.hidden = !bands.length;
      box.showModal();
    },
  };
}

const INERT = { go: () => {}, point: () => {}, pick: () => {}, arrive: () => {}, onPoint: () => {}, set: () => {} };
const A4 = "@page { size: A4 landscape; margin: 10mm; }";

// Puts the pages into `root` as the browser is about to print, and away afterwards; now() is {pass, where}.
// Returns {print(from), end()}: numbers of the sheet may be left out from a band on, for that once.
export function makePrinter(window, root, now) {
  const pages = element("div", "pages");
  const paper = new window.CSSStyleSheet(); // the styles of a shadow tree say nothing of pages
  let isPresented = false,
    from = "";
  paper.replaceSync(A4);
  const before = () => {
    isPresented = root.classList.contains("presenting");
    root.classList.remove("presenting"); // its letters are for a room
    window.document.documentElement.removeAttribute("data-presenting");
    root.append(pages);
    drawPages(pages, now(), from);
    if (pages.querySelector(".of-sheet")) window.document.adoptedStyleSheets.push(paper);
  };
  const after = () => {
    pages.replaceChildren();
    pages.remove();
    window.document.adoptedStyleSheets = window.document.adoptedStyleSheets.filter(each => each !== paper);
    if (isPresented) {
      root.classList.add("presenting");
      window.document.documentElement.setAttribute("data-presenting", "");
    }
    isPresented = false;
    from = "";
  };
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return {
    print: (band = "") => {
      from = band;
      window.print();
    },
    end: () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
      after();
    },
  };
}

function drawPages(pages, { pass, where }, from) {
  const colours = coloursOf(pages, pass.document.palette);
  pages.replaceChildren();
  if (isOfSheet(pass, where)) drawSheets(pages, { pass, where, colours, inert: INERT }, from);
  else drawSteps(pages, { pass, where, colours });
  for (const each of pages.querySelectorAll("section[aria-label]")) each.removeAttribute("aria-label"); // whose name the screen's has
}

function drawSteps(pages, { pass, where, colours }) {
  for (const step of stepsOf(pass)) {
    const position = { ...where, ...atStep(pass, { ...where, ask: "" }, step), view: "matrices", present: false };
    const look = withPair(
      { ...lookAt(pass, position, false), reveal: "all", lines: null, shown: () => true, colours },
      pass,
      position,
      () => () => true,
    );
    drawStep(columnsOf(stepAt(pass, position)), (columns, isFurther) => {
      const page = element("section", "printed");
      pages.append(page);
      drawPage(page, { pass, where: position, look, columns, isFurther });
      return page;
    });
  }
}

// Each page has as many columns of matrices as it has room for with digits. Matrices that have none even alone are on one.
function drawStep(columns, draw) {
  const made = [];
  let from = 0;
  do {
    let to = columns.length,
      page = draw(columns.slice(from), from > 0);
    while (isUnwritten(page) && to - from > 1) {
      page.remove();
      to -= 1;
      page = draw(columns.slice(from, to), from > 0);
    }
    made.push(page);
    from = to;
  } while (from < columns.length);
  if (made.length === 1 || !made.some(isUnwritten)) return;
  for (const page of made) page.remove();
  draw(columns, false);
}

function isUnwritten(page) {
  return Boolean(page.querySelector(".unwritten"));
}

// The columns of a step's pictures, as [picture, column].
function columnsOf({ pictures }) {
  return pictures.flatMap(({ grid }, picture) => grid[0].map((_, column) => [picture, column]));
}

function partOf({ pictures }, columns) {
  const parts = pictures.map((picture, position) => {
    const ofPicture = columns.filter(([of]) => of === position);
    return {
      ...picture,
      grid: picture.grid.map(row => ofPicture.map(([, column]) => row[column])).filter(row => row.some(Boolean)),
    };
  });
  return parts.filter(({ grid }) => grid.length);
}

function drawPage(page, { pass, where, look, columns, isFurther }) {
  const text = drawStepText(stepTextAt(pass, where)),
    picture = makePicture(INERT);
  const views = isFurther
    ? []
    : [...(isFirst(pass, where) ? [makeTraining] : []), makePairing, makeThread, makeWholePass].map(make =>
        make(INERT),
      );
  page.append(
    ...(isFurther ? [text[0]] : [...text, drawFocus(pass, where, look)]),
    ...views.map(view => view.element),
    picture.element,
  );
  for (const view of views) view.update(pass, where, look);
  picture.update(pass, where, look, partOf(stepAt(pass, where), columns));
  for (const view of views) view.connect?.(); // where all stands
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function drawFocus(pass, where, look) {
  const focus = focusOf(pass, where),
    { name, index } = focus;
  if (pass.number(name, index) === undefined) return "";
  return h(
    "div",
    { class: "said" },
    element("strong", "", titleOf(pass, look, focus)),
    drawStory(pass.story(name, index, where.cell), INERT),
  );
}
