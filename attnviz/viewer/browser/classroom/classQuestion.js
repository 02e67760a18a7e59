// Asks the class about a number of the pass on the screen: what can be asked, the question's dialog, and its answers.
import { readPass } from "../model/pass.js";
import { visibleRow } from "../model/story.js";
import { button, h, makePopover, openDialog, redraw, write } from "../dom/element.js";
import { makeAnswerBoard } from "./answerDots.js";
import { neighbourButtons } from "../lesson/neighbour.js";
import { drawWorking, verdictOn } from "../lesson/question.js";
import { plainText, unlinked } from "../lesson/sentence.js";
import { drawRuns } from "../dom/runs.js";
import { retry } from "../shell/request.js";

const ROWS = ["scores", "scaled", "masked", "attention"],
  WEIGHTS = ["attention", "probabilities"];

const INPUT = "It is given, so there is nothing to work it out from. Select a number that is computed.",
  HIDDEN = "The mask hides this pair. Select a visible one.",
  ALONE = "This word sees one word alone, which has all of its attention. Select another row.";

// {kinds, why}: which of "number", "share" and "word" can be asked about a cell; why its number can't be.
/** @param {Pass} pass @param {Cell} cell */
export function askableOf(pass, cell) {
  const [stage] = cell.name.split(/_\d+$/),
    isWeight = WEIGHTS.includes(stage),
    why = whyNot(pass, cell, isWeight),
    ofNumber = isWeight ? "share" : "number";
  return { kinds: [...(why ? [] : [ofNumber]), ...(ROWS.includes(stage) ? ["word"] : [])], why };
}

/** @param {Pass} pass @param {Cell} cell */
function whyNot(pass, { name, index }, isWeight) {
  if (!pass.stages.get(name)?.rule || pass.isOverridden(name, index)) return INPUT;
  if (!Number.isFinite(pass.number(name, index)) || (isWeight && pass.isUnseen(name, index))) return HIDDEN;
  return isWeight && visibleRow(pass, { name, index }).length < 2 ? ALONE : "";
}

const QUESTIONS = {
  number: "Which number is it?",
  share: "Which share is it?",
  word: "Which word has the largest in this row?",
};
const REMOTE = new Map([
  ["PageDown", "next"],
  ["ArrowRight", "next"],
  ["PageUp", "back"],
  ["ArrowLeft", "back"],
]);
const NOT_COME = "The question has not come. It is asked for again in a moment.";

export function roundButtons(speaker, { round, isShown }, showsClass) {
  if (!round || isShown) return [];
  const opening = button(round.isOpen ? "Close answers" : "Open answers", () => speaker.openAnswers(!round.isOpen));
  const talking = neighbourButtons(speaker.now, speaker.command);
  return [
    !showsClass && opening, // what is shown can't be changed
    ...(round.number === 1 ? [...talking, button("Ask again", () => speaker.again())] : []),
  ].filter(Boolean);
}

// Asks about the selected number; the dialog with the question also opens and closes as the speaker's other device asks and goes on.
export function makeClassQuestion(speaker, home, back) {
  const roomLine = h("p"),
    count = h("p", { class: "class-count" }),
    title = h("h2"),
    workingBox = h("div", { class: "class-given" }),
    board = makeAnswerBoard(),
    body = h("div", { class: "class-asked" }, workingBox, board.element),
    texts = h("p", { class: "asked-words" }), // of two, that of which one word asks
    truth = h("div", { class: "verdict" }),
    buttons = h("footer"),
    head = h("header", {}, roomLine, count),
    names = "class-stage viewer asks",
    dialog = h(
      "dialog",
      { class: names, "aria-label": "A question to the class" },
      head,
      title,
      texts,
      body,
      truth,
      buttons,
    ),
    opener = button("Ask the class"),
    menu = makePopover(opener, "class-ask", "What the class is asked");
  let place = /** @type {any} */ (null),
    question = /** @type {any} */ (null),
    about = /** @type {{ kind: string, cell: string } | null} */ (null),
    isShown = false,
    showsClass = false, // whether the answers of the class are shown
    rounds = 0,
    isClosedElsewhere = false; // by another device
  dialog.onkeydown = event => {
    const what = REMOTE.get(event.key);
    if (!what) return;
    event.preventDefault();
    press(what);
  };
  // As in a lesson (presses.js): the question, the answers of the class, the right one; another press at either end closes the dialog.
  function press(what) {
    if (!dialog.open) return false;
    if (what === "back" ? !(isShown || showsClass) : isShown) dialog.close();
    else if (!question)
      return true; // not fetched yet
    else if (what === "back") show({ showsClass: isShown && showsClass, isShown: false });
    else if (what === "reveal" || (what === "next" && showsClass)) show({ showsClass, isShown: true });
    else show({ showsClass: true, isShown: false });
    return true;
  }
  dialog.onclose = () => {
    if (dialog.open) return; // the close event fires late, after the next dialog may have opened
    about = question = null;
    if (!isClosedElsewhere) back();
  };
  menu.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "open") redraw(menu, drawKinds());
  });
  const send = led => speaker.sendPlace({ at: place.scene ?? place.at, question: about, isShown, showsClass }, led);
  async function ask(kind, cell) {
    menu.hidePopover();
    const request = { kind, cell };
    begin(request);
    send();
    await untilAsked(speaker);
    if (about !== request) return;
    if (speaker.message || speaker.now?.round === null) return dialog.close();
    fetchQuestion(request);
  }
  async function fetchQuestion(request) {
    const isWanted = () => about === request && speaker.room !== null,
      reply = await retry(speaker.moment, () => write(count, NOT_COME), isWanted);
    if (!isWanted()) return;
    if (!reply.isDone) return write(count, reply.message);
    const { workedSolution: solution } = reply.data;
    question = reply.data.question;
    redraw(title, drawRuns(unlinked(question.prompt)));
    redraw(texts, reply.data.document ? drawTexts(readPass(reply.data.document), request) : []);
    redraw(workingBox, [solution && drawWorking(solution)]);
    workingBox.hidden = !solution;
    body.hidden = false;
    update();
  }
  function drawKinds() {
    const { pass, focus } = place.selected(),
      { kinds, why } = askableOf(pass, focus),
      cell = pass.address(focus.name, focus.index);
    return [
      h("p", {}, `The number that is selected: ${pass.nameOf(focus.name, focus.index)}.`),
      why && h("p", {}, why),
      ...kinds.map(kind => button(QUESTIONS[kind], () => ask(kind, cell))),
    ];
  }
  function begin(what, shown = { isShown: false, showsClass: false }) {
    about = what;
    ({ isShown, showsClass } = shown);
    rounds = 0;
    isClosedElsewhere = false;
    question = null;
    write(title, "");
    redraw(texts, []);
    body.hidden = true;
    redraw(truth, []);
    redraw(buttons, []);
    redraw(roomLine, ["room ", h("strong", {}, speaker.room.code)]);
    write(count, "The question is put …");
    openDialog(dialog, home);
  }
  function show(shown) {
    ({ isShown, showsClass } = shown);
    send();
    update();
  }
  function update() {
    if (dialog.open && !question && speaker.message) write(count, speaker.message); // the dialog covers the bar that shows it
    if (!dialog.open || !question || !speaker.now) return;
    const { audience, round } = speaker.now;
    if (speaker.isShownElsewhere) {
      ({ isShown } = speaker.now);
      ({ showsClass } = audience);
      speaker.noteFollowed();
      send({ isLed: true });
    }
    const isAgain = rounds > 0 && round?.number > rounds;
    rounds = round?.number ?? 0;
    if (isAgain && showsClass) return show({ showsClass: false, isShown });
    write(count, `${rounds === 2 ? "Second vote · " : ""}${audience.here} here · ${audience.answered} answered`);
    board.update(question, { counts: showsClass ? audience.counts : null, isShown, more: showsClass ? audience : {} });
    redraw(truth, isShown ? verdictOn(question, null).sentences.map(runs => h("p", {}, plainText(runs))) : []);
    redraw(buttons, [
      !(isShown || showsClass) && button("Show answers", () => press("next"), "check"),
      !isShown && button("Reveal", () => press("reveal"), showsClass ? "check" : ""),
      ...roundButtons(speaker, { round, isShown }, showsClass),
      button("Back to the pass", () => dialog.close(), isShown ? "check" : ""),
    ]);
  }
  return {
    get isOpen() {
      return dialog.open;
    },
    button: opener,
    menu,
    update,
    setPlace(now) {
      place = now;
    },
    press,
    join(what, shown) {
      begin(what, shown);
      send({ isLed: true });
      fetchQuestion(what);
    },
    leave() {
      if (!dialog.open) return;
      isClosedElsewhere = true; // the close event fires later and must not lead the class back
      dialog.close();
    },
  };
}

// The words of the text that a cell's query is of, which is bold; nothing where the answers are all words there are.
function drawTexts(pass, { cell }) {
  const { name, index } = pass.read(cell),
    { axes, step } = pass.stages.get(name),
    words = pass.wordsAt(step),
    at = axes.findIndex(each => each.name === "query");
  if (words.shared || at < 0) return [];
  const parts = words.query.flatMap((word, nth) => [" ", nth === index[at] ? h("strong", {}, word) : word]);
  return [words.sides[0] && `${words.sides[0]}:`, ...parts];
}

/** Resolves once the class has the question, or it was refused. @returns {Promise<void>} */
const untilAsked = speaker =>
  new Promise(done => {
    const stop = speaker.onChange(() => {
      if (!speaker.isUpToDate || !(speaker.now.round || speaker.message)) return;
      stop();
      done();
    });
  });
