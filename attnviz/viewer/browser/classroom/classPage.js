// The page of a class: one comes in by its code, and is where the speaker is, until one touches something; then one looks around,
// and nothing pulls one back.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { makeAnswers } from "./answers.js";
import { makeClassMoment } from "./classMoment.js";
import { makeClassViewer } from "./classViewer.js";
import { drawJoinForm } from "./joinForm.js";
import { takeSeat } from "./seat.js";

const WAITS = "The speaker’s machine is silent. Your phone waits, and goes on when it is back.";
const LOST = "The connection is lost. You are back in a moment.";
const OWN = "The speaker shows numbers of their own, which no address holds: nobody can follow there.";
const APART = "The servers of the class have lost each other: not everybody may be where the speaker is.";
const RETRY_MS = 1000; // until what did not come is asked for again

// `code` is that of the room. host: {line, hash, hrefOf(at), speak(given), stores}: the line to the class; what the page's
// address has after its #; the address of a scene or a moment, to open it by oneself; what goes on as the speaker's other device;
// what may keep the seat (seat.js); `speaker` is that of classSpeaker.js where this is a device of theirs, which turns a talk that
// another one gives, and leave(now) opens what is no talk. Returns {end()}.
export function mountClass(root, code, host) {
  const box = element("div", "viewer lesson-page class-page"),
    head = element("header", "lesson-head"),
    title = element("span", "class-room"),
    state = element("span", "class-state"),
    line = element("p", "class-said"),
    main = element("div", "class-main"),
    { speaker } = host,
    foot = makeFoot(host, { follow, pointAt });
  let seat = "",
    now = null, // ClassNow of generated/contract.d.ts
    moment = null,
    fetched = 0, // the moment that is here, by `shows`
    seen = null, // the moment that is on the screen
    view = null, // {kind, element, show, cell?, end}
    touchedCell = "",
    pointed = "",
    isAround = false,
    isLost = false,
    failure = "",
    stop = () => {};

  title.append("room ", element("strong", "", code));
  state.setAttribute("role", "status");
  line.setAttribute("role", "status");
  head.append(title, state);
  box.classList.toggle("turns-talk", speaker !== null);
  box.append(head, line, main, foot.element);
  root.replaceChildren(box);
  root.ariaBusy = "false";

  const post = message => host.line.post(code, { seat, ...message }),
    answers = makeAnswers(post, draw);
  async function come() {
    draw();
    const given = speaker?.room ?? (await takeSeat(host.line, code, host.hash, host.stores, said => write(line, said)));
    if (!box.isConnected) return;
    if (given.key && !speaker) return host.speak(given);
    if (!given.seat) return refuse(given.said);
    seat = given.seat;
    stop = host.line.listen({ code, seat }, () => isAround, {
      now: hear,
      own: heard => {
        answers.recall(heard); // who comes back hears what they said
        draw();
      },
      lost: () => {
        isLost = true;
        draw();
      },
      gone: refuse,
    });
  }
  function hear(state) {
    isLost = false;
    now = state;
    if (state.hasEnded)
      stop(); // nobody is asked again
    else if (speaker && state.kind !== "talk" && state.at) return host.leave(state);
    arrive();
  }
  function refuse(reason) {
    stop();
    main.replaceChildren(drawJoinForm(code, reason, typed => host.go(typed)));
    now = null;
    draw();
  }
  async function arrive() {
    draw();
    if (isAround || now.isOwn || !now.at || now.hasEnded || fetched === now.shows) return;
    const { shows } = now;
    fetched = shows;
    try {
      const received = await host.line.moment(code, seat, shows);
      if (now?.shows !== shows) return;
      moment = received;
      failure = "";
    } catch (error) {
      if (now?.shows !== shows) return;
      fetched = 0;
      moment = null;
      failure = error.isRefused ? error.message : LOST;
      if (!error.isRefused) setTimeout(() => now && arrive(), RETRY_MS);
    }
    draw();
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
    arrive();
  }
  // The number that one points at; what the answer is read off is none before it is shown.
  const cellHere = () =>
    touchedCell ||
    (view?.cell?.() ?? moment?.askedCell ?? (now?.isShown || !moment?.question ? moment?.answerCell : null) ?? "");
  function pointAt() {
    const cell = pointed ? "" : cellHere();
    pointed = cell;
    post({ do: "point", cell });
    draw();
  }

  function draw() {
    if (!box.isConnected) return;
    const isHere = now !== null && !now.hasEnded;
    write(state, seat && now ? stateOf(now, { isLost, isAround, speaker }) : "");
    state.classList.toggle("following", isHere && !isAround && !isLost);
    write(line, isLost ? LOST : now ? sentenceOn(now, speaker, failure || answers.failureAt(now)) : "");
    drawMain(isHere);
    foot.update(isHere ? now.at : null, { isAround, pointed, canPoint: moment && (pointed || cellHere()) });
  }
  function drawMain(isHere) {
    if (now?.hasEnded) main.replaceChildren(element("p", "class-end", "The class has ended. Thank you for coming."));
    else if (isHere && !isAround && moment && !now.isOwn && fetched === now.shows)
      showIn(now.kind === "pass" ? "viewer" : "moment");
  }
  function showIn(kind) {
    if (view?.kind !== kind) {
      view?.end();
      view = {
        kind,
        ...(kind === "moment"
          ? makeClassMoment({ answer: value => answers.give(now, value), touched })
          : makeClassViewer({ touched })),
      };
      main.replaceChildren(view.element);
    }
    view.show(moment, speaker ? { ...now, round: null } : now, answers.at(now)); // a speaker answers nothing
    if (moment !== seen) box.scrollIntoView({ block: "start" }); // what is new is read from its beginning
    seen = moment;
  }
  come();
  return {
    end: () => {
      stop();
      view?.end();
    },
  };
}

// What whoever follows can do; a device of the speaker's turns the talk. update(at, ...): null where there is no class.
function makeFoot({ speaker, hrefOf }, { follow, pointAt }) {
  const foot = element("footer", "class-foot"),
    back = button("Back to the class", follow, "check"),
    around = element("a", "", "Open it by myself"),
    point = button("I don’t understand this", pointAt),
    turns = [button("Back", () => speaker.press(-1)), button("Next", () => speaker.press(1), "check")];
  Object.assign(around, { target: "_blank", rel: "noopener" });
  foot.append(...(speaker ? turns : [back, point, around]));
  return {
    element: foot,
    update: (at, { isAround, pointed, canPoint }) => {
      foot.hidden = at === null;
      back.hidden = !isAround;
      point.hidden = !canPoint;
      point.setAttribute("aria-pressed", String(Boolean(pointed)));
      around.hidden = !at;
      if (at) around.href = hrefOf(at);
    },
  };
}

function stateOf({ hasEnded, audience }, { isLost, isAround, speaker }) {
  if (hasEnded) return "ended";
  if (isLost) return "lost";
  if (speaker) return `${audience.here} here · ${audience.answered} answered`;
  return isAround ? "you look around" : "● following";
}

function sentenceOn({ hasEnded, waits, isApart, isOwn, at }, speaker, failure) {
  if (hasEnded) return "";
  if (speaker) return speaker.said || "Back and Next turn the talk on your other device.";
  if (waits) return WAITS;
  if (isApart) return APART;
  if (isOwn) return OWN;
  return failure || (at ? "" : "You are in. The class begins in a moment.");
}
