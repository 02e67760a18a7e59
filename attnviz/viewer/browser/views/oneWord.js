// The One word view: every column a word, from the query through scores and attention weights to the output.
import { percent } from "../model/numeral.js";
import { focusOf, isSheet, sourceAt, stepAt } from "../model/state.js";
import { background, css, textOn } from "../dom/colour.js";
import { h, redraw, rovingFocus, setTabStop, write } from "../dom/element.js";
import { makeNumberInput } from "../dom/numberInput.js";
import { makeCollectValues } from "./collectValues.js";
import { MOST_COLUMNS } from "./collection.js";
import { cacheNoteAt, drawSentences, showsProducts } from "./oneWordCells.js";
import { contentOf, partsIn } from "./oneWordPair.js";
import { makePhoneView } from "./oneWordPhone.js";
import { awaitLetters, fittingParts, frameOf, isNarrowPage, setSizes } from "./oneWordSizes.js";
import { makeOneWordTable, widthOf } from "./oneWordTable.js";
import { makeScorePictures } from "./scorePictures.js";

// The whole sentence, where it is too long for a column for each word. choose(key) gives a word a column.
function makeWholeSentence(choose) {
  const line = h("p", { class: "words", "aria-label": "The sentence", role: "group" }),
    note = h("p", { class: "note" }),
    box = h("div", { class: "sentence", hidden: true }, line, note);
  let words = [];
  rovingFocus(line, () => [words]);
  const build = texts => {
    words = texts.map((text, key) => h("button", { type: "button", onclick: () => choose(key) }, text));
    line.replaceChildren(...words.flatMap(word => [word, " "]));
  };
  return {
    element: box,
    hide() {
      box.hidden = true;
    },
    // `columns` are the words that have a column.
    show({ pass, where: { cell, step }, look, attention }, columns) {
      const { key: texts, unit, shared } = pass.wordsAt(step),
        act = shared ? "lets it ask" : "selects it",
        stage = pass.stages.get(attention);
      box.hidden = false;
      write(note, `A click on a ${unit} brings it into the sheet; a click on its column ${act}.`);
      if (String(words.map(({ textContent }) => textContent)) !== String(texts)) build(texts);
      for (const [key, word] of words.entries()) {
        const index = pass.indexAt(attention, { ...cell, key }),
          weight = look.shown(attention, index) ? pass.number(attention, index) : undefined,
          colour = weight === undefined ? null : background(weight, stage, look.colours);
        word.style.backgroundColor = colour ? css(colour) : "";
        word.style.color = colour ? css(textOn(colour)) : "";
        word.ariaDescription = word.title = weight === undefined ? "" : percent(weight);
        word.classList.toggle("there", columns.includes(key));
        word.classList.toggle("asks", shared && key === cell.query);
        word.classList.toggle("chosen", key === cell.key);
        word.setAttribute("aria-pressed", columns.includes(key));
      }
      setTabStop(words, words[cell.key]);
    },
  };
}

// A number input over the cell that is set; open(pass, cell, at) shows it over the element `at`, which gets the focus back.
function makeInPlace(set) {
  const { element: box, update } = makeNumberInput(set),
    input = box.querySelector("input"),
    isInvalid = () => input.getAttribute("aria-invalid") === "true";
  let covered = null;
  box.classList.add("in-place");
  box.hidden = true;
  box.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" && (key !== "Enter" || isInvalid())) return;
    box.hidden = true;
    covered?.focus();
    covered = null;
  });
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (!box.contains(relatedTarget) && !isInvalid()) box.hidden = true;
  });
  return {
    element: box,
    open(pass, cell, at) {
      covered = at;
      update(pass, cell);
      box.hidden = false;
      Object.assign(box.style, { left: `${at.offsetLeft}px`, top: `${at.offsetTop + at.offsetHeight}px` });
      input.focus();
      input.select();
    },
    update: (pass, cell) => {
      if (!box.hidden) update(pass, cell);
    },
  };
}

const makeActs = (tools, now) => ({
  ...tools,
  // In self-attention a click selects a word as the query, with Shift as the key, as in the line of words.
  select: (axis, position, isShifted) => {
    const { pass, where } = now(),
      role = axis === "key" && pass.wordsAt(where.step).shared && !isShifted ? "query" : axis;
    tools.go({ cell: { ...where.cell, [role]: position }, trail: [] });
  },
  // Shows the layer before for the word that a key or value comes from.
  follow: layer => {
    const { pass, where } = now(),
      steps = pass.document.steps.filter(({ page, bands }) => page === `words-${layer}` && bands.length),
      { id: step } = steps[steps.length - 1];
    tools.go({ step, reveal: null, cell: { ...pass.carried(where.cell, layer), query: where.cell.key }, trail: [] });
  },
  trace: from => {
    const { pass, where } = now(),
      { bands = [] } = sourceAt(pass, { ...where, from }) ?? {},
      picked = bands.length ? { picked: bands[bands.length - 1].cells.stage } : {};
    tools.go({ from, trail: [], ...picked });
  },
});

/** `withoutText` leaves out the text beside bands, and bands whose step is still to come, as in a lesson. @returns {View} */
export function makeOneWord(tools, { withoutText = false } = {}) {
  const opened = new Set(); // the keys of bands with a line for every row
  let shown = null,
    hasArrived = false, // from another step
    extent = null, // the size of the box: asking for it costs a layout of what is about to change
    isMoved = false,
    sentenceHeight = 0, // as it was drawn last
    chosenWords = [];
  const inPlace = makeInPlace(tools.set);
  const actions = {
    ...makeActs(tools, () => shown),
    edit: (cell, at) => inPlace.open(shown.pass, cell, at),
    open: key => {
      if (!opened.delete(key)) opened.add(key);
      draw();
    },
  };
  const sentence = makeWholeSentence(key => {
    chosenWords = [...chosenWords.filter(each => each !== key), key];
    tools.go({ cell: { ...shown.where.cell, key }, trail: [] });
  });
  const scoreToWeight = makeScorePictures(actions),
    table = makeOneWordTable(actions),
    phone = makePhoneView(actions),
    collecting = makeCollectValues(actions, withoutText, () => draw()),
    caption = h("div", { class: "told" });
  const box = h(
    "section",
    { class: "sheet", "aria-label": "The sheet", hidden: true },
    sentence.element,
    ...(withoutText ? [] : [caption]),
    scoreToWeight.element,
    table.element,
    inPlace.element,
    phone.element,
    collecting.element,
  );
  const measured = () => ({ clientWidth: box.clientWidth, clientHeight: box.clientHeight }),
    above = () => heightOf(sentence.element) + heightOf(caption) + heightOf(scoreToWeight.element);
  const draw = () => {
    if (box.hidden) return; // letters came late: what is hidden has no extent
    extent ??= measured();
    const whole = contentOf(shown, actions, withoutText),
      frame = frameOf(box, extent, whole),
      most = frame.least ? COLUMNS_IN_TALK : frame.isPhone ? COLUMNS_ON_PHONE : MOST_COLUMNS,
      collection = frame.isPaper ? null : collecting.read(whole, most);
    const readContent = () => {
      const clientHeight = extent.clientHeight - sentenceHeight,
        scored = scoreToWeight.update(whole, { ...frame, extent: { ...extent, clientHeight } }, !isMoved);
      return collection ? { ...whole, slots: collection.beside } : scored; // the picture says the rest
    };
    let content = readContent(),
      parts = drawSentence(content, frame);
    const isOther = sentenceHeight !== heightOf(sentence.element);
    sentenceHeight = heightOf(sentence.element);
    if (isOther && !scoreToWeight.element.hidden) {
      content = readContent(); // the sentence takes some of the picture's space
      parts = drawSentence(content, frame);
    }
    box.classList.toggle("in-hand", frame.isPhone);
    if (frame.isPhone) {
      box.removeAttribute("style"); // the sizes of a wider one
      phone.update(parts, content.paint);
      drawCollection(collection, content, frame, null);
    } else {
      phone.clear();
      const taken = above(), // asked before the table changes, which would be laid out for it
        height = isNarrowPage() ? null : Math.round((extent.clientHeight - taken) * shareOf(parts));
      drawCollection(collection, content, frame, height);
      drawTable(content, frame, parts, taken + (collection ? heightOf(collecting.element) : 0));
      // In a talk nobody scrolls: the text above goes (talk.css), up to the next step.
      if (frame.least && box.scrollHeight > box.clientHeight + 1) box.classList.add("over");
    }
  };
  // The picture of what is collected, which takes space from the table.
  const drawCollection = (collection, content, { letters, least, isPhone }, height) => {
    if (!collection) return collecting.hide();
    const letter = Math.max(letters.own, least),
      leastDigits = isPhone ? letter : Math.max(0.6 * letter, least),
      size = { width: extent.clientWidth - letter, height, letter, leastDigits }; // less the space at its sides
    collecting.update(collection, content, size, hasArrived);
  };
  // Draws the sentence above the table and returns the parts that fit below it.
  const drawSentence = (content, frame) => {
    const hasCaption = frame.least && !withoutText;
    if (hasCaption) redraw(caption, [h("p", {}, "\u00a0")]); // its line takes its space first
    const inSpace = space => partsIn(content, { opened, space, chosenWords, isPhone: frame.isPhone }),
      parts = fittingParts(content, frame, { partsOf: inSpace, above });
    if (hasCaption) redraw(caption, drawSentences(parts, content.paint, actions));
    const narrow = !content.isAlone && parts.find(({ rest }) => rest.length);
    if (narrow) sentence.show(content, narrow.columns);
    else sentence.hide();
    return parts;
  };
  const drawTable = (content, frame, parts, taken) => {
    table.element.hidden = !parts.length; // the picture shows all
    if (!parts.length) return;
    const { pass, where, source, paint } = content,
      word = pass.wordsAt(where.step).query[where.cell.query],
      about = stepAt(pass, where).page.startsWith("words") ? "its attention" : "what it becomes",
      focus = focusOf(pass, where);
    table.element.hidden = Boolean(content.isAlone);
    if (content.isAlone) return;
    table.update(parts, paint, {
      label: `${word}: ${about}`,
      hasCacheLine: cacheNoteAt(pass, where) !== null && !source,
    });
    setSizes(box, {
      ...frame,
      lines: table.lines(),
      parts: parts.length,
      columns: widthOf(parts),
      multiplies: parts.some(showsProducts),
      above: taken,
    });
    table.setTabStop(pass.address(focus.name, focus.index));
    mark(focus);
    awaitLetters(box, draw);
    inPlace.update(pass, focus);
  };
  const mark = ({ name, index }) => {
    collecting.mark(shown.pass.address(name, index));
    const { pair } = shown.look,
      inA = pair?.toA(name, index);
    table.mark(marked(shown.pass, name, index), inA ? marked(pair.pass, name, inA) : ["", new Set()]);
  };
  tools.onPoint((name, index) => {
    if (!box.hidden) mark(index ? { name, index } : focusOf(shown.pass, shown.where));
  });
  const observer = new ResizeObserver(() => {
    if (box.hidden || !box.isConnected) return; // gone from the page it has no letters
    const other = measured();
    if (JSON.stringify(other) === JSON.stringify(extent)) return;
    extent = other;
    isMoved = false;
    draw();
  });
  observer.observe(box);
  return {
    element: box,
    update(pass, where, look) {
      box.hidden = !isSheet(pass, where);
      if (String(shown?.pass.wordsAt(shown.where.step).key) !== String(pass.wordsAt(where.step).key)) chosenWords = [];
      const { step, present } = shown?.where ?? {};
      if (box.hidden || step !== where.step || present !== where.present) {
        extent = null; // the step's text has other lines
        box.classList.remove("over");
      }
      if (box.hidden) {
        collecting.hide();
        return;
      }
      isMoved = shown !== null; // what is seen first comes at once
      hasArrived = step !== undefined && step !== where.step;
      shown = { pass, where, look };
      draw();
    },
  };
}

const COLUMNS_ON_PHONE = 6,
  COLUMNS_IN_TALK = 5; // whose digits are large

// Of the height for a picture beside these parts of the table.
const shareOf = parts => Math.max(0.4, 0.78 - 0.04 * (parts.flatMap(({ rows }) => rows).length - 1));

// 0 for an empty or hidden element, without measuring it.
const heightOf = element => (element.hidden || !element.childElementCount ? 0 : element.offsetHeight);

function marked(pass, name, index) {
  const sources = pass.cellsOf(name, index).map(each => pass.address(each.name, each.index));
  return [pass.address(name, index), new Set(sources)];
}
