// A file of one's own: kept in this page's memory and nowhere else, and sent again where another server has none of it.

const LATER = [404, 408, 429, 502, 503, 504]; // it doesn't know this tab yet, has too much to do, or isn't there
const RETRY_MS = 1000;

// What is kept: {name, bytes, said, tab, pieces} or null. `tab` is the one that has been sent it, `pieces` what came of it;
// the bytes of an example are the server's.
// Several bundles of ours are on a page, so that the window has it.
export function fileKept(window) {
  return window.attnvizFile ?? null;
}

export function keepFile(window, kept) {
  window.attnvizFile = kept;
}

// Sends what is kept for a tab, again and again until the server answers or `isWanted()` says no. Returns what is
// kept, with what came of it, or null.
export async function sendFile(url, tab, kept, isWanted, wait = (ms) => new Promise((done) => setTimeout(done, ms))) {
  const line = JSON.stringify({ tab, filename: kept.name, ...kept.said });
  while (isWanted()) {
    const response = await fetch(url, { method: "POST", body: new Blob([line, "\n", kept.bytes]) }).catch(() => null);
    const answer = response && !LATER.includes(response.status) ? await answerOf(response) : null;
    if (answer && isWanted()) {
      if (answer.file) kept.bytes = Uint8Array.from(atob(answer.file), (letter) => letter.charCodeAt(0));
      return Object.assign(kept, { tab, pieces: answer.pieces });
    }
    await wait(RETRY_MS);
  }
  return null;
}

async function answerOf(response) {
  if (!response.ok) return { pieces: [{ kind: "text", runs: [["", await response.text()]] }] };
  return response.json().catch(() => null); // half an answer
}
