// The connection to the server: actions are posted in order and their answers applied; a stream brings news of a
// class.

const LATER = [404, 429, 502, 503, 504]; // unknown tab, busy, or down: retry

// Returns a function that posts a message and gives the server's answer: null if it should be retried. It throws if a retry
// won't help. `templates` are the browser's templates (templates.js).
export function postTo(url, templates) {
  return async message => {
    const response = await send(url, { ...message, templates: templates.names });
    if (!response || LATER.includes(response.status)) return null;
    if (!response.ok) throw new Error(await refusalIn(response));
    return response
      .json()
      .then(templates.whole)
      .catch(() => null); // a truncated answer
  };
}

// After a bug of ours the server's plain text says what to report; a proxy in front of it may answer in HTML.
async function refusalIn(response) {
  const isReport = response.status === 500 && response.headers.get("Content-Type")?.startsWith("text/plain");
  if (isReport) return await response.text();
  return `The server could not do that (${response.status}). Try something else, or reload the page.`;
}

function send(url, message) {
  const headers = { "Content-Type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(message) }).catch(() => null);
}

const LATER_MS = 1000; // before a retry
const GONE = [403, 404];

/** @returns {import("../../generated/contract").ClassNow} */
const nowOf = text => JSON.parse(text);
/** @returns {import("../../generated/contract").OwnNow} */
const ownOf = text => JSON.parse(text);

// The class routes of the server at `site`; `templates` completes the documents that it sends.
export function makeClassLine(site, templates) {
  const url = (path, parameters) =>
    Object.assign(new URL(path, site), { search: String(new URLSearchParams(parameters)) });
  const post = (code, message, key = "") => {
    const headers = { "Content-Type": "application/json", ...(key ? { "X-Room-Key": key } : {}) };
    return fetch(url("room", { room: code }), { method: "POST", headers, body: JSON.stringify(message) })
      .then(async answer => {
        const text = await answer.text(),
          isJson = answer.headers.get("Content-Type")?.includes("json") ?? false;
        return {
          isDone: answer.ok,
          status: answer.status,
          message: text,
          data: answer.ok && isJson ? JSON.parse(text) : null,
        };
      })
      .catch(() => ({
        isDone: false,
        status: 0,
        message: "The server does not answer. It is asked again in a moment.",
        data: null,
      }));
  };
  return {
    // Resolves to {isDone, status, message, data}; status is 0 if the server can't be reached.
    post,
    // Rejects with an error; its isRefused says that a retry won't help.
    moment: async (code, seat, shows) => {
      const answer = await fetch(url("room/moment", { room: code, seat, shows }));
      if (!answer.ok) throw Object.assign(new Error(await answer.text()), { isRefused: answer.status < 500 });
      const sent = await answer.json();
      return { ...sent, document: templates.whole({ pass: sent.document }).pass };
    },
    // Calls the handlers {now(state), own(answer), lost(), gone(message)}; returns a function that stops it. It reconnects when
    // the page wakes up. `isAround()` says whether this phone explores by itself.
    listen: ({ code, seat }, isAround, handlers) => {
      let source = null,
        timer = null,
        isOver = false;
      const open = () => {
        clearTimeout(timer);
        source?.close();
        if (isOver) return;
        source = new EventSource(url("room/events", { room: code, seat, around: isAround() ? "1" : "0" }));
        source.onmessage = ({ data }) => handlers.now(nowOf(data));
        source.addEventListener("own", ({ data }) => handlers.own(ownOf(data).answer));
        source.onerror = async () => {
          handlers.lost();
          if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
          const { status, message } = await post(code, { do: "join", seat });
          if (isOver) return;
          if (GONE.includes(status)) {
            isOver = true;
            handlers.gone(message);
          } else timer = setTimeout(open, LATER_MS);
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
        source?.close();
        document.removeEventListener("visibilitychange", wake);
      };
    },
  };
}

const RETRY_MS = 1000; // before a retry
const MAX_BACK_MS = 3000; // how long Back waits for the page that it leads to
const MAX_ACTS = 5; // in one request
const REPLACING = new Set(["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"]); // only the latest matters
const NEXT = {
  // state -> event -> next state
  resting: { asked: "asking", back: "away" },
  asking: { answered: "resting", back: "leaving" },
  away: { shown: "resting" }, // after Back: nothing is sent until its page is shown
  leaving: { answered: "away", shown: "forgetting" }, // the same, with a request under way whose answer is ignored
  forgetting: { answered: "resting", back: "leaving" }, // shown, but a request is still under way whose answer is ignored
};
const NOTHING = ["nothing", true]; // an action without effect: it fetches the scene as it is

// post(message) is as postTo returns it; look() gives the current address. Returns {act, given, forget, isWaiting}.
export function makeServer({ post, look }) {
  let state = "resting",
    queue = [],
    timer = null;
  let current = null,
    show = null; // the latest answer, on which the next actions build; the function that draws it
  const is = name => state === name;
  const becomes = event => {
    state = NEXT[state][event] ?? state;
  };
  // A run of the page that was overtaken by later actions. It isn't drawn; a fresh answer is requested, as its page may differ.
  const isLate = ({ tab, number }) => current?.tab === tab && number < current.number;
  // The action failed for good: the scene stays, with a notice.
  const refused = ({ message }) => ({ ...current, notices: [message] });
  const again = ms => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      becomes("shown");
      flush();
    }, ms);
  };
  const flush = async () => {
    if (!is("resting") || !queue.length) return;
    clearTimeout(timer);
    const acts = queue.splice(0, MAX_ACTS),
      { tab, address, view } = current;
    becomes("asked");
    const answer = await post({ tab, address, look: look(), view, acts }).catch(refused);
    const isWanted = is("asking");
    becomes("answered");
    if (isWanted) take(answer, acts, view);
    else flush();
  };
  const take = (answer, acts, view) => {
    if (!answer) {
      queue.unshift(...acts);
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
    act: (name, message) => {
      if (REPLACING.has(name) && queue.at(-1)?.[0] === name) queue.pop();
      queue.push([name, message]);
      flush();
    },
    // Takes the answer of a run of the page: on a visit, after Back, or from another server process. From now on
    // draw(answer, isDone) draws every answer.
    given: (answer, draw) => {
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
