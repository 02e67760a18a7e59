// The desk: what the speaker of a class has on a page. The code and how many are here, the answers on a board, and what is done
// with a question.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { makeAsking } from "./asking.js";
import { makeBoard } from "./answerDots.js";
import { doorsOf, makeClassCode } from "./classCode.js";
import { makeClassMenu } from "./classMenu.js";

// `speaker` is that of classSpeaker.js, `lead(at, isShown)` goes where another device of the speaker's has led the class, if this page
// has it; changed() is told that a class was opened, or has ended. Returns {element, board, dialogs, isOpen, open(), shows(place), end()}; a place is {at, isShown, question, title} of a
// moment, or {at, pass, focus} of a viewer.
export function makeDesk(speaker, site, lead, changed) {
  const bar = element("section", "class-bar"),
    door = button("", () => code.open(speaker.room), "class-door"),
    count = element("p", "class-count"),
    acts = element("span", "class-acts"),
    said = element("p", "class-said"),
    board = makeBoard(),
    code = makeClassCode(site),
    dialogs = element("div", "class-dialogs"),
    asking = makeAsking(speaker, dialogs),
    menu = makeClassMenu(speaker, () => code.open(speaker.room));
  let place = null,
    asked = "", // the question that is on the board
    wasOpen = Boolean(speaker.room),
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
    if (!round || !place?.question) return place?.focus ? [asking.button] : [];
    return [
      button(isAnswersShown ? "Hide answers" : "Show answers", () => show(!isAnswersShown)),
      ...(isShown
        ? []
        : [
            button(round.isOpen ? "Close answers" : "Open answers", () => speaker.openAnswers(!round.isOpen)),
            ...(round.number === 1 ? [button("Ask again", () => speaker.again())] : []),
          ]),
    ];
  };
  // Only where they are others: answers come all the time.
  function drawActs(wanted) {
    const texts = each => [...each].map(({ textContent }) => textContent).join("\n");
    if (texts(acts.children) !== texts(wanted)) redraw(acts, wanted);
  }
  function draw() {
    const { room, now } = speaker;
    bar.hidden = !room;
    board.element.hidden = true;
    if (!room) {
      write(said, speaker.said);
      bar.hidden = !speaker.said;
      door.hidden = count.hidden = acts.hidden = true;
      return;
    }
    door.hidden = count.hidden = acts.hidden = false;
    const { typed } = doorsOf(site, room);
    redraw(door, [typed.slice(0, -room.code.length), element("strong", "", room.code)]);
    door.setAttribute("aria-label", `The class is at ${typed}. Show its QR code.`);
    write(
      said,
      speaker.said || (now?.isApart ? "The servers of the class have lost each other: those here go on." : ""),
    );
    if (!now) return write(count, "");
    const { here, around, answered, counts } = now.audience;
    const parts = [
      `${here} here`,
      ...(around ? [`${around} look around`] : []),
      ...(now.round ? [`${answered} answered`] : []),
    ];
    write(count, parts.join(" · "));
    drawActs([...actsOf(now), menu.button]);
    menu.update(place);
    asking.update();
    const isOnBoard = Boolean(isAnswersShown && now.round && place?.question);
    board.element.hidden = !isOnBoard;
    board.element.classList.toggle("truth-beside", now.isShown);
    if (isOnBoard) board.update(place.question, counts, place.isShown, place.title);
    const led = speaker.led;
    if (led && lead(led.at, led.isShown)) speaker.followed();
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
    board: board.element,
    dialogs,
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
      if (name !== asked) isAnswersShown = false;
      asked = name;
      if (!asking.isOpen) speaker.shows({ at: at.at, isShown: at.isShown ?? false });
      draw();
    },
    end: stop,
  };
}
