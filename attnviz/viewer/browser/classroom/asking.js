// Asking a class: what can be asked of the pass that is shown, and the question with its answers.
import { visibleRow } from "../model/story.js";
import { button, element, redraw, write } from "../dom/element.js";
import { openDialog, makePopover } from "../dom/popup.js";
import { makeBoard } from "./answerDots.js";
import { drawWorking, verdictOn } from "../lesson/question.js";

function plainOf(runs) {
  return runs.map(([, text]) => text.text ?? text).join("");
}

const ROWS = ["scores", "scaled", "masked", "attention"],
  SHARES = ["attention", "probabilities"];

const GIVEN = "It is given, so there is nothing to work it out from. Select a number that is computed.",
  HIDDEN = "The mask hides this pair. Select a visible one.",
  ALONE = "This word sees one word alone, which has all of its attention. Select another row.";

// {kinds, why}: which of "number", "share" and "word" can be asked about a cell; why its number can't be.
/** @param {Pass} pass @param {Cell} cell */
export function askableOf(pass, { name, index }) {
  const [stage] = name.split(/_\d+$/),
    why = reasonOf(pass, { name, index }, SHARES.includes(stage)),
    ofNumber = SHARES.includes(stage) ? "share" : "number";
  return { kinds: [...(why ? [] : [ofNumber]), ...(ROWS.includes(stage) ? ["word"] : [])], why };
}

/** @param {Pass} pass @param {Cell} cell */
function reasonOf(pass, { name, index }, isShare) {
  if (!pass.stages.get(name).rule || pass.isOverridden(name, index)) return GIVEN;
  if (!Number.isFinite(pass.number(name, index)) || (isShare && pass.isUnseen(name, index))) return HIDDEN;
  return isShare && visibleRow(pass, { name, index }).length < 2 ? ALONE : "";
}

const QUESTIONS = {
  number: "Which number is it?",
  share: "Which share is it?",
  word: "Which word has the largest in this row?",
};
const RETRY_MS = 1000; // before a retry

// Returns {button, panel, at(place), isOpen, join(about, isShown), leave(), update()}: what opens a dialog in its home, for the number that is
// selected; it is opened and closed too where another device of the speaker's has asked, and has gone on. back() leads the class
// back to where the page is.
export function makeAsking(speaker, home, back) {
  const stage = element("dialog", "class-stage viewer asks"),
    head = element("header"),
    room = element("p"),
    count = element("p", "class-count"),
    title = element("h2"),
    body = element("div", "class-asked"),
    workingBox = element("div", "class-given"),
    board = makeBoard(),
    truth = element("div", "verdict"),
    buttons = element("footer"),
    opener = button("Ask the class", null),
    panel = makePopover(opener, "class-ask", "What the class is asked");
  let place = null,
    question = null,
    about = null, // {kind, cell}
    isShown = false,
    isLeft = false; // whether another device has closed it
  stage.setAttribute("aria-label", "A question to the class");
  head.append(room, count);
  body.append(workingBox, board.element);
  stage.append(head, title, body, truth, buttons);
  stage.onkeydown = event => {
    // a presenter remote shows the answer, then closes
    if (!["PageDown", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    if (isShown) stage.close();
    else show();
  };
  stage.onclose = () => {
    if (stage.open) return; // the close event fires late, after the next dialog may have opened
    about = question = null;
    if (!isLeft) back();
  };
  panel.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "open") redraw(panel, drawKinds());
  });
  const ask = async (kind, cell) => {
    panel.hidePopover();
    const request = { kind, cell };
    begin(request, false);
    speaker.shows({ at: place.scene ?? place.at, question: request });
    await untilThere(speaker);
    if (about !== request) return;
    if (speaker.message || speaker.now?.round === null) return stage.close();
    fetchMoment(request);
  };
  // A reply that arrives after the question has changed is dropped.
  async function fetchMoment(request) {
    if (about !== request) return;
    let moment;
    try {
      moment = await speaker.moment();
    } catch (error) {
      if (about !== request) return;
      write(count, error.isRefused ? error.message : "The question has not come. It is asked for again in a moment.");
      if (!error.isRefused) setTimeout(fetchMoment, RETRY_MS, request);
      return;
    }
    if (about === request) hear(moment);
  }
  function hear(moment) {
    question = moment.question;
    write(title, plainOf(question.prompt));
    redraw(workingBox, moment.working ? [drawWorking(moment.working)] : []);
    workingBox.hidden = !moment.working;
    body.hidden = false;
    update();
  }
  function drawKinds() {
    const { pass, focus } = place.selected(),
      { kinds, why } = askableOf(pass, focus),
      cell = pass.address(focus.name, focus.index);
    return [
      element("p", "", `The number that is selected: ${pass.nameOf(focus.name, focus.index)}.`),
      ...(why ? [element("p", "", why)] : []),
      ...kinds.map(kind => button(QUESTIONS[kind], () => ask(kind, cell))),
    ];
  }
  function begin(what, isShownThere) {
    about = what;
    isShown = isShownThere;
    isLeft = false;
    question = null;
    write(title, "");
    body.hidden = true;
    redraw(truth, []);
    redraw(buttons, []);
    redraw(room, ["room ", element("strong", "", speaker.room.code)]);
    write(count, "The question is put …");
    openDialog(stage, home);
  }
  const show = () => {
    if (!question) return; // not fetched yet
    isShown = true;
    speaker.shows({ at: place.scene ?? place.at, question: about, isShown });
    update();
  };
  function update() {
    if (stage.open && !question && speaker.message) write(count, speaker.message); // the dialog covers the bar that shows it
    if (!stage.open || !question || !speaker.now) return;
    const { audience, round } = speaker.now;
    isShown ||= speaker.isTold && speaker.now.isShown;
    write(count, `${audience.here} here · ${audience.answered} answered`);
    board.update(question, audience.counts, isShown);
    redraw(truth, isShown ? verdictOn(question, null).sentences.map(runs => element("p", "", plainOf(runs))) : []);
    redraw(buttons, [
      ...(isShown
        ? []
        : [
            button("Reveal", show, "check"),
            ...(round
              ? [button(round.isOpen ? "Close answers" : "Open answers", () => speaker.openAnswers(!round.isOpen))]
              : []),
            ...(round?.number === 1 ? [button("Ask again", () => speaker.again())] : []),
          ]),
      button("Back to the pass", () => stage.close(), isShown ? "check" : ""),
    ]);
  }
  return {
    get isOpen() {
      return stage.open;
    },
    button: opener,
    panel,
    at: now => {
      place = now;
    },
    join: (what, isShownThere) => {
      begin(what, isShownThere);
      speaker.shows({ at: place.scene ?? place.at, question: about, isShown }, true);
      fetchMoment(what);
    },
    leave: () => {
      if (!stage.open) return; // the close event fires later and must not lead the class back
      isLeft = true;
      stage.close();
    },
    update,
  };
}

// Resolves once the class has the question, or it was refused.
function untilThere(speaker) {
  return new Promise(done => {
    const stop = speaker.onChange(() => {
      if (!speaker.isTold || !(speaker.now.round || speaker.message)) return;
      stop();
      done(null);
    });
  });
}
