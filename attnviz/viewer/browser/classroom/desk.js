// The desk: what the speaker of a class has on a page. The code and how many are here, the answers on a board, and what is done
// with a question.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { makeAsking } from "./asking.js";
import { makeBoard } from "./answerDots.js";
import { doorsOf, makeClassCode } from "./classCode.js";
import { makeClassMenu } from "./classMenu.js";
import { makePlacedDots } from "./placedDots.js";

const APART = "The servers of the class have lost each other: those here go on.";

// `speaker` is that of classSpeaker.js, `lead(at, isShown)` goes where another device of the speaker's has led the class, if this page
// has it, else `open(at)` opens the page that has, and `openTalk()` that of a talk which the other device gives: `turn(by)` goes on in
// this one's, or back, as the other asks; changed() is told that a class was opened, or has ended. Returns {element,
// dialogs, isOpen, takeFocus(), standIn(body), open(), shows(place), end()}; a place is {at, isShown,
// question, title, picture, moment, scene} of a moment, moment where it is one of a talk of one's own, or {at} of a viewer, each with its
// pass and selected(), which gives {pass, focus} of the number that is selected; null where none may be asked for.
export function makeDesk(speaker, site, { lead, open, openTalk, turn }, changed) {
  const bar = element("section", "class-bar"),
    door = button("", () => code.open(speaker.room), "class-door"),
    count = element("p", "class-count"),
    acts = element("span", "class-acts"),
    said = element("p", "class-said"),
    board = makeBoard(),
    code = makeClassCode(site),
    dialogs = element("div", "class-dialogs"),
    asking = makeAsking(speaker, dialogs, () => tell(place)),
    menu = makeClassMenu(speaker, () => code.open(speaker.room));
  let place = null,
    questionName = "", // the question that is on the board
    wasOpen = Boolean(speaker.room),
    dots = null, // over the picture
    ledTo = null, // where another device has led this page, until something else is done here
    isAnswersShown = false;
  bar.setAttribute("aria-label", "Class");
  said.setAttribute("role", "status");
  bar.append(door, count, acts, said);
  dialogs.append(code.element, asking.panel, menu.panel);

  const show = is => {
    isAnswersShown = is;
    draw();
  };
  const actsOf = ({ round, isShown }) => {
    const any = place?.selected?.() ? [asking.button] : [];
    if (!round || !place?.question) return any;
    return [
      button(isAnswersShown ? "Hide answers" : "Show answers", () => show(!isAnswersShown)),
      ...(isShown
        ? []
        : [
            button(round.isOpen ? "Close answers" : "Open answers", () => speaker.openAnswers(!round.isOpen)),
            ...(round.number === 1 ? [button("Ask again", () => speaker.again())] : []),
          ]),
      ...any,
    ];
  };
  function draw() {
    const { room, now, said: why } = speaker;
    bar.hidden = !room && !why;
    board.element.hidden = true;
    door.hidden = count.hidden = acts.hidden = !room;
    write(said, why || (now?.isApart ? APART : ""));
    if (!room) {
      asking.leave();
      dots?.hide();
      return;
    }
    drawDoor(door, room, doorsOf(site, room));
    write(count, now ? countOf(now) : "");
    if (!now) return;
    drawActs(acts, [...actsOf(now), menu.button]);
    menu.update(place);
    asking.update();
    drawBoard(now);
    if (speaker.led && !ledTo?.isGoing) go(speaker.led);
    const by = speaker.presses();
    if (by && place?.moment) turn(by);
  }
  function drawBoard({ round, isShown, audience: { counts } }) {
    const isOnBoard = Boolean(isAnswersShown && round && place?.question),
      isInPlace = isOnBoard && dots?.update(place.question, counts, place.isShown, place.picture);
    if (!isOnBoard) dots?.hide();
    board.element.hidden = !isOnBoard || isInPlace;
    board.element.classList.toggle("truth-beside", !board.element.hidden && isShown);
    if (isOnBoard && !isInPlace) board.update(place.question, counts, place.isShown, place.title);
  }
  function go(to) {
    speaker.followed();
    asking.leave();
    if (!to.at) return;
    if (to.kind === "talk") return openTalk();
    ledTo = { ...to, isGoing: true };
    const isHere = lead(to.at, to.isShown);
    if (!isHere) open(to.at);
    else if (to.kind === "question") asking.join(to.question, to.isShown);
    ledTo.isGoing = false;
  }
  function tell({ at, isShown = false, moment = null }, isLedThere = false) {
    speaker.shows({ at, isShown, moment }, isLedThere);
  }
  // Whether a place is shown as another device has led here.
  function isLed({ at, isShown = false }) {
    if (ledTo?.isGoing)
      ledTo.at = at; // as this page writes it
    else if (ledTo?.at !== at || ledTo.isShown !== isShown) ledTo = null;
    return ledTo !== null;
  }
  const stop = speaker.onChange(() => {
    draw();
    if (wasOpen === Boolean(speaker.room)) return;
    wasOpen = !wasOpen;
    changed();
  });
  draw();
  return {
    element: bar,
    // Draws answers in a moment: on a board, or where it has them in its picture.
    standIn: body => {
      dots = makePlacedDots(body);
      body.prepend(board.element);
      body.append(dots.element);
    },
    dialogs,
    takeFocus: () => door.focus({ preventScroll: true }),
    get isOpen() {
      return Boolean(speaker.room);
    },
    open: async () => {
      if (!speaker.room) await speaker.open();
      if (speaker.room) code.open(speaker.room);
    },
    shows: at => {
      place = at;
      asking.at(at);
      const name = at.question ? at.at : "";
      if (name !== questionName) isAnswersShown = false;
      questionName = name;
      if (!asking.isOpen) tell(at, isLed(at));
      draw();
    },
    end: stop,
  };
}

function drawDoor(door, { code }, { typed }) {
  redraw(door, [typed.slice(0, -code.length), element("strong", "", code)]);
  door.setAttribute("aria-label", `The class is at ${typed}. Show its QR code.`);
}

// Only where they are others: answers come all the time.
function drawActs(acts, wanted) {
  const texts = each => [...each].map(({ textContent }) => textContent).join("\n");
  if (texts(acts.children) !== texts(wanted)) redraw(acts, wanted);
}

function countOf({ audience: { here, around, answered }, round }) {
  return `${here} here${around ? ` · ${around} look around` : ""}${round ? ` · ${answered} answered` : ""}`;
}
