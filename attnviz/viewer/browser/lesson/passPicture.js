// The picture of a pass in a lesson: the viewer's own sheet, arcs or matrices, with what would give an answer away covered.
import { readPlace } from "../scene/address.js";
import { coloursOf } from "../elements/colour.js";
import { element, redraw } from "../elements/element.js";
import { drawStory, titleOf } from "../panel/numberStory.js";
import { lookAt, withPair } from "../scene/looks.js";
import { makeNextLetter } from "../words/nextLetter.js";
import { makePairing } from "../words/pairing.js";
import { makePicture } from "../picture/picture.js";
import { makeSheet } from "../sheet/sheet.js";
import { makeThread } from "../words/thread.js";
import { makeTools } from "../picture/tools.js";
import { makeWholePass } from "../map/wholepass.js";
import { readPass } from "../pass/pass.js";
import { isSheet } from "../scene/bands.js";
import { fitted, focusOf, inspected, stepAt } from "../scene/state.js";
import { keepingFocus } from "../viewer/keepFocus.js";

// answer({word} or {cell}) takes what is clicked as an answer, and says whether it is one. Returns {element, show(moment,
// isCovered, isPresented), selected(), point(link), open(link), leave()}.
export function makePassPicture(answer) {
  const root = element("div", "viewer in-lesson"),
    main = element("div", "main"),
    line = element("div", "number-line");
  let pass = null,
    where = null,
    covers = new Set(),
    framed = null, // the cell that the moment asks about, or that its answer is read off
    askedStage = "", // the stage of that cell
    isOpened = false; // whether somebody asked for a number
  const isShown = stage => !covers.has(stage);
  const draw = () => {
    const colours = coloursOf(root, pass.document.palette);
    const own = {
      ...lookAt(pass, where, false),
      reveal: covers.size ? "covered" : "all",
      lines: null,
      shown: isShown,
      colours,
    };
    const look = withPair(own, pass, where, () => isShown);
    root.classList.toggle("of-one-word", isSheet(pass, where));
    root.classList.toggle("covered", covers.size > 0);
    if (covers.size)
      nextLetter.element.remove(); // its bars are answers
    else {
      main.insertBefore(nextLetter.element, sheet.element);
      nextLetter.update(pass, { ...where, present: true }, look); // as many letters as have room
    }
    for (const view of views) view.update(pass, where, look);
    const { name, index } = focusOf(pass, where);
    line.hidden = !isOpened || !isShown(name) || pass.number(name, index) === undefined; // what is covered has no story
    redraw(line, line.hidden ? [] : drawNumber(look, name, index));
  };
  const render = () => keepingFocus(root, draw);
  const drawNumber = (look, name, index) => [
    element("strong", "", titleOf(pass, look, { name, index })),
    drawStory(pass.story(name, index, where.cell), tools),
  ];
  const go = parts => {
    const { key, query } = parts.cell ?? {};
    const word =
      !parts.picked &&
      [
        [query, where.cell.query],
        [key, where.cell.key],
      ].find(([now, before]) => now !== undefined && now !== before);
    if (word && answer({ word: word[0] })) return;
    where = fitted(pass, { ...where, ...parts });
    render();
  };
  const tools = makeTools({
    go,
    through: go,
    errands: { begin: () => {} }, // a moment has all that it shows
    send: () => false,
    alone: "lesson",
    now: () => ({ pass, where }),
    show: () => {},
  });
  const opens = act => (name, index) => {
    if (answer({ cell: pass.address(name, index), word: wordOf(name, index) })) return;
    isOpened = true;
    act(name, index);
  };
  // A key answers nothing on its way: it leads on from a number that somebody has asked for.
  const arrive = (name, index) => {
    if (isOpened) tools.arrive(name, index);
  };
  const opening = { pick: opens(tools.pick), inspect: opens(tools.inspect), arrive };
  const acts = { ...tools, ...opening, set: () => {}, ask: null }; // there is no panel that answers
  // The word that a number of a row is of: its key.
  const wordOf = (name, index) => {
    const at = pass.stages.get(name).axes.findIndex(axis => axis.name === "key");
    return at < 0 ? undefined : index[at];
  };
  const pairing = makePairing(acts),
    thread = makeThread(acts),
    sheet = makeSheet(acts, true),
    picture = makePicture(acts),
    nextLetter = makeNextLetter(acts),
    whole = makeWholePass(acts);
  // In a talk what stands aside has no room beside the other matrices: where it is asked about, it stands alone.
  const asideAsked = () => {
    const holds = ({ aside, grid }) => aside && grid.flat().some(slot => slot?.stage === askedStage),
      alone = where.present && !isSheet(pass, where) && stepAt(pass, where).pictures.find(holds);
    return alone ? [{ ...alone, aside: false }] : undefined;
  };
  const board = { update: (shown, at, look) => picture.update(shown, at, look, asideAsked()) };
  const views = [pairing, thread, sheet, board, whole, { update: thread.connect }];
  main.append(...[pairing, thread, sheet, picture, whole].map(view => view.element), line);
  root.append(main);
  root.ontransitionend = ({ target }) => {
    if (target === root && pass) render(); // another theme (frame.css)
  };
  return {
    element: root,
    show: (moment, isCovered, isPresented) => {
      if (moment.document !== pass?.document) {
        pass = readPass(moment.document);
        where = fitted(pass, { ...readPlace(pass, `?${moment.at}`), present: false });
        isOpened = false;
        framed = null;
      }
      const cell = isCovered ? moment.askedCell : moment.answerCell;
      if (cell && cell !== framed) where = fitted(pass, { ...where, ...selected(cell) });
      framed = cell;
      askedStage = moment.answerCell ? pass.read(moment.answerCell).name : "";
      covers = new Set(isCovered ? moment.covers : []);
      where = { ...where, present: isPresented };
      render();
    },
    // The number that is selected, and its pass.
    selected: () => pass && { pass, focus: focusOf(pass, where) },
    // The cell of a number in a text: lit where it stands, or opened.
    point: link => tools.point(...(link ? cellOf(link) : [null, null])),
    open: link => {
      isOpened = true;
      const [name, index] = cellOf(link);
      where = fitted(pass, { ...where, ...inspected(pass, where, name, index) });
      render();
    },
    leave: () => nextLetter.end(),
  };
  // A cell, without leaving the step that the moment is in.
  function selected(cell) {
    const { name, index } = pass.read(cell);
    return { cell: pass.selectionAt(name, index, where.cell), picked: name, trail: [] };
  }
  function cellOf({ cell }) {
    const { name, index } = pass.read(cell);
    return [name, index];
  }
}
