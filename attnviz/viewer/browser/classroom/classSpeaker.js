// The speaker's side of a class: sends it where the speaker is, and receives how many are there and what they answered.
import { readStored, writeStored } from "../lesson/memory.js";
import { makeListeners } from "../dom/element.js";
import { RETRY_MS, isTemporary } from "../shell/ask.js";

const NAME = "attnviz class";
const LED = "attnviz class led"; // the number of the place that another page was opened for
const HEARTBEAT_MS = 8000;
const OWN = "These numbers are your own: no address holds them, so the class can’t follow here.";

// `line` is that of server.js; storeOf() returns a Storage that survives a reload. Pages share the object.
export function makeSpeaker(line, storeOf) {
  let room = /** @type {import("../../generated/contract").Seat | null} */ (readStored(storeOf, NAME)),
    now = /** @type {any} */ (null), // ClassNow of generated/contract.d.ts
    stop = () => {},
    heartbeat = 0,
    target = /** @type {any} */ (null), // {at, question, moment, isShown} that the class should have
    sent = "", // the last target that the class has
    isSending = false,
    number = takeLed(storeOf), // of the last place sent, or that this page was opened for; -1 if none
    isOpenedForPlace = number >= 0,
    pressed = /** @type {number | null} */ (null), // the count of presses when last read
    message = ""; // what went wrong
  const { add: onChange, call: notify } = makeListeners();
  const keep = () => writeStored(storeOf, NAME, room);
  const post = body => line.post(room?.code, body, room?.key);
  function forget(why) {
    stop();
    clearInterval(heartbeat);
    [room, now, stop, sent, number, pressed, message] = [null, null, () => {}, "", -1, null, why];
    keep();
    notify();
  }
  function receive(received) {
    const isFirst = now === null;
    now = received;
    if (now.hasEnded) return forget("The class has ended.");
    if (number < 0) number = now.number;
    pressed ??= now.audience.pressed;
    if (!isFirst || !isShownThere()) flush();
    notify();
  }
  function begin() {
    const gone = () => forget("The class has ended.");
    stop = line.listen(room, () => false, { now: receive, own: () => {}, lost: () => {}, gone });
    heartbeat = setInterval(() => post({ do: "here" }), HEARTBEAT_MS);
  }
  // Whether the class already sees the answer that this page hides: another device or an earlier page has revealed it.
  function isShownThere() {
    const isThere = now?.number === number && target && !target.question && now.at === target.at;
    return Boolean(isThere && now.isShown && !target.isShown);
  }
  async function flush() {
    if (!room || !now || !target || isSending || JSON.stringify(target) === sent) return;
    isSending = true;
    const request = JSON.stringify(target),
      reply = await post({ do: "move", ...JSON.parse(request) });
    isSending = false;
    if (!room) return;
    if (reply.isDone) {
      /** @type {import("../../generated/contract").Led} */
      const led = reply.data;
      number = led.number;
      message = led.isOwn ? OWN : "";
    } else ({ message } = reply);
    if (isTemporary(reply.status)) setTimeout(flush, RETRY_MS);
    else sent = request;
    notify();
    flush();
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
      return message;
    },
    get isUpToDate() {
      return !isSending && JSON.stringify(target) === sent && now !== null && now.number >= number;
    },
    // Where the speaker's other device has led the class: {at, kind, question, isShown}, or null.
    get led() {
      const isElsewhere = now !== null && number >= 0 && now.number > number;
      if (isSending || !(isElsewhere || isShownThere())) return null;
      return { at: now.at, kind: now.kind, question: now.question, isShown: now.isShown };
    },
    followed() {
      if (now) number = now.number;
    },
    // How many steps forward (negative: back) the other device has made since the last call.
    presses() {
      const before = pressed;
      pressed = now?.audience.pressed ?? null;
      return pressed === null ? 0 : pressed - (before ?? 0);
    },
    press: by => command({ do: "press", by }),
    async open() {
      const { isDone, message: why, data } = await line.post("", { do: "make" });
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
    leaves: nth => writeStored(storeOf, LED, nth),
    // Sends where this page is, unless another device has led it there: then the class knows.
    shows(place, isLed = false) {
      target = { question: null, moment: null, isShown: false, ...place };
      if (isLed || isOpenedForPlace) sent = JSON.stringify(target);
      isOpenedForPlace = false;
      flush();
    },
    openAnswers: isOpen => command({ do: "open", isOpen }),
    again: () => command({ do: "again" }),
    handOver: () => command({ do: "hand" }),
    counts: (by = "answer") => command({ do: "counts", by }),
    command,
    async end() {
      await post({ do: "end" });
      forget(""); // the speaker who ended the class gets no 'class ended' notice, not even through the stream
    },
    moment: () => line.moment(room?.code, room?.seat, now?.shows),
    onChange,
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
