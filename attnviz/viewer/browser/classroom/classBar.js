// The bar of a speaker with a class: its code, its menu, and the question that is open.
import { button, element, redraw, write } from "../dom/element.js";
import { codedOf, drawCode } from "../views/qrCode.js";
import { makePopover } from "../dom/popup.js";
import { saveFile } from "../views/download.js";
import { makeAsking } from "./asking.js";
import { makeBoard, makePlacedDots } from "./answerDots.js";

const CLOSING = new Set(["Escape", "PageDown", "PageUp", "ArrowRight", "ArrowLeft", "q", "Q"]);

// Where to join: {typed, coded}; `typed` is what people type, `coded` what a phone's camera reads.
export function joinAddresses(site, { code, link }) {
  const base = new URL(".", site);
  return { typed: `${base.host}${base.pathname}${code}`, coded: `${base.href}${code}${link ? `#${link}` : ""}` };
}

// Returns {element, open(room)}; a click or Escape closes it.
function makeClassCode(site) {
  const box = element("dialog", "qr-code class-code asks"); // a presenter remote closes it too
  box.setAttribute("aria-label", "The code of the class");
  box.onclick = () => box.close();
  box.onkeydown = event => {
    if (!CLOSING.has(event.key)) return;
    event.preventDefault();
    box.close();
  };
  return {
    element: box,
    open: room => {
      const { typed, coded } = joinAddresses(site, room),
        { address, notices } = codedOf(coded),
        line = element("p", "typed-code");
      line.append(typed.slice(0, -room.code.length), element("strong", "", room.code));
      box.replaceChildren(
        ...(address ? [drawCode(address)] : []),
        line,
        element("p", "", "Scan it, or type the address. Nobody sees who says what."),
        ...notices.map(text => element("p", "", text)),
        button("Close", () => {}),
      );
      box.showModal();
    },
  };
}

// Returns {button, panel, update(place)}.
function makeClassMenu(speaker, showCode) {
  const opener = button("Class", null),
    panel = makePopover(opener, "class-menu", "The class"),
    handOverLine = element("p", "class-hand"),
    pointed = element("ul", "class-pointed");
  handOverLine.setAttribute("role", "status");
  const handOver = async () => {
    const offer = await speaker.hand();
    if (offer) {
      const strong = element("strong", "", offer.code);
      handOverLine.replaceChildren(
        "On the other device, open this site with ",
        strong,
        " as its path, within five minutes.",
      );
    }
  };
  const save = async () => {
    const text = await speaker.counts();
    if (typeof text === "string") saveFile(text, "attnviz_class.csv", "text/csv");
  };
  panel.append(
    button("QR code", () => {
      panel.hidePopover();
      showCode();
    }),
    button("Another device of mine", handOver),
    handOverLine,
    button("Save the counts", save),
    button("End the class", () => {
      panel.hidePopover();
      speaker.end();
    }),
    element("h3", "", "Not understood"),
    pointed,
  );
  return {
    button: opener,
    panel,
    update: place => {
      const cells = speaker.now?.audience.pointed ?? [];
      write(opener, cells.length ? `Class · ${cells.reduce((sum, { count }) => sum + count, 0)} ?` : "Class");
      redraw(
        pointed,
        cells.length
          ? cells.map(each => element("li", "", `${each.count} × ${nameOf(each, place)}`))
          : [element("li", "", "Nobody has pointed at a number.")],
      );
    },
  };
}

// Names a number that phones pointed at: in words if its pass is on the screen.
function nameOf({ cell, at }, place) {
  const number = place?.pass?.read(cell);
  if (!number) return `${cell} at ${at}`;
  const { title, axes } = place.pass.stages.get(number.name);
  return `${title}: ${axes.map(({ labels }, nth) => labels[number.index[nth]]).join(", ")}`;
}

const APART = "The servers of the class have lost each other: those here go on.";

// `speaker` is that of classSpeaker.js, `lead(at, isShown)` goes where another device of the speaker's has led the class, if this page
// has it, else `open(at)` opens the page that has, and `openTalk()` that of a talk which the other device gives: `turn(by)` goes on in
// this one's, or back, as the other asks; changed() is told that a class was opened, or has ended. Returns {element,
// dialogs, isOpen, takeFocus(), standIn(body), open(), shows(place), end()}; a place is {at, isShown,
// question, title, picture, moment, scene} of a moment, moment where it is one of a talk of one's own, or {at} of a viewer, each with its
// pass and selected(), which gives {pass, focus} of the number that is selected; null where none may be asked for.
export function makeClassBar(speaker, site, { lead, open, openTalk, turn }, changed) {
  const bar = element("section", "class-bar"),
    joinButton = button("", () => code.open(speaker.room), "class-door"),
    count = element("p", "class-count"),
    buttons = element("span", "class-acts"),
    message = element("p", "class-said"),
    board = makeBoard(),
    code = makeClassCode(site),
    dialogs = element("div", "class-dialogs"),
    asking = makeAsking(speaker, dialogs, () => sendToClass(place)),
    menu = makeClassMenu(speaker, () => code.open(speaker.room));
  let place = null,
    questionName = "", // of the question on the board
    wasOpen = Boolean(speaker.room),
    dots = null, // over the picture
    ledTo = null, // where another device has led this page, until the user moves on here
    isAnswersShown = false;
  bar.setAttribute("aria-label", "Class");
  message.setAttribute("role", "status");
  bar.append(joinButton, count, buttons, message);
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
    const { room, now, message: why } = speaker;
    bar.hidden = !room && !why;
    board.element.hidden = true;
    joinButton.hidden = count.hidden = buttons.hidden = !room;
    write(message, why || (now?.isApart ? APART : ""));
    if (!room) {
      asking.leave();
      dots?.hide();
      return;
    }
    drawJoinButton(joinButton, room, joinAddresses(site, room));
    write(count, now ? countOf(now) : "");
    if (!now) return;
    drawButtons(buttons, [...actsOf(now), menu.button]);
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
  function sendToClass({ at, isShown = false, moment = null }, isLedThere = false) {
    speaker.shows({ at, isShown, moment }, isLedThere);
  }
  // Whether this page shows a place because another device led it there.
  function isLed({ at, isShown = false }) {
    if (ledTo?.isGoing)
      ledTo.at = at; // in this page's notation
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
    // Draws answers into a moment: on a board, or over the picture where they belong.
    standIn: body => {
      dots = makePlacedDots(body);
      body.prepend(board.element);
      body.append(dots.element);
    },
    dialogs,
    takeFocus: () => joinButton.focus({ preventScroll: true }),
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
      if (!asking.isOpen) sendToClass(at, isLed(at));
      draw();
    },
    end: stop,
  };
}

function drawJoinButton(joinButton, { code }, { typed }) {
  redraw(joinButton, [typed.slice(0, -code.length), element("strong", "", code)]);
  joinButton.setAttribute("aria-label", `The class is at ${typed}. Show its QR code.`);
}

// Redraws only if they changed: answers arrive all the time.
function drawButtons(box, buttons) {
  const texts = each => [...each].map(({ textContent }) => textContent).join("\n");
  if (texts(box.children) !== texts(buttons)) redraw(box, buttons);
}

function countOf({ audience: { here, around: browsing, answered }, round }) {
  return `${here} here${browsing ? ` · ${browsing} look around` : ""}${round ? ` · ${answered} answered` : ""}`;
}
