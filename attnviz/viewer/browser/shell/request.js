// Requests to the server, and when to repeat them.

export const RETRY_MS = 1000;
export const MAX_BACK_MS = 3000; // how long Back waits for the server's page; after that the address follows what is shown
const TEMPORARY = [0, 429, 502, 503, 504]; // no answer, busy, or a server process is down
const NO_ANSWER = "The server does not answer. Trying again in a moment.";

// The server has no such room, or seat in it.
export const isGone = (/** @type {number} */ status) => status === 403 || status === 404;
export const isTemporary = (/** @type {number} */ status) => TEMPORARY.includes(status);
/** @returns {Promise<void>} */
export const pause = (ms = RETRY_MS) => new Promise(done => setTimeout(done, ms));

// GETs `url`, or POSTs a message to it as JSON. Never rejects: status 0 means no answer, or a truncated one. `message` is the reply's
// text, `data` its JSON if there is any.
/** @param {string | URL} url @param {any} [message] @param {Record<string, string>} [headers] */
export async function request(url, message = null, headers = {}) {
  const json = { "Content-Type": "application/json", ...headers };
  const init = message === null ? {} : { method: "POST", headers: json, body: JSON.stringify(message) };
  try {
    const reply = await fetch(url, init),
      text = await reply.text(),
      type = reply.headers.get("Content-Type") ?? "",
      isJson = type.includes("json") || (!type && text),
      data = reply.ok && isJson ? JSON.parse(text) : null;
    return { isDone: reply.ok, status: reply.status, type, message: text, data };
  } catch {
    return { isDone: false, status: 0, type: "", message: NO_ANSWER, data: null };
  }
}

// Repeats attempt() while its reply is temporary and isWanted(); wait(message) is called with why.
/** @param {() => Promise<any>} attempt @param {(message: string) => void} wait @returns {Promise<any>} */
export async function retry(attempt, wait, isWanted = () => true) {
  for (;;) {
    const reply = await attempt();
    if (!isTemporary(reply.status) || !isWanted()) return reply;
    wait(reply.message);
    await pause();
    if (!isWanted()) return reply;
  }
}

// The JSON of a reply. Throws a TypeError without one, and an Error with the server's reason if it refuses.
/** @param {string | URL} url @param {any} [message] */
export async function fetchJson(url, message = null) {
  const reply = await request(url, message);
  if (!reply.status) throw new TypeError(reply.message);
  if (!reply.isDone) throw new Error(reply.message);
  return reply.data;
}
