// The speaker's side of a class: sends it where the speaker is, and receives how many are there and what they answered.
import { readStored, writeStored } from "../lesson/memory.js";

const NAME = "attnviz class";
const LED = "attnviz class led"; // the number of the place that another page was opened for
const HERE_MS = 8000; // between heartbeats
const LATER_MS = 1000;

// `line` is that of server.js; storeOf() returns a Storage that survives a reload. Pages share the object.
export function makeSpeaker(line, storeOf) {
  /** @type {import("../../generated/contract").Seat | null} */
  let room = readStored(storeOf, NAME);
  /** @type {import("../../generated/contract").ClassNow | null} */
  let now = null;
  let stop = null,
    beat = null,
    target = null, // {at, question, isShown} that the class should have
    sent = "", // the last target that the class has
    isSending = false,
    number = takeLed(storeOf), // of the last place sent, or that this page was opened for; -1 if none
    isOpenedThere = number >= 0,
    pressed = null, // the count of presses when last read
    message = ""; // what went wrong
  const listeners = new Set(),
    notify = () => {
      for (const each of listeners) each();
    };
  const keep = () => writeStored(storeOf, NAME, room);
  const forget = why => {
    stop?.();
    clearInterval(beat);
    [room, now, stop, sent, number, pressed, message] = [null, null, null, "", -1, null, why];
    keep();
    notify();
  };
  const post = message => line.post(room.code, message, room.key);
  const begin = () => {
    const handlers = {
      now: state => {
        const isFirst = now === null;
        now = state;
        if (state.hasEnded) return forget("The class has ended.");
        if (number < 0) number = state.number;
        pressed ??= state.audience.pressed;
        if (!isFirst || !isShownThere()) flush();
        notify();
      },
      own: () => {},
      lost: () => {},
      gone: () => forget("The class has ended."),
    };
    stop = line.listen(room, () => false, handlers);
    beat = setInterval(() => post({ do: "here" }), HERE_MS);
  };
  // Whether the class already sees the answer that this page hides: another device or an earlier page has revealed it.
  function isShownThere() {
    const isThere = now?.number === number && target && !target.question && now.at === target.at;
    return Boolean(isThere && now.isShown && !target.isShown);
  }
  async function flush() {
    if (!room || !now || !target || isSending || JSON.stringify(target) === sent) return;
    isSending = true;
    const request = JSON.stringify(target),
      { isDone, status, data, message: why } = await post({ do: "move", ...JSON.parse(request) });
    /** @type {import("../../generated/contract").Led | null} */
    const led = data;
    isSending = false;
    if (!room) return;
    if (isDone) {
      sent = request;
      number = led.number;
      message = led.isOwn ? "These numbers are your own: no address holds them, so the class can’t follow here." : "";
    } else {
      message = why;
      if (status === 400)
        sent = request; // don't retry
      else setTimeout(flush, LATER_MS);
    }
    notify();
    flush();
  }
  const done = async command => {
    const { isDone, message: why, data } = await post(command);
    message = isDone ? "" : why;
    notify();
    return isDone ? (data ?? why) : null;
  };
  if (room) begin();
  return {
    get room() {
      return room;
    },
    get now() {
      return now;
    },
    get message() {
      return message;
    },
    // Whether the class is up to date.
    get isTold() {
      return !isSending && JSON.stringify(target) === sent && now !== null && now.number >= number;
    },
    // Where the speaker's other device has led the class: {at, kind, question, isShown}, or null.
    get led() {
      const isElsewhere = now !== null && !isSending && number >= 0 && now.number > number;
      return isElsewhere || (!isSending && isShownThere())
        ? { at: now.at, kind: now.kind, question: now.question, isShown: now.isShown }
        : null;
    },
    // This page has followed the other device.
    followed: () => {
      if (now) number = now.number;
    },
    // How many steps forward (negative: back) the other device has made since the last call.
    presses: () => {
      const before = pressed;
      pressed = now?.audience.pressed ?? null;
      return pressed === null ? 0 : pressed - before;
    },
    press: by => done({ do: "press", by }),
    open: async () => {
      const { isDone, message: why, data } = await line.post("", { do: "make" });
      if (isDone) {
        room = data;
        keep();
        begin();
      } else message = why;
      notify();
    },
    // Takes over the seat handed to this device; takes effect on the next page.
    take: newSeat => {
      room = newSeat;
      keep();
    },
    // Notes that the next page shows the place of this number, so that it doesn't lead the class there again.
    leaves: nth => writeStored(storeOf, LED, nth),
    // Sends where this page is, unless another device has led it there: then the class knows.
    shows: (place, isLed = false) => {
      target = { question: null, moment: null, isShown: false, ...place };
      if (isLed || isOpenedThere) sent = JSON.stringify(target);
      isOpenedThere = false;
      flush();
    },
    openAnswers: isOpen => done({ do: "open", isOpen }),
    again: () => done({ do: "again" }),
    hand: () => done({ do: "hand" }),
    counts: () => done({ do: "counts" }),
    end: async () => {
      await post({ do: "end" });
      forget(""); // the speaker who ended the class gets no 'class ended' notice, not even through the stream
    },
    moment: () => line.moment(room.code, room.seat, now.shows),
    onChange: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function takeLed(storeOf) {
  try {
    const text = storeOf().getItem(LED);
    storeOf().removeItem(LED);
    return text === null ? -1 : Number(text);
  } catch {
    return -1;
  }
}
