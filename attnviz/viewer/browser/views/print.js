// What is printed: all steps, or a worksheet with blanks, chosen in a dialog.
import { isHeaded, isOfHeads } from "../model/axes.js";
import { QUESTIONS, atStep, focusOf, isFirst, stepAt, stepsOf } from "../model/state.js";
import { fitted, isHeads, isOfSheet, layerOfPage, pagesOf, visibleRows } from "../model/state.js";
import { revealAt } from "../model/address.js";
import { nameInBlock } from "../model/words.js";
import { lookAt, withPair } from "../model/looks.js";
import { coloursOf } from "../dom/colour.js";
import { button, h, onPrint, write } from "../dom/element.js";
import { makeMeasures } from "./measures.js";
import { makePicture } from "./picture.js";
import { makeAllHeads } from "./allHeads.js";
import { makeOneWord } from "./oneWord.js";
import { makeWholePass } from "./wholepass.js";
import { makePairing } from "./pairing.js";
import { drawStepText, stepTextAt } from "./stepText.js";
import { makeThread } from "./thread.js";
import { drawStory, titleOf } from "./numberStory.js";

/** The labels of the bands from which numbers can be left out, in order. In each layer it is the band of that label.
 * @param {Pass} pass @param {Where} where */
export function worksheetStarts(pass, where) {
  const bands = pagesOf(pass).flatMap(({ id }) => bandsOf(pass, where, id));
  return [...new Set(bands.filter(isWorkedOut).map(({ label }) => label))];
}

/** A `shown()` that hides everything from those bands on. @param {Pass} pass @param {Where} where */
function shownBefore(pass, where, start) {
  const layers = Object.groupBy(pagesOf(pass), ({ page }) => layerOfPage(page)),
    bands = Object.values(layers).map((pages = []) => pages.flatMap(({ id }) => bandsOf(pass, where, id))),
    leftOut = new Set(bands.flatMap(each => keysFrom(pass, start, each)));
  return (name, index, array = "") =>
    !leftOut.has(keyOf(name, array)) || (isHeaded(pass.stages.get(name)) && index[0] !== where.cell.head);
}

/** `where` with another word and answer selected than the largest, where that is left for the reader to find.
 * @param {Pass} pass @param {Where} where */
function besideTheLargest(pass, where, shown) {
  const smaller = (role, name) => {
    if (!name) return {};
    const index = pass.indexAt(name, where.cell),
      row = [...pass.row(name, index)],
      largest = Math.max(...row);
    if (shown(name, index) || row[where.cell[role]] < largest) return {};
    const others = [...row.keys()].filter(position => row[position] < largest);
    return others.length ? { [role]: others.find(position => row[position] > 0) ?? others[0] } : {};
  };
  const key = smaller("key", stepAt(pass, where).attention),
    answer = smaller("answer", pass.document.model?.answers);
  return { ...where, cell: { ...where.cell, ...key, ...answer } };
}

const bandsOf = (pass, where, step) => visibleRows(pass, { ...where, step, reveal: null }).map(({ band }) => band);

// Of a layer's bands from one on: their rows, what the heads make of them, what those add up to, and what is carried on to be multiplied.
function keysFrom(pass, start, bands) {
  const first = bands.findIndex(band => band.label === start && isWorkedOut(band));
  return (first < 0 ? [] : bands.slice(first)).flatMap(band => {
    const { stage, rows } = band.cells,
      isRowOfHead = rows !== null && isOfHeads(pass.stages.get(stage).axes[rows]); // it follows from what was left out before
    return [
      ...(isWorkedOut(band) || isRowOfHead ? [keyOf(stage, band.array)] : []),
      ...[band.left, band.right].flatMap(slot => (slot ? [keyOf(slot.stage, "")] : [])),
    ];
  });
}

// A row with a sentence is worked out; one without, as what came in, is only there to be added.
const isWorkedOut = ({ cells, sentence }) => cells.rows === null && sentence.length > 0;
const keyOf = (stage, array) => `${stage} ${array}`;

/** Whether versions of a pass can have other numbers. @param {Pass} pass */
export const hasSeed = ({ document: { caption } }) => caption.includes(" Seed: ");

const WORKSHEET = "Worksheet",
  KEY = "Key",
  UNROUNDED = "The key is computed from unrounded numbers: by those printed here, last digits may differ. ",
  WHOLE = "Parameters: whole"; // in a caption

/** What is printed of the sheet: `start` is the label of the band from which numbers are left out, "" for none. `copy` is WORKSHEET or KEY, each a
 * print of its own; `versions` are passes with other numbers.
 * @typedef {{ start: string, versions?: Pass[], copy?: string }} Job */

// Draws the sheet into `pages`, its worksheet or its key, or all versions of one of the two.
function drawSheets(pages, { pass, where, colours }, /** @type {Job} */ { start, versions, copy = "" }) {
  const made = { start, isWorksheet: copy === WORKSHEET };
  for (const [nth, version] of (versions ?? [pass]).entries()) {
    const shown = { pass: version, where: versions ? fitted(version, where) : where, colours },
      name = versions ? `${copy} ${nth + 1}` : copy;
    drawCopy(pages, shown, { ...made, name, count: pagesOf(version).length });
  }
}

// A page for each step: of a worksheet without the numbers from the bands labelled `start` on, of all else complete.
function drawCopy(pages, { pass, where, colours }, { name, start, isWorksheet, count }) {
  pagesOf(pass).forEach(({ id }, position) => {
    const onSheet = { ...where, ask: QUESTIONS[0], view: "sheet", present: false },
      usual = { ...onSheet, ...atStep(pass, onSheet, id), picked: "" },
      shown = isWorksheet ? shownBefore(pass, usual, start) : () => true,
      at = isWorksheet ? besideTheLargest(pass, usual, shown) : usual,
      sheet = makeOneWord(INERT),
      foot = drawFoot(pass, name, position + 1, count);
    const parts = [drawHead(pass, at, name, isWorksheet), drawWords(pass, at), sheet.element, foot],
      alone = { ...lookAt(pass, at), shown, isWorksheet, colours },
      look = withPair(alone, pass, at, () => shown);
    pages.append(h("section", { class: "printed of-sheet" }, parts));
    sheet.update(pass, at, look);
  });
}

/** @param {Pass} pass @param {Where} where @param {string} copy @param {boolean} isWorksheet */
function drawHead(pass, where, copy, isWorksheet) {
  const { page, attention } = stepAt(pass, where),
    layer = pass.document.layers.length > 1 ? layerOfPage(page) : 0,
    word = h("span", { class: "word" }, pass.wordsAt(where.step).query[where.cell.query]),
    heads = pass.stages.get(attention).axes.find(isOfHeads)?.labels ?? [],
    head = heads.length > 1 ? `, ${heads[where.cell.head]} of ${heads.length}` : "";
  return h(
    "header",
    {},
    copy && h("strong", { class: "copy" }, copy),
    layer > 0 && h("span", { class: "layer" }, nameInBlock(pass.document, layer)),
    page.startsWith("words")
      ? h("h2", {}, "Where “", word, `” looks${head}`)
      : h("h2", {}, "What “", word, "” becomes"),
    isWorksheet && h("span", { class: "writer" }, "Name"),
  );
}

/** The sentence, with the word that looks; before a second one that it looks at, if it isn't the same. @param {Pass} pass @param {Where} where */
function drawWords(pass, { cell, step }) {
  const words = pass.wordsAt(step),
    word = (text, tag = "span") => [h(tag, { class: "word" }, text), " "],
    keys = words.shared ? [] : ["looks at: ", ...words.key.flatMap(text => word(text))];
  return h(
    "p",
    { class: "sentence-whole" },
    ...words.query.flatMap((text, position) => word(text, position === cell.query ? "strong" : "span")),
    keys,
  );
}

/** @param {Pass} pass */
function drawFoot({ document: { caption, changes, other } }, copy, nth, count) {
  const note = copy && !caption.includes(WHOLE) ? UNROUNDED : "",
    set = changes.length ? ` Set by hand: ${changes.map(({ text }) => text).join("; ")}.` : "",
    settingsOfA = other?.between.map(([name, one]) => `${name}: ${one}`).join("; "),
    ofA = other ? ` A beside it: ${settingsOfA}. ${other.parted}` : "";
  const page = h("span", { class: "place" }, `Page ${nth} of ${count}`);
  return h("footer", {}, h("span", {}, `${note}${caption}${set}${ofA}`), page);
}

const MOST_VERSIONS = 30; // as in lessons/talk_request.py

// print(job) prints; versions(n), where a server computes them, resolves to passes with other numbers.
export function makePrintDialog(print, versions) {
  const start = h("select"),
    number = h("input", { type: "number", min: "1", max: String(MOST_VERSIONS), value: "10" }),
    status = h("p", { class: "note", role: "status" }),
    close = () => box.close();
  const printing = run => () => {
    close();
    run();
  };
  const printAll = printing(() => print({ start: "" })),
    printCopy = copy => printing(() => print({ start: start.value, copy })),
    label = h("label", {}, "Numbers left out from ", start, " on"),
    complete = button("With all numbers", printAll, "primary"),
    worksheet = h("p", {}, button("Worksheet", printCopy(WORKSHEET)), button("Its key", printCopy(KEY)), label);
  const printVersions = copy => async () => {
    const n = Math.min(Math.max(Math.round(Number(number.value)) || 1, 1), MOST_VERSIONS);
    number.value = String(n);
    write(status, `${n} versions are computed…`);
    try {
      const made = await versions(n);
      write(status, "");
      close();
      print({ start: start.value, versions: made, copy });
    } catch (error) {
      write(status, `That didn’t work: ${error instanceof Error ? error.message : error}`);
    }
  };
  const ofVersions = h(
    "p",
    { hidden: !versions },
    h("label", {}, "Versions with other numbers: ", number),
    button("Their worksheets", printVersions(WORKSHEET)),
    button("Their keys", printVersions(KEY)),
  );
  const exact = h(
      "p",
      { class: "note" },
      "With whole parameters (Settings, “Parameters”: whole) all numbers agree with the key to the last digit.",
    ),
    box = h(
      "dialog",
      { class: "print-dialog asks", "aria-label": "Print" },
      h("h3", {}, "Print the sheet"),
      h("p", {}, complete),
      worksheet,
      ofVersions,
      exact,
      status,
      h("p", {}, button("Close", close)),
    );
  return {
    element: box,
    // `bands` are the labels of those that it can start from; the last choice stays if it is among them.
    open(bands, hasSeed) {
      const chosen = start.value;
      start.replaceChildren(...bands.map(band => h("option", {}, band)));
      if (bands.includes(chosen)) start.value = chosen;
      worksheet.hidden = !bands.length;
      ofVersions.hidden = exact.hidden = !bands.length || !hasSeed || !versions;
      write(status, "");
      box.showModal();
    },
  };
}

const INERT = { go: () => {}, point: () => {}, pick: () => {}, keyMoved: () => {}, onPoint: () => {}, set: () => {} };
const A4 = "@page { size: A4 landscape; margin: 10mm; }";

// Puts the pages into `root` when the browser prints, and removes them afterwards. print(job) prints a worksheet for that once.
export function makePrinter(window, root, now) {
  const pages = h("div", { class: "pages" }),
    { document } = window;
  let isPresented = false,
    job = /** @type {Job} */ ({ start: "" });
  const before = () => {
    isPresented = root.classList.contains("presenting");
    root.classList.remove("presenting"); // its letters are for a lecture hall
    document.documentElement.removeAttribute("data-presenting");
    root.append(pages);
    drawPages(pages, now(), job);
    return pages.querySelector(".of-sheet") !== null;
  };
  const after = () => {
    pages.replaceChildren();
    pages.remove();
    if (isPresented) {
      root.classList.add("presenting");
      document.documentElement.setAttribute("data-presenting", "");
    }
    isPresented = false;
    job = { start: "" };
  };
  const end = onPrint(window, A4, before, after);
  return {
    print: (asked = { start: "" }) => {
      job = asked;
      window.print();
    },
    end,
  };
}

function drawPages(pages, { pass, where }, job) {
  const colours = coloursOf(pages);
  pages.replaceChildren();
  if (isOfSheet(pass, where)) drawSheets(pages, { pass, where, colours }, job);
  else if (isHeads(pass, where)) drawHeads(pages, { pass, where: { ...where, present: false }, colours });
  else drawSteps(pages, { pass, where, colours });
  for (const each of pages.querySelectorAll("section[aria-label]")) each.removeAttribute("aria-label"); // the screen has one of that name
}

function drawHeads(pages, { pass, where, colours }) {
  const allHeads = makeAllHeads(INERT),
    shown = revealAt(pass, where).isShown,
    alone = { ...lookAt(pass, where), reveal: "all", lines: null, shown, colours },
    [title] = drawStepText(stepTextAt(pass, where));
  pages.append(h("section", { class: "printed of-all-heads" }, title, drawWords(pass, where), allHeads.element));
  allHeads.update(
    pass,
    where,
    withPair(alone, pass, where, () => shown),
  );
}

function drawSteps(pages, { pass, where, colours }) {
  const shown = () => true;
  for (const id of stepsOf(pass)) {
    const at = { ...where, ...atStep(pass, { ...where, ask: "" }, id), view: "matrices", present: false },
      alone = { ...lookAt(pass, at), reveal: "all", lines: null, shown, colours },
      look = withPair(alone, pass, at, () => shown);
    drawStep(columnsOf(stepAt(pass, at)), (columns, isFurther) => {
      const page = h("section", { class: "printed" });
      pages.append(page);
      drawPage(page, { pass, where: at, look, columns, isFurther });
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

const isUnwritten = page => Boolean(page.querySelector(".unwritten"));

// The columns of a step's pictures, as [picture, column].
const columnsOf = ({ pictures }) =>
  pictures.flatMap(({ grid }, picture) => grid[0].map((_, column) => [picture, column]));

function partOf({ pictures }, columns) {
  const parts = pictures.map(({ grid, ...picture }, position) => {
    const shown = columns.filter(([nth]) => nth === position).map(([, column]) => column);
    return { ...picture, grid: grid.map(row => shown.map(column => row[column])).filter(row => row.some(Boolean)) };
  });
  return parts.filter(({ grid }) => grid.length);
}

function drawPage(page, { pass, where, look, columns, isFurther }) {
  const [title, ...text] = drawStepText(stepTextAt(pass, where)),
    picture = makePicture(INERT),
    makers = [...(isFirst(pass, where) ? [makeMeasures] : []), makePairing, makeThread, makeWholePass],
    views = isFurther ? [] : makers.map(make => make(INERT));
  page.append(
    title,
    ...(isFurther ? [] : [...text, drawFocus(pass, where, look)]),
    ...views.map(view => view.element),
    picture.element,
  );
  for (const view of views) view.update(pass, where, look);
  picture.update(pass, where, look, partOf(stepAt(pass, where), columns));
  for (const view of views) view.connect?.(); // once everything is laid out
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function drawFocus(pass, where, look) {
  const focus = focusOf(pass, where),
    { name, index } = focus;
  if (pass.number(name, index) === undefined) return "";
  const story = drawStory(pass.story(name, index, where.cell), INERT);
  return h("div", { class: "said" }, h("strong", {}, titleOf(pass, look, focus)), story);
}
