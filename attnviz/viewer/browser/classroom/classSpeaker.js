// The speaker's side of a class: it sends where the speaker is, receives how many are there and what they answered, and keeps the log.
import { SPEAKER, readStored, removeStored, writeStored } from "../lesson/memory.js";
import { makeListeners } from "../dom/element.js";
import { RETRY_MS, retry, isGone, isTemporary } from "../shell/request.js";
import { retakeSeat } from "./classSeat.js";

const LED = "attnviz class led"; // the number of the place that another page was opened for
const HEARTBEAT_MS = 8000;
const AWAY_MS = 2000; // until a lost connection is reported
const AWAY = "The class waits: it follows here once the server is back.";
const takenCode = code => `Somebody else has your class’s code now. Yours is ${code}: phones join anew.`;
const OWN = "These numbers are your own: no address holds them, so the class can’t follow here.";

// `api` is that of server.js; storeOf() returns a Storage that survives a reload. Pages share the object.
export function makeSpeaker(api, storeOf) {
  let room = /** @type {import("../../generated/contract").Seat | null} */ (readStored(storeOf, SPEAKER)),
    now = /** @type {any} */ (null), // ClassNow of generated/contract.d.ts
    stop = () => {},
    heartbeat = 0,
    target = /** @type {any} */ (null), // {at, question, moment, isShown, image} that the class should have
    sent = "", // the last target that the class has
    isSending = false,
    number = takeLed(storeOf, room), // of the last place sent, or that this page was opened for; -1 if none
    leads = -1, // the count of them that this page has made or followed
    sentPlace = "", // without what is shown there
    isOpenedForPlace = number >= 0,
    pressed = /** @type {number | null} */ (null), // the count of presses when last read
    isAway = false, // whether the server doesn't answer, or has lost the room
    awayTimer = 0,
    message = ""; // what went wrong
  const log = makeClassLog(storeOf);
  const { add: onChange, call: notify } = makeListeners();
  const keep = () => writeStored(storeOf, SPEAKER, room);
  const post = body => api.post(room?.code, body, room?.key);
  function forget(why) {
    stop();
    clearInterval(heartbeat);
    setAway(false);
    log.erase();
    room = now = pressed = null;
    stop = () => {};
    sent = "";
    number = leads = -1;
    message = why;
    keep();
    notify();
  }
  function receive(received) {
    const isFirst = now === null;
    now = received;
    if (now.hasEnded) return forget("The class has ended.");
    setAway(false);
    if (now.number < number) {
      noteFollowed(); // a reopened room may lack the last moves
      sent = "";
    }
    if (number < 0) number = now.number;
    pressed ??= now.audience.pressed;
    if (!isFirst || !isOtherThere()) flush();
    notify();
  }
  function begin() {
    const lost = () => setAway(true),
      keepLog = room?.link ? { known: log.known, log: log.add } : {}; // as other devices lack the first key
    stop = api.listen(room, () => false, { now: receive, own: () => {}, lost, gone, ...keepLog });
    clearInterval(heartbeat);
    heartbeat = setInterval(() => post({ do: "here" }), HEARTBEAT_MS);
  }
  function setAway(is) {
    if (is) {
      awayTimer ||= setTimeout(() => {
        isAway = true;
        notify();
      }, AWAY_MS);
      return;
    }
    clearTimeout(awayTimer);
    if (isAway) message = "";
    isAway = false;
    awayTimer = 0;
  }
  async function gone(why, status) {
    const lostRoom = room,
      isWanted = () => room === lostRoom;
    if (!lostRoom || !isGone(status)) return forget(why);
    if (!lostRoom.link) {
      const isThere = await retakeSeat(api, lostRoom.code, lostRoom, isWanted); // the browser that opened the room reopens it
      if (isWanted()) isThere ? begin() : forget(why);
      return;
    }
    const reply = await retry(
      () => api.reopen(lostRoom, log.commands),
      () => {},
      isWanted,
    );
    if (room !== lostRoom) return reply.isDone && api.post(reply.data.code, { do: "end" }, lostRoom.key); // ended meanwhile
    if (!reply.isDone) return forget(reply.message);
    room = { ...lostRoom, ...reply.data };
    if (now?.number === number) sent = ""; // it lacks the image of the slide
    keep();
    begin();
    if (room?.code !== lostRoom.code) message = takenCode(room?.code);
  }
  // Whether at this page's place another device, or an earlier page, has shown or hidden something since this one did.
  function isOtherThere() {
    const isThere = now?.number === number && target && (target.question || now.at === target.at),
      isNew = isThere && now.audience.leads > leads;
    return Boolean(isNew && (now.isShown !== target.isShown || now.audience.showsClass !== target.showsClass));
  }
  // Sends `target`; the image of a slide only where the room lacks it, as image() resolves to it.
  async function flush() {
    if (!room || !now || !target || isSending || JSON.stringify(target) === sent) return;
    isSending = true;
    const { image } = target,
      request = JSON.stringify(target),
      place = { do: "move", ...JSON.parse(request) };
    let reply = await post(place);
    if (reply.isDone && reply.data.lacksImage) reply = await post({ ...place, image: (await image?.()) ?? "" });
    isSending = false;
    if (!room) return;
    if (reply.isDone) {
      /** @type {import("../../generated/contract").Led} */
      const led = reply.data;
      ({ number, leads } = led);
      sentPlace = placeOf(JSON.parse(request));
      message = led.isOwn ? OWN : "";
    } else ({ message } = reply);
    const isOver = !isTemporary(reply.status) && !isGone(reply.status); // else it is sent once the room is there again
    if (isOver) sent = request;
    notify();
    if (isTemporary(reply.status)) setTimeout(flush, RETRY_MS);
    else if (isOver) flush();
  }
  // Notes that this page is where another device has led the class.
  function noteFollowed() {
    if (!now) return;
    ({ number } = now);
    ({ leads } = now.audience);
  }
  async function command(body) {
    const { isDone, message: why, data } = await post(body);
    message = isDone ? "" : why;
    notify();
    return isDone ? (data ?? why) : null;
  }
  if (room) begin();
  return {
    get room() {
      return room;
    },
    get now() {
      return now;
    },
    get message() {
      return isAway ? AWAY : message;
    },
    // Whether the counts in `now` are of the place that this page shows.
    get isHere() {
      return now !== null && target !== null && placeOf(target) === sentPlace && now.number === number;
    },
    get isUpToDate() {
      return !isSending && JSON.stringify(target) === sent && now !== null && now.number >= number;
    },
    // Where the speaker's other device has led the class: {at, kind, question, isShown}, or null.
    get led() {
      const isElsewhere = now !== null && number >= 0 && now.number > number;
      if (isSending || !(isElsewhere || (isOtherThere() && !target.question))) return null;
      const { at, kind, question, isShown, audience } = now;
      return { at, kind, question, isShown, showsClass: audience.showsClass };
    },
    // Whether another device has shown or hidden something of the question about a cell that this page asks.
    get isShownElsewhere() {
      return Boolean(!isSending && target?.question && isOtherThere());
    },
    noteFollowed,
    // What the other devices have pressed since the last call, of Audience.presses in generated/contract.d.ts.
    presses() {
      const before = pressed ?? 0,
        { pressed: count, presses } = now?.audience ?? { pressed: null, presses: [] };
      pressed = count;
      return count > before ? presses.slice(before - count) : [];
    },
    press: what => command({ do: "press", what }),
    async open() {
      const { isDone, message: why, data } = await api.post("", { do: "make" });
      if (isDone) {
        room = data;
        keep();
        begin();
      } else message = why;
      notify();
    },
    // Takes over the seat handed to this device; takes effect on the next page.
    take(seat) {
      room = seat;
      keep();
    },
    // Notes that the next page shows the place of this number, so that it doesn't lead the class there again.
    willOpen: nth => writeStored(storeOf, LED, nth),
    // Tells the class where this page is, unless another device has led it there.
    sendPlace(place, { isLed = false } = {}) {
      target = { question: null, moment: null, isShown: false, showsClass: false, ...place };
      if (isLed || isOpenedForPlace) {
        sent = JSON.stringify(target);
        sentPlace = placeOf(target);
      }
      isOpenedForPlace = false;
      flush();
    },
    openAnswers: isOpen => command({ do: "open", isOpen }),
    again: () => command({ do: "again" }),
    handOver: () => command({ do: "hand" }),
    counts: (by = "answer") => command({ do: "counts", by }),
    command,
    forgetDevices: () => command({ do: "forget" }),
    // The speaker who ended the class gets no 'class ended' notice. Its key and answers leave this browser even if the server is away.
    end() {
      const { code, key } = room ?? {},
        end = () => api.post(code, { do: "end" }, key);
      forget("");
      retry(end, () => {});
    },
    moment: () => api.moment(room?.code, room?.seat, now?.shows),
    onChange,
  };
}

const placeOf = ({ at, question, moment }) => JSON.stringify([at, question, moment]);

function takeLed(storeOf, room) {
  const led = readStored(storeOf, LED) ?? -1;
  removeStored(storeOf, LED);
  return room ? led : -1; // of a class that has ended meanwhile
}

export const hrefOf = (site, at) => String(new URL(at.startsWith("lesson=") ? `?${at}` : `walkthrough?${at}`, site));

export function openTalk(site, speaker) {
  location.assign(new URL(`?room=${speaker.room?.code}`, site));
}

// Follows the speaker's other device to an address on another page; `number` is that of the place in the class.
export function openOnOtherPage(site, speaker, number, at) {
  speaker.willOpen(number);
  location.assign(hrefOf(site, at));
}

const LOG = "attnviz class log"; // {length, name}; its commands are in pieces, so that an answer doesn't write all of them
const PIECE = 200; // commands

const pieceName = nth => `${LOG} ${nth}`;

// The log of a class (`RoomLog` in commands.py), from which the browser that opened the room reopens it after the server has lost it. It is stored with
// the tab, so it survives a reload and is gone with the tab.
export function makeClassLog(storeOf) {
  let { commands, name } = readLog(storeOf),
    nStored = Math.ceil(commands.length / PIECE), // pieces
    isStored = true; // until the storage is full: then it lasts as long as the page
  function erase() {
    for (; nStored > 0; nStored -= 1) removeStored(storeOf, pieceName(nStored - 1));
    removeStored(storeOf, LOG);
  }
  function store(start) {
    nStored = Math.max(nStored, Math.ceil(commands.length / PIECE));
    for (let nth = Math.floor(start / PIECE); nth * PIECE < commands.length; nth += 1)
      isStored &&= writeStored(storeOf, pieceName(nth), commands.slice(nth * PIECE, (nth + 1) * PIECE));
    isStored &&= writeStored(storeOf, LOG, { length: commands.length, name });
    if (!isStored) erase();
  }
  return {
    get commands() {
      return commands;
    },
    // How much of the log this browser has, in the server's format.
    known: () => `${commands.length}-${name}`,
    // Takes a LogPart of generated/contract.d.ts.
    add(part) {
      commands = [...commands.slice(0, part.start), ...part.commands];
      ({ name } = part);
      if (isStored) store(part.start);
    },
    erase() {
      erase();
      commands = [];
      name = "";
      isStored = true;
    },
  };
}

function readLog(storeOf) {
  const { length = 0, name = "" } = readStored(storeOf, LOG) ?? {},
    nPieces = Math.ceil(length / PIECE),
    commands = Array.from({ length: nPieces }, (_, nth) => readStored(storeOf, pieceName(nth)) ?? []).flat();
  return commands.length === length ? { commands, name } : { commands: [], name: "" };
}
