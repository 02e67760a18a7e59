// The speaker's window: notes, the next moment and the time, in step with the window that is presented.
import { readPlace } from "../model/address.js";
import { element, svgElement, write, button } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { stepAt } from "../model/state.js";
import { answerOf } from "./question.js";

const MOST = 24; // words at most
const [WIDTH, HEIGHT, EDGE] = [120, 48, 6];
const LEAST = 0.02; // smaller attention weights get no arc

// {words, arcs: [[query, key, share]]} of the last words up to the one that is looked at.
/** @param {Pass} pass @param {Where} where */
export function smallPictureOf(pass, where) {
  const { words } = pass.document,
    sentence = words.query.map(String);
  const { query } = where.cell,
    first = Math.max(0, Math.min(query - (MOST >> 1), sentence.length - MOST));
  const arcs = shown => {
    const { attention } = stepAt(shown, where);
    if (!words.shared || !shown.stages.has(attention)) return [];
    return shown.stages.get(attention).axes[2].labels.flatMap((_, key) => {
      const share = shown.number(attention, shown.indexAt(attention, { ...where.cell, key })) ?? 0;
      return share > LEAST && key >= first && key < first + MOST
        ? [[query - first, key - first, Number(share.toFixed(3))]]
        : [];
    });
  };
  return { words: sentence.slice(first, first + MOST), arcs: arcs(pass), isPair: Boolean(pass.other) };
}

// The thumbnail of a moment from the server.
export function smallPictureFrom({ document, at }) {
  const pass = readPass(document);
  return smallPictureOf(pass, readPlace(pass, `?${at}`));
}

export function drawSmallPicture(picture) {
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "small-picture", "aria-hidden": "true" });
  if (!picture) return svg;
  const { words, arcs, isPair } = picture,
    gap = (WIDTH - 2 * EDGE) / Math.max(words.length - 1, 1),
    xOf = place => (words.length > 1 ? EDGE + place * gap : WIDTH / 2),
    base = HEIGHT - EDGE - 2;
  svg.append(
    ...arcs.map(([query, key, share]) => {
      const [from, to] = [xOf(query), xOf(key)],
        far = Math.abs(from - to),
        top = base - Math.min(6 + 0.62 * far, base - 3) * 1.3;
      const d =
        query === key
          ? `M${from} ${base}c-9 -16 9 -16 0 0`
          : `M${from} ${base}C${from} ${top} ${to} ${top} ${to} ${base}`;
      return svgElement("path", { d, "stroke-width": (0.6 + 5 * share).toFixed(1), class: "arc" });
    }),
    ...words.map((_, place) =>
      svgElement("circle", {
        cx: xOf(place),
        cy: base,
        r: place === arcs[0]?.[0] ? 3.4 : 2.2,
        class: place === arcs[0]?.[0] ? "from" : "",
      }),
    ),
  );
  if (isPair) {
    const sides = svgElement("text", { x: 3, y: 9, class: "pair" });
    sides.textContent = "A B";
    svg.append(sides);
  }
  return svg;
}

const SECOND_MS = 1000;
const BLACK = "The room sees a black screen. B shows the talk again.";
const OVER = "The room sees that the talk is over. Page Up goes back.";

// Returns {element, update({moment, next, planned, nth}), stage({isBlank, isOver}), end()}: `next` is a promise of the moment that
// follows, null at the end; `planned` are the minutes of each moment, of which this is the nth; stage() says what the room sees.
function makeSpeakerPanel() {
  const box = element("aside", "speaker"),
    clock = element("p", "clock"),
    plan = element("p", "plan"),
    stageStatus = element("p", "room"),
    notes = element("p", "own-notes"),
    answer = element("p", "the-answer"),
    next = element("section", "next");
  box.setAttribute("aria-label", "For the speaker");
  let begun = Date.now(),
    described = null; // the moment shown, so that late replies are dropped
  const tick = () => write(clock, `${timeText(Date.now() - begun)} · ${new Date().toTimeString().slice(0, 5)}`);
  const timer = setInterval(tick, SECOND_MS);
  const again = button("Start the clock again", () => {
    begun = Date.now();
    tick();
  });
  tick();
  stageStatus.setAttribute("role", "status");
  box.append(clock, plan, stageStatus, notes, answer, next, again);
  return {
    element: box,
    stage: ({ isBlank, isOver }) => write(stageStatus, isBlank ? BLACK : isOver ? OVER : ""),
    async update({ moment, next: coming, planned, nth }) {
      if (described === moment) return;
      described = moment;
      write(notes, moment.notes || "No notes.");
      notes.classList.toggle("none", !moment.notes);
      write(answer, moment.question ? `Answer: ${answerOf(moment.question)}` : "");
      write(plan, planText(planned, nth));
      const following = await (coming?.catch(() => null) ?? null);
      if (described !== moment) return;
      next.replaceChildren(element("h2", "", following ? "Next" : "This is the last moment."));
      if (following) next.append(drawSmallPicture(smallPictureFrom(following)), element("p", "", lineOf(following)));
    },
    end: () => clearInterval(timer),
  };
}

// Milliseconds as 4:05.
export function timeText(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// When the nth moment should end, out of the whole talk; empty without planned minutes.
export function planText(planned, nth) {
  const [here, total] = [planned.slice(0, nth), planned].map(all => all.reduce((sum, each) => sum + each, 0));
  return total ? `This moment ends at ${timeText(here * 60_000)} of ${timeText(total * 60_000)} planned` : "";
}

function lineOf({ title, text, question }) {
  const words = text.map(([, run]) => run.text ?? run).join("");
  return [title, words, question?.prompt.map(([, run]) => run.text ?? run).join("")]
    .filter(Boolean)
    .join(" – ")
    .slice(0, 200);
}

const NAME = "attnviz talk ";

// `name` pairs the two; empty until a second one is opened. actions: {now, follow}: where one is, {lesson, moment, isShown, isBlank,
// isOver}, and what goes where the other has gone. Returns {open(href), sync(), end()}.
export function makeWindowPair(window, name, { now, follow }) {
  const lineTo = window.location.protocol === "file:" ? windowLine : channelLine;
  let line = null,
    hasTold = false; // if so, the reply to "hello" is out of date
  const onMessage = data => {
    if (data === "hello") line.send({ answer: now() });
    else if (!data.answer) follow(data);
    else if (!hasTold) follow(data.answer);
  };
  const sync = () => {
    hasTold = true;
    line?.send(now());
  };
  if (name) {
    line = lineTo(window, name, window.opener, onMessage);
    line.send("hello");
  }
  return {
    // hrefOf(name) is the address of the second window. Returns whether the browser opened it.
    open(hrefOf) {
      name ||= String(window.crypto.getRandomValues(new Uint32Array(1))[0]);
      const other = window.open(hrefOf(name), NAME + name, "popup,width=1180,height=760");
      if (!other) return false;
      line?.end();
      line = lineTo(window, name, other, onMessage);
      return true;
    },
    sync,
    end: () => line?.end(),
  };
}

function channelLine(window, name, _other, onMessage) {
  const channel = new window.BroadcastChannel(NAME + name);
  channel.onmessage = ({ data }) => onMessage(data);
  return { send: data => channel.postMessage(data), end: () => channel.close() };
}

// Files are origins of their own, which BroadcastChannel can't connect.
function windowLine(window, _name, other, onMessage) {
  const listen = ({ source, data }) => source === other && onMessage(data);
  window.addEventListener("message", listen);
  return {
    send: data => other?.postMessage(data, "*"), // a file's origin has no name to send to; `other` is known to be ours
    end: () => window.removeEventListener("message", listen),
  };
}

// `name` is that of the pair in a speaker's window, else empty; `box` is the page, `body` what the speaker's part stands in; actions as
// makeWindowPair takes them. Returns {open(hrefOf), sync(), update(moment, room), end(), isSpeakers}: what the panel shows, as it takes it; isSpeakers
// says which of the two this is.
export function makeTwoWindows(window, name, { box, body }, actions) {
  const together = makeWindowPair(window, name, actions),
    panel = name ? makeSpeakerPanel() : null;
  if (panel) body.append(panel.element);
  box.classList.toggle("of-speaker", panel !== null);
  return {
    isSpeakers: panel !== null,
    open: together.open,
    sync: together.sync,
    update: (moment, room) => {
      panel?.update(moment);
      panel?.stage(room);
    },
    end: () => {
      together.end();
      panel?.end();
    },
  };
}
