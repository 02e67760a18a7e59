// The connection to the server: actions are posted in order and their answers applied; a stream brings news of a class.
import { MAX_BACK_MS, RETRY_MS, request, isGone, isTemporary } from "./request.js";

const UNKNOWN_TAB = 404; // the server process is new

/** Returns a function that posts a message and resolves to the server's answer, or to null if it should be retried. It throws if a retry won't help.
 * `templates` are the browser's templates (templates.js). @param {URL} url @param {Templates} templates */
export const postTo = (url, templates) => async (/** @type {object} */ message) => {
  const { isDone, status, type, message: text, data } = await request(url, { ...message, templates: templates.names });
  if (isTemporary(status) || status === UNKNOWN_TAB) return null;
  // After a bug of ours the server's plain text says what to report; a proxy in front of it may answer in HTML.
  if (status === 500 && type.startsWith("text/plain")) throw new Error(text);
  if (!isDone) throw new Error(`The server could not do that (${status}). Try something else, or reload the page.`);
  try {
    return templates.complete(data);
  } catch {
    return null; // it refers to a template that isn't here
  }
};

const ENDED = 410;
const SILENT_MS = 5000, // without an event, until the state is polled
  POLL_MS = 2000;

const isOut = (/** @type {Reply} */ { status }) => isGone(status) || status === ENDED;
/** @param {string} text @returns {import("../../generated/contract").ClassNow} */
const parseNow = text => JSON.parse(text);
/** @param {string} text @returns {import("../../generated/contract").OwnNow} */
const parseOwn = text => JSON.parse(text);

/** The class routes of the server at `site`; `templates` completes the documents that it sends. @returns {ClassApi} */
export function makeClassApi(/** @type {URL} */ site, /** @type {Templates} */ templates) {
  const url = (/** @type {string} */ path, /** @type {Record<string, any>} */ parameters) =>
    Object.assign(new URL(path, site), { search: String(new URLSearchParams(parameters)) });
  /** @type {ClassApi["post"]} */
  const post = (code, message, key = "") =>
    request(url("room", { room: code }), message, key ? { "X-Room-Key": key } : undefined);
  return {
    // post() and moment() resolve to replies as request() gives them; the data of moment() are the moment.
    post,
    moment: async (code, seat, shows, { isWhole = false } = {}) => {
      const reply = await request(url("room/moment", { room: code, seat, shows, ...(isWhole ? { whole: "1" } : {}) }));
      return reply.isDone ? { ...reply, data: templates.completeMoment(reply.data) } : reply;
    },
    talkHref: (code, seat) => String(url("room/home", { room: code, seat })), // the talk of a class that has ended
    // Reopens a room that the server has lost (classSpeaker.js).
    reopen: ({ code, link, seat, key = "" }, commands) =>
      request(url("room/reopen", { room: code }), { link, seat, commands }, { "X-Room-Key": key }),
    // Calls the handlers {now(state), own(received), lost(), gone(message, status)}; returns a function that stops it. It reconnects when
    // the page wakes up. isAround() returns whether this phone explores by itself. If no event arrives, because a proxy blocks or buffers the
    // stream, it polls every few seconds.
    listen: ({ code, seat }, isAround, handlers) => {
      let source = /** @type {EventSource | null} */ (null),
        timer = 0,
        poll = 0,
        isPolled = false, // whether the latest state was polled
        isOver = false;
      const logged = () => (handlers.known ? { log: handlers.known() } : {}),
        place = () => ({ room: code, seat, around: isAround() ? "1" : "0", ...logged() });
      const stopPolling = () => {
        clearTimeout(poll);
        poll = 0;
        isPolled = false;
      };
      const leave = (/** @type {Reply} */ { message, status }) => {
        isOver = true;
        clearTimeout(poll);
        source?.close();
        handlers.gone(message, status);
      };
      const pollNow = async () => {
        const reply = await request(url("room/now", place()));
        if (isOver || !poll) return; // an event has come
        if (isOut(reply)) return leave(reply);
        isPolled = reply.isDone;
        if (isPolled) {
          if (reply.data.log) handlers.log?.(reply.data.log);
          handlers.own(reply.data.own);
          handlers.now(reply.data.now);
        }
        if (!isOver) poll = setTimeout(pollNow, POLL_MS);
      };
      const open = () => {
        clearTimeout(timer);
        source?.close();
        if (isOver) return;
        poll ||= setTimeout(pollNow, SILENT_MS);
        source = new EventSource(url("room/events", place()));
        source.onmessage = ({ data }) => {
          stopPolling();
          handlers.now(parseNow(data));
        };
        source.addEventListener("own", ({ data }) => handlers.own(parseOwn(data)));
        source.addEventListener("log", ({ data }) => handlers.log?.(JSON.parse(data)));
        source.onerror = async () => {
          poll ||= setTimeout(pollNow, SILENT_MS);
          if (!isPolled) handlers.lost();
          if (source?.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
          const reply = await post(code, { do: "join", seat });
          if (isOver) return;
          if (isOut(reply)) leave(reply);
          else timer = setTimeout(open, RETRY_MS);
        };
      };
      const wake = () => {
        if (document.visibilityState === "visible") open();
      };
      document.addEventListener("visibilitychange", wake);
      open();
      return () => {
        isOver = true;
        clearTimeout(timer);
        clearTimeout(poll);
        source?.close();
        document.removeEventListener("visibilitychange", wake);
      };
    },
  };
}

const MAX_ACTIONS = 5; // in one request
const REPLACING = new Set(["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"]); // only the latest matters
/** @type {Record<string, Record<string, string>>} state -> event -> next state */
const NEXT = {
  resting: { asked: "asking", back: "away" },
  asking: { answered: "resting", back: "leaving" },
  away: { shown: "resting" }, // after Back: nothing is sent until its page is shown
  leaving: { answered: "away", shown: "forgetting" }, // the same, with a request under way whose answer is ignored
  forgetting: { answered: "resting", back: "leaving" }, // shown, but a request is still under way whose answer is ignored
};
/** @type {[string, boolean]} */
const NOTHING = ["nothing", true]; // an action without effect: it fetches the scene as it is

// post(message) is as postTo returns it; look() gives the current address. Returns {act, receive, forget, isWaiting}.
export function makeServer(/** @type {{ post(message: any): Promise<any>, look(): string }} */ { post, look }) {
  let state = "resting",
    queue = /** @type {[string, any][]} */ ([]),
    timer = 0,
    current = /** @type {any} */ (null), // the latest answer, on which the next actions build
    show = (/** @type {any} */ _answer, /** @type {boolean} */ _isDone) => {}; // draws an answer
  const is = (/** @type {string} */ name) => state === name;
  const becomes = (/** @type {string} */ event) => {
    state = NEXT[state][event] ?? state;
  };
  // A run of the page that was overtaken by later actions. It isn't drawn; a fresh answer is requested, as its page may differ.
  const isLate = (/** @type {any} */ { tab, number }) => current?.tab === tab && number < current.number;
  // The action failed for good: the scene stays, with a notice.
  const refused = (/** @type {Error} */ { message }) => ({ ...current, notices: [message] });
  const again = (/** @type {number} */ ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      becomes("shown");
      flush();
    }, ms);
  };
  const flush = async () => {
    if (!is("resting") || !queue.length) return;
    clearTimeout(timer);
    const actions = queue.splice(0, MAX_ACTIONS),
      { tab, address, view } = current;
    becomes("asked");
    const answer = await post({ tab, address, look: look(), view, actions }).catch(refused);
    const isWanted = is("asking");
    becomes("answered");
    if (isWanted) take(answer, actions, view);
    else flush();
  };
  const take = (/** @type {any} */ answer, /** @type {[string, any][]} */ actions, /** @type {string} */ view) => {
    if (!answer) {
      queue.unshift(...actions);
      again(RETRY_MS);
      return;
    }
    if (view === current.view) {
      current = answer;
      show(answer, true);
    } else {
      // the page has changed meanwhile and needs an answer of its own
      current = { ...current, address: answer.address, number: answer.number };
      queue.unshift(NOTHING);
    }
    flush();
  };
  const isAsking = () => Object.hasOwn(NEXT[state], "answered");
  return {
    get isWaiting() {
      return isAsking() || queue.length > 0;
    },
    act: (/** @type {string} */ name, /** @type {any} */ message) => {
      if (REPLACING.has(name) && queue.at(-1)?.[0] === name) queue.pop();
      queue.push([name, message]);
      flush();
    },
    // Takes the answer of a run of the page: on a visit, after Back, or from another server process. From now on
    // draw(answer, isDone) draws every answer.
    receive: (/** @type {any} */ answer, /** @type {(answer: any, isDone: boolean) => void} */ draw) => {
      show = draw;
      if (isLate(answer)) {
        current = { ...answer, address: current.address, number: current.number };
        queue.unshift(NOTHING);
      } else {
        current = answer;
        becomes("shown");
        show(answer, false);
      }
      flush();
    },
    // After Back nothing is sent until its page is shown. A request under way still takes effect on the server, which
    // therefore needs to be asked again.
    forget: () => {
      queue = isAsking() ? [NOTHING] : [];
      becomes("back");
      again(MAX_BACK_MS);
    },
  };
}
