// The page of a phone in a class: joining, its seat, and sending its answers.
import { button, element, write } from "../dom/element.js";
import { readStored, writeStored } from "../lesson/memory.js";
import { makeClassMoment, makeClassViewer } from "./classMoment.js";

const ANSWER_MS = 1100; // at least, between two answers sent

// The answers of this phone. post(message) sends one; changed() is called after every change. Returns {at(now), failureAt(now),
// give(now, value), recall(received)}; `now` is ClassNow of generated/contract.d.ts.
export function makeAnswers(post, changed) {
  const byQuestion = new Map();
  let recalled = null, // {number, round, value}: the answer that the server has from before a reload
    last = null, // {number, round} of the latest answer
    pending = null, // the value still to be sent
    failure = "";
  const isOf = (what, { number, round }) => what?.number === number && what.round === round?.number;
  return {
    // The answer to the current question, or null; and why it was refused, or empty.
    at: now => (isOf(recalled, now) ? recalled.value : (byQuestion.get(nameOf(now)) ?? null)),
    failureAt: now => (isOf(last, now) ? failure : ""),
    // Takes the answer that the server has, unless a newer one is still being sent.
    recall: received => {
      const isOlder = pending !== null && received?.number === last.number && received.round === last.round;
      if (received && !isOlder) recalled = received;
    },
    give: async (now, value) => {
      byQuestion.set(nameOf(now), value);
      recalled = null;
      last = { number: now.number, round: now.round?.number ?? 1 };
      changed();
      const isSending = pending !== null;
      pending = value;
      if (isSending) return;
      for (let sent = null; pending !== sent; ) {
        sent = pending;
        const { isDone, status, message } = await post({ do: "answer", ...last, value: sent });
        const isLater = status === 0 || status === 429 || status >= 500; // retry: a server process may be down
        failure = isDone || isLater ? "" : message;
        if (isLater) sent = null;
        await new Promise(done => setTimeout(done, ANSWER_MS));
      }
      pending = null;
      changed();
    },
  };
}

// Identifies a question, to which the class may return. Two moments of a talk may have the same scene.
function nameOf({ number, at, kind, question, round }) {
  return JSON.stringify([kind === "talk" ? number : at, question, round?.number]);
}

// `reason` is shown above the form; go(typed) is called with the code.
function drawJoinForm(code, reason, go) {
  const form = element("form", "class-form"),
    input = element("input", "typed"),
    join = button("Join", () => {}, "check");
  join.type = "submit";
  input.autocomplete = "off";
  input.maxLength = 6;
  input.setAttribute("aria-label", "The six letters of the class");
  input.value = code;
  form.onsubmit = event => {
    event.preventDefault();
    if (input.value.trim()) go(input.value.trim());
  };
  form.append(element("p", "", reason), element("label", "", "The six letters on the screen"), input, join);
  return form;
}

const LATER_MS = 1000;
const NAME = "attnviz seat";
const MAX_KEPT = 5; // rooms
const LATER = [0, 429, 502, 503, 504];

// Takes a seat in the room of a code. `hash` is what the page's address has after its #. Returns {seat, key}, or {message}, why not;
// wait(message) is called with why it takes longer. A seat is kept in the first of the `stores` that takes it: that of all tabs, so that a
// browser has one seat, or where that is forbidden or full the tab's own.
export async function takeSeat(line, code, hash, stores, wait) {
  const savedSeat = stores.map(storeOf => readStored(storeOf, NAME)?.[code]).find(Boolean);
  const asks = [...(savedSeat ? [{ seat: savedSeat }] : []), ...(hash ? [{ link: hash }] : []), {}];
  let reason = "";
  for (const each of asks) {
    const answer = await joined(line, code, each, wait);
    if (answer.isDone) {
      /** @type {import("../../generated/contract").Seat} */
      const taken = answer.data;
      stores.some(storeOf => keep(storeOf, code, taken.seat)); // without this a reload would take a second seat
      return taken;
    }
    reason = answer.message;
  }
  return { message: reason };
}

function keep(storeOf, code, seat) {
  const others = Object.entries(readStored(storeOf, NAME) ?? {}).filter(([each]) => each !== code);
  writeStored(storeOf, NAME, Object.fromEntries([...others.slice(1 - MAX_KEPT), [code, seat]]));
  return readStored(storeOf, NAME)?.[code] === seat;
}

// Retries until answered: when many join at once or type wrong codes, the server lets them in gradually.
async function joined(line, code, how, wait) {
  for (;;) {
    const answer = await line.post(code, { do: "join", ...how });
    if (!LATER.includes(answer.status)) return answer;
    wait(answer.message);
    await new Promise(done => setTimeout(done, LATER_MS));
  }
}

const WAITS = "The speaker’s machine is silent. Your phone waits, and goes on when it is back.";
const LOST = "The connection is lost. You are back in a moment.";
const OWN = "The speaker shows numbers of their own, which no address holds: nobody can follow there.";
const APART = "The servers of the class have lost each other: not everybody may be where the speaker is.";
const RETRY_MS = 1000; // before a retry

// `code` is that of the room. host: {line, hash, hrefOf(at), speak(given), stores}: the line to the class; what the page's
// address has after its #; the address of a scene or a moment, to open it by oneself; what goes on as the speaker's other device;
// what may keep the seat (classPage.js); `speaker` is that of classSpeaker.js where this is a device of theirs, which turns a talk that
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
    fetched = 0, // the `shows` of the moment fetched last
    seen = null, // the moment on the screen
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
    const seatOrReason =
      speaker?.room ?? (await takeSeat(host.line, code, host.hash, host.stores, reason => write(line, reason)));
    if (!box.isConnected) return;
    if (seatOrReason.key && !speaker) return host.speak(seatOrReason);
    if (!seatOrReason.seat) return refuse(seatOrReason.message);
    seat = seatOrReason.seat;
    stop = host.line.listen({ code, seat }, () => isAround, {
      now: hear,
      own: answer => {
        answers.recall(answer); // the answer from before a reload
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
      stop(); // no reconnecting
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
  // The cell to point at. The answer's own cell isn't offered before the answer is shown.
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
    if (moment !== seen) box.scrollIntoView({ block: "start" }); // start reading at the top
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

// The buttons of a phone; on the speaker's own device they turn the talk. In update(at, ...) `at` is null without a class.
function makeFoot({ speaker, hrefOf }, { follow, pointAt }) {
  const foot = element("footer", "class-foot"),
    back = button("Back to the class", follow, "check"),
    openLink = element("a", "", "Open it by myself"),
    point = button("I don’t understand this", pointAt),
    turns = [button("Back", () => speaker.press(-1)), button("Next", () => speaker.press(1), "check")];
  Object.assign(openLink, { target: "_blank", rel: "noopener" });
  foot.append(...(speaker ? turns : [back, point, openLink]));
  return {
    element: foot,
    update: (at, { isAround, pointed, canPoint }) => {
      foot.hidden = at === null;
      back.hidden = !isAround;
      point.hidden = !canPoint;
      point.setAttribute("aria-pressed", String(Boolean(pointed)));
      openLink.hidden = !at;
      if (at) openLink.href = hrefOf(at);
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
  if (speaker) return speaker.message || "Back and Next turn the talk on your other device.";
  if (waits) return WAITS;
  if (isApart) return APART;
  if (isOwn) return OWN;
  return failure || (at ? "" : "You are in. The class begins in a moment.");
}
