// The page of a phone in a class: joining, following the speaker, answering. It starts without the viewer (tests/classroom/test_light.py),
// which loads when the user touches the picture.
import { button, h, redraw, write } from "../dom/element.js";
import { drawCounts } from "../lesson/classPanel.js";
import { UNANSWERED, nextPress } from "../lesson/presses.js";
import { makeTextLists } from "../lesson/classTexts.js";
import { makeNeighbourTimer } from "../lesson/neighbour.js";
import { isSlide } from "../lesson/slide.js";
import { retry, isGone } from "../shell/request.js";
import { makeClassMoment } from "./classMoment.js";
import { forgetSeat, retakeSeat, savedSeat, takeSeat } from "./classSeat.js";
import { makeAnswers, makeDrafts } from "./phoneAnswers.js";
import { makeWonder } from "./wonder.js";

// Identifies a question in a room that may have lost the last of them.
const nameOf = ({ at, question, round }) => JSON.stringify([at, question, round?.question, round?.number]);

// `reason` is shown above the form; go(typed) is called with the code.
function drawJoinForm(code, reason, go) {
  const label = "The six letters of the class",
    props = { class: "typed", autocomplete: "off", maxLength: 6, value: code, "aria-label": label },
    input = h("input", props),
    join = h("button", { class: "check", type: "submit" }, "Join");
  const onsubmit = event => {
    event.preventDefault();
    if (input.value.trim()) go(input.value.trim());
  };
  const heading = h("label", {}, "The six letters on the screen");
  return h("form", { class: "class-form", onsubmit }, h("p", {}, reason), heading, input, join);
}

const WAITS = "The speaker’s machine is silent. Your phone waits, and goes on when it is back.";
const NO_PICTURE = "The picture didn’t come. Try again, or reload the page.";
const LOST = "The connection is lost. You are back in a moment.";
const RESTARTED =
  "The server was started anew. Your phone keeps your seat and your answers, and waits for the speaker.";
const NOT_THERE =
  "Your class isn’t here: its server was restarted, or it is over. Once the speaker opens it again, you come in by yourself.";
const OWN = "The speaker shows numbers of their own, which no address holds: nobody can follow there.";
const BEGINS =
  "You are in. The class begins in a moment. Answers are anonymous. The speaker may save them as a table with a row for each phone, numbered at random.";
const SECOND = "Second vote: say again what you think now.";
const APART = "The servers of the class have lost each other: not everybody may be where the speaker is.";

// `code` is that of the room. host:
//   api, hash, stores: the class on the server (server.js), what the page's address has after its #, and storage for the seat
//   hrefOf(at), go(code): the address of a scene or a moment, to open it alone; opens another room
//   pictures(): fetches what draws whole pictures, {makeClassViewer, makeMomentPicture}
//   speaker, leave(now): on a device of the speaker's, the speaker (classSpeaker.js), and what opens the lesson or walkthrough itself
//   speak(seat): goes on as the speaker's other device
export function mountClass(root, code, host) {
  const { speaker } = host,
    state = h("span", { class: "class-state", role: "status" }),
    line = h("p", { class: "class-said", role: "status" }),
    main = h("div", { class: "class-main" }),
    title = h("h1", { class: "class-room" }, "room ", h("strong", {}, code)),
    foot = makeFoot(host, { follow, pointAt, leave: () => host.leave(now) }),
    head = h("header", { class: "lesson-head" }, title, state),
    timer = makeNeighbourTimer(),
    drafts = makeDrafts(host.stores.at(-1)),
    names = `viewer lesson-page class-page${speaker ? " turns-talk" : ""}`,
    box = h("div", { class: names }, head, line, timer.element, main);
  let seat = "",
    now = /** @type {any} */ (null), // ClassNow of generated/contract.d.ts
    moment = /** @type {any} */ (null),
    fetching = "", // the name of the moment under way, and of the one that is here
    fetched = "",
    opened = 0, // the `shows` of the moment whose picture is opened
    pictures = /** @type {any} */ (null), // what draws it
    loading = "", // the message about loading them
    seen = 0, // the `shows` of the moment on the screen
    view = /** @type {any} */ (null), // {kind, element, show, cell?, end}
    touchedCell = "",
    pointed = "",
    seenKinds = new Map(), // of places: the latest of a lesson, of a talk and of passes
    isAround = false,
    isLost = false,
    isRoomGone = false, // the server has lost the room: the speaker's browser reopens it
    before = /** @type {any} */ (null), // {name, answer}: the question then, and this phone's answer
    failure = "",
    stop = () => {};
  root.replaceChildren(box);
  root.ariaBusy = "false";
  const post = message => host.api.post(code, { seat, ...message }),
    answers = makeAnswers(post, draw),
    wonder = speaker ? null : makeWonder(post, drafts.of("to the speaker"));
  box.append(...(wonder ? [wonder.element] : []), foot.privateCounts, foot.element);
  async function join() {
    draw();
    const waiting = message => write(line, message),
      taken = speaker?.room ?? (await takeSeat(host.api, code, host.hash, host.stores, waiting));
    if (!box.isConnected) return;
    if (taken.key && !speaker) return host.speak(taken);
    if (taken.saved) return waitForRoom(taken.saved, taken.message);
    if (!taken.seat) return refuse(taken.message);
    followClass(taken.seat);
  }
  function followClass(newSeat) {
    seat = newSeat;
    stop = host.api.listen({ code, seat }, () => isAround, {
      now: receive,
      own(received) {
        answers.recall(received.answers); // from before a reload
        wonder?.recall(received);
        draw();
      },
      lost() {
        isLost = true;
        draw();
      },
      gone(reason, status) {
        const saved = speaker?.room ?? savedSeat(code, host.stores);
        if (isGone(status) && saved?.host) waitForRoom(saved, reason);
        else refuse(reason);
      },
    });
  }
  // A phone that has just joined sees the form, too, as the class may have ended long ago.
  async function waitForRoom(saved, reason) {
    stop();
    isRoomGone = true;
    before = now && { name: nameOf(now), answer: answers.answerAt(now) };
    if (now) draw();
    else refuse(NOT_THERE, false);
    const taken = await retakeSeat(host.api, code, saved, () => isRoomGone && box.isConnected);
    if (!(isRoomGone && box.isConnected)) return;
    isRoomGone = false;
    if (taken) followClass(taken.seat);
    else refuse(reason);
  }
  function receive(received) {
    isLost = false;
    now = received;
    if (before?.name === nameOf(now)) answers.resend(now, before.answer);
    before = null;
    if (now.at) seenKinds.set(now.kind === "lesson" ? now.at.replace(/&.*/, "") : now.kind, now.at);
    timer.update(now.hasEnded ? 0 : now.talkSeconds);
    wonder?.update(now.hasEnded ? null : now.wonders);
    if (now.hasEnded) {
      stop(); // no reconnecting
      drafts.forget();
    }
    fetchMoment();
  }
  function refuse(reason, isFinal = true) {
    stop();
    if (isFinal) answers.end();
    const go = typed => {
      forgetSeat(code, host.stores);
      host.go(typed);
    };
    main.replaceChildren(drawJoinForm(code, reason, go));
    now = null;
    draw();
  }
  // A moment is light until its picture is opened; a light moment of a pass has one step.
  const nameOfMoment = () =>
    `${now.shows}${opened === now.shows ? " whole" : now.kind === "pass" ? ` at ${now.number}` : ""}`;
  async function fetchMoment() {
    draw();
    if (isAround || now.isOwn || !now.at || now.hasEnded || [fetching, fetched].includes(nameOfMoment())) return;
    const name = nameOfMoment(),
      { shows } = now,
      isWanted = () => now !== null && nameOfMoment() === name;
    const waiting = () => {
      moment = null;
      failure = LOST;
      draw();
    };
    fetching = name;
    const reply = await retry(() => host.api.moment(code, seat, shows), waiting, isWanted);
    if (fetching === name) fetching = "";
    if (!isWanted()) return;
    moment = reply.data;
    failure = reply.isDone ? "" : reply.message;
    fetched = reply.isDone ? name : "";
    draw();
  }
  // At a cell, or "".
  async function openPicture(cell) {
    const { shows } = now,
      isWanted = () => now?.shows === shows && !isAround;
    if (loading || opened === shows) return;
    loading = "The picture is loading.";
    draw();
    const waiting = message => {
      loading = message;
      draw();
    };
    const [made, reply] = await Promise.all([
      host.pictures().catch(() => null),
      retry(() => host.api.moment(code, seat, shows, { isWhole: true }), waiting, isWanted),
    ]);
    loading = made && reply.isDone ? "" : reply.isDone ? NO_PICTURE : reply.message;
    if (made && reply.isDone && isWanted()) {
      pictures = made;
      moment = reply.data;
      opened = shows;
      fetched = nameOfMoment();
    }
    draw();
    if (cell && opened === shows && !isAround) view?.open?.(cell);
    if (loading === NO_PICTURE) loading = "";
  }
  function touched(cell) {
    if (speaker) return;
    touchedCell = cell;
    if (!isAround) post({ do: "around", isAround: true });
    isAround = true;
    draw();
  }
  function follow() {
    isAround = false;
    touchedCell = "";
    post({ do: "around", isAround: false });
    view?.end();
    view = null;
    fetchMoment();
  }
  // The cell to point at. The answer's own cell isn't offered before the answer is shown.
  function cellHere() {
    const answerCell = now?.isShown || !moment?.question ? moment?.answerCell : null;
    return touchedCell || (view?.cell?.() ?? moment?.askedCell ?? answerCell ?? "");
  }
  function pointAt() {
    pointed = pointed ? "" : cellHere();
    post({ do: "point", cell: pointed });
    draw();
  }
  function draw() {
    if (!box.isConnected) return;
    const isHere = now !== null && !now.hasEnded;
    write(state, seat && now ? stateText(now, { isLost, isAround, speaker }) : "");
    state.classList.toggle("following", isHere && !isAround && !isLost);
    write(
      line,
      isRoomGone && now
        ? RESTARTED
        : isLost
          ? LOST
          : now
            ? sentenceOn(now, speaker, failure || answers.failureAt(now))
            : "",
    );
    if (now?.hasEnded) main.replaceChildren(drawEnd());
    else if (isHere && !isAround && moment && !now.isOwn && fetched === nameOfMoment()) drawView();
    foot.update(isHere ? now.at : null, {
      isAround,
      pointed,
      canPoint: moment && (pointed || cellHere()),
      now,
      moment,
    });
  }
  // What a phone takes home: the lessons as links, and the speaker's talk as a page.
  function drawEnd() {
    const lessons = [...seenKinds.keys()].filter(kind => kind.startsWith("lesson=")),
      toLesson = kind =>
        h(
          "a",
          { href: host.hrefOf(`${kind}&moment=1`) },
          lessons.length > 1 ? `The lesson ${kind.slice(7)}` : "The lesson",
        ),
      toTalk =
        seenKinds.has("talk") &&
        h(
          "a",
          { href: host.api.talkHref(code, seat), download: "attnviz-class.html" },
          "The talk as one page (save it now: it is here for 15 minutes)",
        ),
      links = [toTalk, ...lessons.map(toLesson)].filter(Boolean).map(link => h("li", {}, link)),
      home = speaker || !links.length ? [] : [h("p", {}, "To take home:"), h("ul", {}, links)];
    return h("div", { class: "class-end" }, h("p", {}, "The class has ended. Thank you for coming."), home);
  }
  function drawView() {
    const isOpen = opened === now.shows,
      kind = isOpen && now.kind === "pass" ? "viewer" : isOpen ? "picture" : "light";
    if (view?.kind !== kind) {
      view?.end();
      const answer = (value, sure) => answers.give(now, value, sure),
        makePicture = isOpen ? pictures.makeMomentPicture : null,
        ofMoment = () => makeClassMoment({ answer, touched, open: openPicture, makePicture, drafts }),
        made = kind === "viewer" ? pictures.makeClassViewer({ touched }) : ofMoment();
      view = { kind, ...made };
      main.replaceChildren(view.element);
    }
    const said = { answered: answers.at(now), sure: answers.sureAt(now) };
    view.show(moment, speaker ? { ...now, round: null } : now, said, loading); // a speaker answers nothing
    if (now.shows !== seen) box.scrollIntoView({ block: "start" }); // start reading at the top
    seen = now.shows;
  }
  join();
  return {
    end() {
      isRoomGone = false;
      answers.end();
      stop();
      timer.end();
      view?.end();
    },
  };
}

// The footer's buttons; on the speaker's other device they remote-control the presented page. In update(at, ...) `at` is null without a class.
function makeFoot({ speaker, hrefOf }, { follow, pointAt, leave }) {
  const back = button("Back to the class", follow, "check"),
    openLink = h("a", { target: "_blank", rel: "noopener" }, "Open it by myself"),
    point = button("I don’t understand this", pointAt),
    device = speaker && makeDevice(speaker, leave),
    foot = h("footer", { class: "class-foot" }, device ? device.buttons : [back, point, openLink]);
  return {
    element: foot,
    privateCounts: device ? device.counts : "",
    update(at, { isAround, pointed, canPoint, now, moment }) {
      foot.hidden = at === null;
      device?.update(now, moment);
      back.hidden = !isAround;
      point.hidden = !canPoint;
      point.setAttribute("aria-pressed", String(Boolean(pointed)));
      openLink.hidden = !at || isSlide(moment);
      if (at) openLink.href = hrefOf(at);
    },
  };
}

// For the speaker's other device: how many gave each answer, and buttons that remote-control the presented page.
function makeDevice(speaker, leave) {
  const countBox = h("div"),
    written = makeTextLists(speaker.command),
    counts = h("div", { class: "class-private" }, countBox, written.element),
    back = button("Back", () => speaker.press("back")),
    reveal = button("Reveal", () => speaker.press("reveal")),
    again = button("Ask again", speaker.again),
    whole = button("Lead from this screen", leave),
    next = button("Next", () => speaker.press("next"), "check");
  return {
    counts,
    buttons: [h("span", { class: "class-acts" }, reveal, again, whole), back, next],
    update(now, moment) {
      const question = moment?.question,
        isAsked = Boolean(now?.round && question && !now.isShown),
        shown = { ...UNANSWERED, isShown: now?.isShown, showsClass: now?.audience?.showsClass },
        text = (question && nextPress(moment, shown, true)) || "Next";
      const { texts = [], wondered = [] } = now?.audience ?? {};
      written.update({ texts, wondered, takesQuestions: Boolean(now?.wonders) });
      redraw(countBox, now?.round && question ? [drawCounts(question, now.audience.counts)] : []);
      write(next, text);
      reveal.hidden = !isAsked || text === "Reveal";
      again.hidden = !isAsked || now.round.number > 1;
      whole.hidden = !now?.at || now.kind === "talk"; // which is on the other device alone
    },
  };
}

function stateText({ hasEnded, audience }, { isLost, isAround, speaker }) {
  if (hasEnded) return "ended";
  if (isLost) return "lost";
  if (speaker) return `${audience.here} here · ${audience.answered} answered`;
  return isAround ? "you look around" : "● following";
}

function sentenceOn({ hasEnded, waits, isApart, isOwn, at, round, isShown }, speaker, failure) {
  if (hasEnded) return "";
  if (speaker) return speaker.message || "These buttons press those of the page that is presented.";
  if (waits) return WAITS;
  if (isApart) return APART;
  if (isOwn) return OWN;
  if (failure || !at) return failure || BEGINS;
  return round?.number === 2 && round.isOpen && !isShown ? SECOND : "";
}
