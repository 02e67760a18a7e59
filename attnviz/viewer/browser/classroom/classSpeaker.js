// The speaker of a class: where they are is told to it, and how many are there and what they said is heard.
import { readKept, writeKept } from "../lesson/memory.js";

const NAME = "attnviz class";
const LED = "attnviz class led"; // the number of the place for which another page was opened
const HERE_MS = 8000; // between two signs of life
const LATER_MS = 1000;

// `line` is that of server.js; storeOf() gives a Storage, which a reload leaves. Returns an object that pages share.
export function makeSpeaker(line, storeOf) {
  /** @type {import("../../generated/contract").Seat | null} */
  let room = readKept(storeOf, NAME);
  /** @type {import("../../generated/contract").ClassNow | null} */
  let now = null;
  let stop = null,
    beat = null,
    target = null, // {at, question, isShown} as it should be
    sent = "", // as it was told last
    isSending = false,
    number = takeLed(storeOf), // of the place that was told last, or for which this page was opened; -1 where there is none
    isOpenedThere = number >= 0,
    pressed = null, // as it was when this page came, or heard of it last
    message = ""; // what went wrong
  const listeners = new Set(),
    notify = () => {
      for (const each of listeners) each();
    };
  const keep = () => writeKept(storeOf, NAME, room);
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
  // Whether the answer is shown to the class already, where this page does not show it: another device or a page before did.
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
        sent = request; // it will never be done
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
    // Whether the class is told all that there is to tell.
    get isTold() {
      return !isSending && JSON.stringify(target) === sent && now !== null && now.number >= number;
    },
    // Where another device of the speaker's has led the class: {at, kind, question, isShown}, or null where nobody else has.
    get led() {
      const isElsewhere = now !== null && !isSending && number >= 0 && now.number > number;
      return isElsewhere || (!isSending && isShownThere())
        ? { at: now.at, kind: now.kind, question: now.question, isShown: now.isShown }
        : null;
    },
    // Goes where the other device is.
    followed: () => {
      if (now) number = now.number;
    },
    // How many presses on, or back where it is below 0, another device has made since this was asked.
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
    // Speaks with what another device was given, on the page that is opened next.
    take: newSeat => {
      room = newSeat;
      keep();
    },
    // The next page shows the place of that number: it does not lead the class there again.
    leaves: nth => writeKept(storeOf, LED, nth),
    // Tells where this page is; what it shows as another device `isLed` it there, the class knows.
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
      forget(""); // who has ended it is not told so, by the stream neither
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
