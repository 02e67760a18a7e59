// The connection to the server: actions are posted in order and their answers applied; a stream brings news of a
// class.

const LATER = [404, 429, 502, 503, 504]; // it doesn't know this tab yet, has too much to do, or isn't there

// Returns a function of a message that gives the server's answer, or null where it has none now. It throws where it never
// will have one. `templates` are those that the browser has (templates.js).
export function postTo(url, templates) {
  return async message => {
    const response = await send(url, { ...message, templates: templates.names });
    if (!response || LATER.includes(response.status)) return null;
    if (!response.ok) throw new Error(await refusalIn(response));
    return response
      .json()
      .then(templates.whole)
      .catch(() => null); // half an answer
  };
}

// At a bug of ours the server says what to send us (server/responses.py); what stands before it may answer in HTML.
async function refusalIn(response) {
  const isReport = response.status === 500 && response.headers.get("Content-Type")?.startsWith("text/plain");
  if (isReport) return await response.text();
  return `The server could not do that (${response.status}). Try something else, or reload the page.`;
}

function send(url, message) {
  const headers = { "Content-Type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(message) }).catch(() => null);
}

const LATER_MS = 1000; // until what had no answer is asked again
const GONE = [403, 404];

/** @returns {import("../../generated/contract").ClassNow} */
const nowOf = text => JSON.parse(text);
/** @returns {import("../../generated/contract").OwnNow} */
const ownOf = text => JSON.parse(text);

// The line to the server at `site`; `templates` puts together what it sends of a pass.
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
    // {isDone, status, message, data}; status 0 without an answer.
    post,
    // It fails with an error that isRefused where it will never come.
    moment: async (code, seat, shows) => {
      const answer = await fetch(url("room/moment", { room: code, seat, shows }));
      if (!answer.ok) throw Object.assign(new Error(await answer.text()), { isRefused: answer.status < 500 });
      const sent = await answer.json();
      return { ...sent, document: templates.whole({ pass: sent.document }).pass };
    },
    // Hears {now(state), own(answer), lost(), gone(message)}; returns what ends that. Whoever slept, or lost the network, is told
    // where the class is as soon as they are back; `isAround()` says whether they look around.
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
          if (source.readyState !== EventSource.CLOSED) return; // the browser asks again
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

const RETRY_MS = 1000; // until a server that could not answer is asked again
const MAX_BACK_MS = 3000; // that Back waits for a run to show where it led
const MAX_ACTS = 5; // acts that one request tells
const REPLACING = new Set(["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"]); // the last counts
const NEXT = {
  // state -> what happens -> the state after it
  resting: { asked: "asking", back: "away" },
  asking: { answered: "resting", back: "leaving" },
  away: { shown: "resting" }, // Back has led elsewhere: nothing is asked until that is shown
  leaving: { answered: "away", shown: "forgetting" }, // the same, and what is on its way is for nobody
  forgetting: { answered: "resting", back: "leaving" }, // what is on its way is still for nobody
};
const NOTHING = ["nothing", true]; // an act that changes nothing: its answer is the scene that it is asked of

// post(message) gives an answer, null where there is none now, and throws where there never will be. look() is the address
// as it stands. Returns {act, given, forget, isWaiting}.
export function makeServer({ post, look }) {
  let state = "resting",
    queue = [],
    timer = null;
  let current = null,
    show = null; // the answer that is shown, or that what is done next is done to; what shows it
  const is = name => state === name;
  const becomes = event => {
    state = NEXT[state][event] ?? state;
  };
  // A run that was slower than what was done after it. It isn't shown: a new answer is asked for, as another page may need one.
  const isLate = ({ tab, number }) => current?.tab === tab && number < current.number;
  // It will never be done: what is shown stays, with a sentence on that.
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
      // a page that shows something else has come meanwhile: it needs an answer of its own
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
    // The answer of a run of the page: on a visit, after Back, and from a process that has taken over. From now on
    // draw(answer, isDone) shows them, to what was done here too.
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
    // Back leads elsewhere: nothing is done until that is shown. What is on its way is done there all the same, so that
    // the server has to hear where we are.
    forget: () => {
      queue = isAsking() ? [NOTHING] : [];
      becomes("back");
      again(MAX_BACK_MS);
    },
  };
}
