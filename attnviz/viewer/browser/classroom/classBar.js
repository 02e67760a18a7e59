// The bar of a speaker with a class: its code, its menu, and the question that is open.
import { button, closingPopover, h, makePopover, redraw, write } from "../dom/element.js";
import { codedOf, drawCode } from "../views/qrCode.js";
import { saveFile } from "../views/download.js";
import { makeClassQuestion, roundButtons } from "./classQuestion.js";
import { makeAnswerBoard, makePlacedDots, needsBoard } from "./answerDots.js";
import { drawShownQuestions, makeTextLists, onHideKey, textButtons } from "../lesson/classTexts.js";
import { makeNeighbourTimer } from "../lesson/neighbour.js";
import { makeHandOver } from "../lesson/handOver.js";
import { isForClass } from "../lesson/presses.js";
import { makeSpeaker, openOnOtherPage, openTalk } from "./classSpeaker.js";
import { makeClassApi } from "../shell/server.js";

const CLOSING = new Set(["Escape", "PageDown", "PageUp", "ArrowRight", "ArrowLeft", "q", "Q"]);

// Where to join: {typed, coded}; `typed` is what people type, `coded` what a phone's camera reads.
export function joinAddresses(site, { code, link }) {
  const base = new URL(".", site);
  return { typed: `${base.host}${base.pathname}${code}`, coded: `${base.href}${code}${link ? `#${link}` : ""}` };
}

const drawTyped = (typed, code) => [typed.slice(0, -code.length), h("strong", {}, code)];

// A dialog that a click, Escape or a presenter remote closes.
function makeClassCode(site) {
  const box = h("dialog", { class: "qr-code class-code asks", "aria-label": "The code of the class" }),
    come = h("p", { class: "class-come" });
  box.onclick = () => box.close();
  box.onkeydown = event => {
    if (!CLOSING.has(event.key)) return;
    event.preventDefault();
    box.close();
  };
  return {
    element: box,
    open(room) {
      const { typed, coded } = joinAddresses(site, room),
        { address, notices } = codedOf(coded);
      redraw(box, [
        address && drawCode(address),
        h("p", { class: "typed-code" }, drawTyped(typed, room.code)),
        come,
        ...["Scan it, or type the address. Answers are anonymous.", ...notices].map(text => h("p", {}, text)),
        button("Close", () => {}),
      ]);
      box.showModal();
    },
    update: ({ audience: { here } }) => write(come, here === 1 ? "1 is here" : `${here} are here`),
  };
}

// Where the room sees the page, the code for another device isn't there: a speaker's window has it, which showSpeaker(), if any, opens.
function makeClassMenu(speaker, site, showCode, { isPresented, showSpeaker }) {
  const opener = button("Class"),
    panel = makePopover(opener, "class-menu", "The class"),
    handOver = makeHandOver(),
    pointed = h("ul", { class: "class-pointed" }),
    written = makeTextLists(speaker.command),
    closing = act => closingPopover(panel, act);
  let forgotten = "";
  const offering = button("Another device of mine", () => {
      forgotten = "";
      speaker.handOver();
    }),
    speaking = button("Speaker’s window", closing(showSpeaker)),
    elsewhere = h("p", {}, showSpeaker ? IN_WINDOW : NOT_PRESENTED);
  const forgetDevices = async () => {
    if (await speaker.forgetDevices()) forgotten = FORGOTTEN;
    drawHandOver();
  };
  const drawHandOver = () => handOver.update(isPresented() ? null : offerOf(speaker, site), forgotten);
  const save = (by, name) => async () => {
    const text = await speaker.counts(by);
    if (typeof text === "string") saveFile(text, name, "text/csv");
  };
  // After the end nobody has the counts any more, so it asks for confirmation.
  const endBox = h("div", { class: "class-end-box", role: "group", "aria-label": "End the class?", hidden: true }),
    showEndBox = isShown => {
      end.hidden = isShown;
      endBox.hidden = !isShown;
    },
    end = button("End the class", () => {
      showEndBox(true);
      endBox.lastElementChild.focus();
    }),
    saveFirst = save("answer", "attnviz_class.csv");
  endBox.append(
    h("p", {}, "After the end nobody has the answers any more."),
    button("End it", closing(speaker.end)),
    button("Save the counts first", saveFirst),
    button("Go on", () => {
      showEndBox(false);
      end.focus();
    }),
  );
  panel.addEventListener("beforetoggle", () => showEndBox(false));
  panel.append(
    button("QR code", closing(showCode)),
    speaking,
    offering,
    elsewhere,
    button("Forget devices", forgetDevices),
    handOver.element,
    written.element,
    button("Save the counts", saveFirst),
    button("Save a row for each phone", save("seat", "attnviz_class_rows.csv")),
    end,
    endBox,
    h("h3", {}, "Not understood"),
    pointed,
  );
  return {
    button: opener,
    panel,
    update(place) {
      const cells = speaker.now?.audience.pointed ?? [],
        sum = cells.reduce((total, { count }) => total + count, 0),
        counts = cells.map(each => `${each.count} × ${nameOf(each, place)}`),
        lines = counts.length ? counts : ["Nobody has pointed at a number."];
      speaking.hidden = !showSpeaker;
      offering.hidden = isPresented();
      elsewhere.hidden = !isPresented();
      drawHandOver();
      written.update(textsOf(speaker), { isHidden: isPresented() });
      write(opener, cells.length ? `Class · ${sum} ?` : "Class");
      pointed.replaceChildren(...lines.map(line => h("li", {}, line)));
    },
  };
}

// The code for another device, where one is offered.
function offerOf({ now }, site) {
  const code = now?.audience.offer;
  return code ? { site: String(site), code } : null;
}

// The class's answers in words to the question on this page, the listeners' questions, and whether they may ask any.
function textsOf({ now, isHere }) {
  const { texts = [], wondered = [] } = now?.audience ?? {};
  return { texts: isHere ? texts : [], wondered, takesQuestions: Boolean(now?.wonders) };
}

// Names a number that phones pointed at: in words if its pass is on the screen.
function nameOf({ cell, at }, place) {
  const number = place?.pass?.read(cell);
  if (!number) return `${cell} at ${at}`;
  const { title, axes } = place.pass.stages.get(number.name);
  return `${title}: ${axes.map(({ labels }, nth) => labels[number.index[nth]]).join(", ")}`;
}

const IN_WINDOW = "The code for another device of yours is in the speaker’s window, which the room doesn’t see.",
  NOT_PRESENTED = "The code for another device of yours is here while nothing is presented.";
const FORGOTTEN = "No other device of yours leads the class now.";
const APART = "The servers of the class have lost each other: those here go on.";

// lead(at, isShown, showsClass) goes where the speaker's other device leads if this page can, else open(at) opens another page, and openTalk()
// a talk. turn(what) does what was pressed there, changed() is called as a class begins or ends. isPresented() says whether the room sees the
// page. Of a lesson: showClass(is) shows the answers of the class or hides them, showSpeaker() opens a speaker's window, sendReport(report) tells it
// of the class. For setPlace() a place has a moment's {question, title, picture, fit, moment, scene}, if it is one, and selected(), which gives
// {pass, focus}; null where nothing may be asked.
export function makeClassBar(speaker, site, host) {
  const { lead, open, openTalk, turn, changed, isPresented, showClass, showSpeaker, sendReport } = host;
  const code = makeClassCode(site),
    showCode = () => code.open(speaker.room),
    joinButton = button("", showCode, "class-door"),
    count = h("p", { class: "class-count" }),
    buttons = h("span", { class: "class-acts" }),
    message = h("p", { class: "class-said", role: "status" }),
    timer = makeNeighbourTimer(),
    wonderedBox = h("div", { class: "wondered-box" }),
    parts = [joinButton, count, buttons, message, timer.element, wonderedBox],
    bar = h("section", { class: "class-bar", "aria-label": "Class" }, parts),
    board = makeAnswerBoard(),
    dialogs = h("div", { class: "class-dialogs" }),
    asking = makeClassQuestion(speaker, dialogs, () => sendToClass(place)),
    menu = makeClassMenu(speaker, site, showCode, { isPresented, showSpeaker });
  let place = /** @type {any} */ (null),
    wasOpen = Boolean(speaker.room),
    dots = /** @type {ReturnType<typeof makePlacedDots> | null} */ (null), // over the picture
    ledTo = /** @type {any} */ (null), // where another device has led this page, until the user moves on here
    lastLayout = "",
    isWordsBoard = false, // whether the board has answers in words
    rounds = 0; // of the question that is asked
  dialogs.append(code.element, asking.menu, menu.panel);
  function questionButtons(now) {
    const isAsked = now.round && place?.question,
      text = place?.showsClass ? "Hide answers" : "Show answers"; // before, the way on does
    return [
      ...(isAsked && place.isShown ? [button(text, () => showClass(!place.showsClass))] : []),
      ...(isAsked ? roundButtons(speaker, now, place.showsClass) : []),
      ...textButtons(boardTexts(), showTexts),
      ...(place?.selected?.() ? [asking.button] : []),
    ];
  }
  // The answers in words on the board, none without one, and the listeners' questions.
  function boardTexts() {
    const { texts, wondered } = textsOf(speaker);
    return { texts: isWordsBoard ? texts : [], wondered };
  }
  const showTexts = (ids, isShown) => speaker.command({ do: "texts", ids, isShown });
  const stopKey = onHideKey(
    document,
    () =>
      Object.values(boardTexts())
        .flat()
        .some(each => each.isShown),
    () => showTexts(null, false),
  );
  function draw() {
    const { room, now, message: why } = speaker;
    bar.hidden = !room && !why;
    board.element.hidden = true;
    sendReport?.(report());
    joinButton.hidden = count.hidden = buttons.hidden = !room;
    write(message, why || (now?.isApart ? APART : ""));
    if (!room) {
      asking.leave();
      dots?.hide();
      return;
    }
    const { typed } = joinAddresses(site, room);
    redraw(joinButton, drawTyped(typed, room.code));
    joinButton.setAttribute("aria-label", `The class is at ${typed}. Show its QR code.`);
    redraw(count, now ? countText(now) : []);
    if (!now) return;
    code.update(now);
    drawBoard(now);
    drawButtons(buttons, [...questionButtons(now), menu.button]);
    menu.update(place);
    asking.update();
    timer.update(now.talkSeconds ?? 0);
    redraw(wonderedBox, [drawShownQuestions(textsOf(speaker).wondered)]);
    if (speaker.led && !ledTo?.isGoing) follow(speaker.led);
    for (const what of speaker.presses()) if (!asking.press(what)) turn(what);
    noteRound(now);
  }
  function drawBoard({ audience }) {
    const isOnBoard = Boolean(place?.showsClass && isForClass(place.question)),
      counts = speaker.isHere ? audience.counts : [],
      more = speaker.isHere ? audience : {},
      isPlaced = isOnBoard && !needsBoard(place.question, more),
      isInPicture = isPlaced && dots?.update(place.question, counts, place.isShown, place.picture);
    showFirstTexts(isOnBoard && place.question.kind === "write", more.texts ?? []);
    if (!isPlaced) dots?.hide();
    board.element.hidden = !isOnBoard || isInPicture;
    board.element.classList.toggle("truth-beside", !board.element.hidden && place.isShown);
    const layout = JSON.stringify([isOnBoard, isInPicture, place?.isShown]);
    if (layout !== lastLayout) place?.fit?.();
    lastLayout = layout;
    if (isOnBoard && !isInPicture)
      board.update(place.question, { counts, isShown: place.isShown, title: place.title, more });
  }
  // A press that shows the answers of the class shows all texts, unless some were chosen before.
  function showFirstTexts(isWords, texts) {
    const isNew = isWords && !isWordsBoard;
    isWordsBoard = isWords;
    if (isNew && texts.length && !texts.some(each => each.isShown)) showTexts(null, true);
  }
  // Who is asked again doesn't see what the others have answered.
  function noteRound({ round }) {
    const before = rounds;
    rounds = speaker.isHere ? (round?.number ?? 0) : 0;
    if (before > 0 && rounds > before && place?.showsClass && !asking.isOpen) showClass?.(false);
  }
  // What the speaker's window shows of the class; null without one.
  function report() {
    const { room, now, message: why, isHere } = speaker;
    if (!room) return null;
    const { here = 0, answered = 0, counts = [] } = now?.audience ?? {},
      asked = isHere ? { answered, counts, round: now.round } : { answered: 0, counts: [], round: null };
    return { code: room.code, here, ...asked, message: why, offer: offerOf(speaker, site), written: textsOf(speaker) };
  }
  const devices = { handOver: speaker.handOver, forgetDevices: speaker.forgetDevices };
  function follow(to) {
    speaker.noteFollowed();
    asking.leave();
    if (!to.at) return;
    if (to.kind === "talk") return openTalk();
    ledTo = { ...to, isGoing: true };
    const isHere = lead(to.at, to.isShown, to.showsClass);
    if (!isHere) open(to.at);
    else if (to.kind === "question") asking.join(to.question, to);
    ledTo.isGoing = false;
  }
  function sendToClass({ at, isShown = false, showsClass = false, moment = null, image = null }, led = {}) {
    speaker.sendPlace({ at, isShown, showsClass, moment, image }, led);
  }
  // Whether this page shows a place because another device led it there.
  function isLed({ at, isShown = false, showsClass = false }) {
    if (ledTo?.isGoing)
      ledTo.at = at; // in this page's notation
    else if (ledTo?.at !== at || ledTo.isShown !== isShown || ledTo.showsClass !== showsClass) ledTo = null;
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
    dialogs,
    // Draws answers into a moment: on a board, or over the picture where they belong.
    attachTo(body) {
      dots = makePlacedDots(body);
      body.prepend(board.element);
      body.append(dots.element);
    },
    takeFocus: () => joinButton.focus({ preventScroll: true }),
    get isOpen() {
      return Boolean(speaker.room);
    },
    async open() {
      if (!speaker.room) await speaker.open();
      if (speaker.room) showCode();
    },
    // Does what was pressed in the speaker's window.
    act: what =>
      typeof what === "object"
        ? speaker.command(what)
        : { again: speaker.again, close: () => speaker.openAnswers(false), ...devices }[what]?.(),
    sendReport: () => sendReport?.(report()),
    setPlace(at) {
      place = at;
      asking.setPlace(at);
      if (!asking.isOpen) sendToClass(at, { isLed: isLed(at) });
      draw();
    },
    end() {
      stop();
      stopKey();
      timer.end();
    },
  };
}

// Redraws only if they changed: answers arrive all the time.
function drawButtons(box, buttons) {
  const texts = each => [...each].map(({ textContent }) => textContent).join("\n");
  if (texts(box.children) !== texts(buttons)) redraw(box, buttons);
}

const countText = ({ audience: { here, around, answered }, round }) => [
  round?.number === 2 && h("strong", {}, "Second vote · "),
  `${here} here${around ? ` · ${around} look around` : ""}${round ? ` · ${answered} answered` : ""}`,
];

let tabSpeaker = /** @type {ReturnType<typeof makeSpeaker> | null} */ (null); // outlasts a page

export function makeSpeakerBar(site, templates, host) {
  tabSpeaker ??= makeSpeaker(makeClassApi(site, templates), () => sessionStorage);
  const speaker = tabSpeaker,
    open = at => openOnOtherPage(site, speaker, speaker.now.number, host.isPresented() ? `${at}&present=1` : at);
  return makeClassBar(speaker, site, { ...host, open, openTalk: () => openTalk(site, speaker) });
}
