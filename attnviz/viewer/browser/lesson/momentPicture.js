// The picture of a moment: a pass, or one of its own.
import { h, redraw } from "../dom/element.js";
import { readWhere, searchAt } from "../model/address.js";
import { coloursOf } from "../dom/colour.js";
import { drawStory, titleOf } from "../views/numberStory.js";
import { lookAt, withPair } from "../model/looks.js";
import { makeLearns } from "../views/learns.js";
import { makeNextLetter } from "../views/nextLetter.js";
import { makePairing } from "../views/pairing.js";
import { makePicture } from "../views/picture.js";
import { makeAllHeads } from "../views/allHeads.js";
import { makeOneWord } from "../views/oneWord.js";
import { makeThread } from "../views/thread.js";
import { makeTools, keepFocusNearby } from "../views/tools.js";
import { makeWholePass } from "../views/wholepass.js";
import { readPass } from "../model/pass.js";
import { OWN_PICTURES } from "./ownPictures.js";
import { fitted, focusOf, inspected, isHeads, isOfSheet, isSheet, stepAt } from "../model/state.js";

// answer({word}, {cell} or {head}) takes what is clicked as an answer, and returns whether it is one.
function makePassPicture(answer) {
  const line = h("div", { class: "number-line" });
  let pass = /** @type {any} */ (null), // Pass
    where = /** @type {any} */ (null), // Where
    shown = /** @type {any} */ (null), // the moment
    covers = new Set(),
    framed = null, // the cell that the moment asks about, or that its answer is read off
    askedStage = "", // the stage of that cell
    isOpened = false, // whether the user opened a number
    isAsked = false; // whether the question is open
  const isShown = stage => !covers.has(stage);
  function draw() {
    const colours = coloursOf(root),
      reveal = covers.size ? "covered" : "all",
      lookAlone = { ...lookAt(pass, where), reveal, lines: null, shown: isShown, colours, isAsked };
    const look = withPair(lookAlone, pass, where, () => isShown);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("of-heads", isHeads(pass, where));
    root.classList.toggle("covered", covers.size > 0);
    if (covers.size)
      nextLetter.element.remove(); // its bars are answers
    else {
      main.insertBefore(nextLetter.element, sheet.element);
      nextLetter.update(pass, { ...where, present: true }, look); // as many letters as have room
    }
    for (const view of views) view.update(pass, where, look);
    const { name, index } = focusOf(pass, where),
      story = () => drawStory(pass.story(name, index, where.cell), tools);
    line.hidden = !isOpened || !isShown(name) || pass.number(name, index) === undefined; // what is covered has no story
    redraw(line, line.hidden ? [] : [h("strong", {}, titleOf(pass, look, { name, index })), story()]);
  }
  const render = () => keepFocusNearby(root, draw);
  const go = parts => {
    const { key, query } = parts.cell ?? {},
      isNew = (word, before) => !parts.picked && word !== undefined && word !== before,
      word = isNew(query, where.cell.query) ? query : isNew(key, where.cell.key) ? key : undefined;
    if (word !== undefined && answer({ word })) return;
    where = fitted(pass, { ...where, ...parts });
    render();
  };
  const tools = makeTools({
    go,
    preview: go,
    requests: { begin: () => {} }, // a moment has all that it shows
    send: () => false,
    alone: "lesson",
    now: () => ({ pass, where }),
    show: () => {},
  });
  // The key's word, which a number of a row belongs to.
  const wordOf = (name, index) => {
    const axis = pass.stages.get(name)?.axes.findIndex(each => each.name === "key") ?? -1;
    return axis < 0 ? undefined : index[axis];
  };
  const opens = act => (name, index) => {
    const head = isHeads(pass, where) ? index[0] : undefined;
    if (answer({ cell: pass.address(name, index), word: wordOf(name, index), head })) return;
    isOpened = true;
    act(name, index);
  };
  // An arrow key gives no answer: it moves on from a number that the user has opened.
  const keyMoved = (name, index) => isOpened && tools.keyMoved(name, index);
  const opening = { pick: opens(tools.pick), inspect: opens(tools.inspect), keyMoved },
    actions = { ...tools, ...opening, set: () => {}, ask: null }; // there is no panel that answers
  const pairing = makePairing(actions),
    thread = makeThread(actions),
    sheet = makeOneWord(actions, { withoutText: true }),
    allHeads = makeAllHeads(actions, chooseHead),
    picture = makePicture(actions),
    learns = makeLearns(actions, thread),
    nextLetter = makeNextLetter(actions),
    wholePass = makeWholePass(actions);
  // The name of a head answers a question about heads; else it only selects that head.
  function chooseHead(_name, head) {
    if (!answer({ head })) go({ cell: { ...where.cell, head } });
  }
  // In a talk a matrix that stands aside has no space beside the others: if the question is about it, it stands alone.
  const asideAsked = () => {
    const holds = ({ aside, grid }) => aside && grid.flat().some(slot => slot?.stage === askedStage),
      alone =
        where.present && !isSheet(pass, where) && !isHeads(pass, where) && stepAt(pass, where)?.pictures.find(holds);
    return alone ? [{ ...alone, aside: false }] : undefined;
  };
  // A model's training is shown by a moment at its start that is about all words.
  const training = {
    update: (shown, at, look) => {
      if (isOfSheet(shown, at)) learns.element.hidden = true;
      else learns.update(shown, at, look);
      thread.element.hidden = learns.isLarge;
      if (!learns.element.hidden) learns.connect();
    },
  };
  const board = { update: (shown, at, look) => picture.update(shown, at, look, asideAsked()) },
    views = [pairing, thread, sheet, allHeads, board, wholePass, { update: thread.connect }, training],
    drawn = [pairing, thread, learns, sheet, allHeads, picture, wholePass],
    main = h("div", { class: "main" }, ...drawn.map(view => view.element), line),
    root = h("div", { class: "viewer in-lesson" }, main);
  root.ontransitionend = ({ target }) => {
    if (target === root && pass) render(); // another theme (frame.css)
  };
  return {
    element: root,
    show(moment, { isCovered = false, isPresented = false }) {
      shown = moment;
      if (moment.document !== pass?.document) {
        pass = readPass(moment.document);
        where = fitted(pass, { ...readWhere(pass, `?${moment.at}`), present: false });
        isOpened = false;
        framed = null;
      }
      const cell = isCovered ? moment.askedCell : moment.answerCell;
      if (cell && cell !== framed) where = fitted(pass, { ...where, ...selectionAt(cell) });
      const isWordAsked = isCovered && !cell && (moment.question?.candidates?.some(each => "word" in each) ?? false);
      root.classList.toggle("asks-word", isWordAsked);
      if (isWordAsked) {
        const { query } = where.cell,
          key = pass.wordsAt(where.step).shared ? query : 0; // the one in the address may be the answer
        where = fitted(pass, { ...where, cell: { ...where.cell, key } });
      }
      framed = cell;
      askedStage = moment.answerCell ? pass.read(moment.answerCell).name : "";
      isAsked = isCovered && moment.question !== null;
      covers = new Set(isCovered ? moment.covers : []);
      where = { ...where, present: isPresented };
      render();
    },
    selected: () => pass && { pass, focus: focusOf(pass, where) },
    address: moment => moment === shown && searchAt(pass, { ...where, present: false }, `?${moment.at}`).slice(1),
    // The cell of a number in a text: highlighted, or opened.
    point: link => (link ? tools.point(...cellOf(link)) : tools.point(null, null)),
    open(link) {
      isOpened = true;
      where = fitted(pass, { ...where, ...inspected(pass, where, ...cellOf(link)) });
      render();
    },
    leave: () => {
      nextLetter.end();
      learns.end();
    },
  };
  // Selects a cell without leaving the step that the moment is in.
  function selectionAt(cell) {
    const { name, index } = pass.read(cell);
    return { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  }
  /** @returns {[string, number[]]} */
  function cellOf({ cell }) {
    const { name, index } = pass.read(cell);
    return [name, index];
  }
}

const KINDS = { pass: makePassPicture, ...OWN_PICTURES };

export const pictureOf = (moment, answer = _clicked => false) => KINDS[kindOf(moment)](answer);
const kindOf = ({ picture }) => picture?.kind ?? "pass";

// A picture for one moment after the other; answer(clicked) is as in makePassPicture.
export function makeMomentPicture(answer) {
  const box = h("div", { class: "lesson-picture" });
  let made = /** @type {any} */ (null),
    kind = "";
  // On a phone a tall picture scrolls by itself.
  const scrollTo = row => {
    if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };
  return {
    element: box,
    show(moment, { isCovered = false, isPresented = false }) {
      if (kindOf(moment) !== kind) {
        made?.leave();
        made = pictureOf(moment, answer);
        kind = kindOf(moment);
      }
      if (made.element.parentNode !== box) box.replaceChildren(made.element);
      made.show(moment, { isCovered, isPresented });
      scrollTo(box.querySelector(".hand th.chosen"));
    },
    clear: () => box.replaceChildren(),
    selected: () => made?.selected() ?? null,
    // What it shows of a moment, as an address of the walkthrough.
    address: moment => (box.contains(made?.element) && made.address(moment)) || moment.at,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}
