// The line to a class: what is done there is posted, what happens there is heard, and what the class sees is fetched.

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
          said: text,
          data: answer.ok && isJson ? JSON.parse(text) : null,
        };
      })
      .catch(() => ({
        isDone: false,
        status: 0,
        said: "The server does not answer. It is asked again in a moment.",
        data: null,
      }));
  };
  return {
    // {isDone, status, said, data}; status 0 without an answer.
    post,
    // It fails with an error that isRefused where it will never come.
    moment: async (code, seat, shows) => {
      const answer = await fetch(url("room/moment", { room: code, seat, shows }));
      if (!answer.ok) throw Object.assign(new Error(await answer.text()), { isRefused: answer.status < 500 });
      const sent = await answer.json();
      return { ...sent, document: templates.whole({ pass: sent.document }).pass };
    },
    // Hears {now(state), own(answer), lost(), gone(said)}; returns what ends that. Whoever slept, or lost the network, is told
    // where the class is as soon as they are back; `isAround()` says whether they look around.
    listen: ({ code, seat }, isAround, told) => {
      let source = null,
        timer = null,
        isOver = false;
      const open = () => {
        clearTimeout(timer);
        source?.close();
        if (isOver) return;
        source = new EventSource(url("room/events", { room: code, seat, around: isAround() ? "1" : "0" }));
        source.onmessage = ({ data }) => told.now(nowOf(data));
        source.addEventListener("own", ({ data }) => told.own(ownOf(data).answer));
        source.onerror = async () => {
          told.lost();
          if (source.readyState !== EventSource.CLOSED) return; // the browser asks again
          const { status, said } = await post(code, { do: "join", seat });
          if (isOver) return;
          if (GONE.includes(status)) {
            isOver = true;
            told.gone(said);
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
