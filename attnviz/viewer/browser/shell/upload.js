// The user's file: kept in this page's memory only, and sent again when another server process lacks it.

const BUSY = 429;
const LATER = [404, BUSY, 502, 503, 504]; // it doesn't know this tab yet, compares another of it, or isn't there
const WAITS = [
  "The server does not answer. The file is sent again in a moment.",
  "Other files are compared first. This one is sent again in a moment.",
];
const RETRY_MS = 1000;
const MAX_SECONDS = 60; // that a file may take to be sent

// The file that is kept: {name, bytes, answers, tab, pieces} or null. `tab` is the one that has been sent it, `pieces` what came of it;
// the bytes of an example are the server's.
// Several bundles of ours are on a page, so that the window has it.
export function fileKept(window) {
  return window.attnvizFile ?? null;
}

export function keepFile(window, file) {
  window.attnvizFile = file;
}

// Sends what is kept for a tab, again and again until the server answers, the file takes too long or `isWanted()` says no.
// tell() is told meanwhile which part of it has been sent, or why it waits; send(url, body, tell, isWanted) gives {status,
// text}, or null without an answer. Returns what is kept, with what came of it, or null.
export async function sendFile(url, tab, file, isWanted, report = _how => {}, { send = post, wait = paused } = {}) {
  const line = JSON.stringify({ tab, filename: file.name, ...file.answers });
  while (isWanted()) {
    const response = await send(url, new Blob([line, "\n", file.bytes]), report, isWanted);
    const answer = response && !LATER.includes(response.status) ? answerOf(response) : null;
    if (answer && isWanted()) {
      if (answer.file) file.bytes = Uint8Array.from(atob(answer.file), letter => letter.charCodeAt(0));
      return Object.assign(file, { tab, pieces: answer.pieces });
    }
    report(WAITS[Number(response?.status === BUSY)]);
    await wait(RETRY_MS);
  }
  return null;
}

function paused(ms) {
  return new Promise(done => setTimeout(done, ms));
}

function answerOf({ status, text }) {
  if (status !== 200) return { pieces: [{ kind: "text", runs: [["", text]] }] };
  try {
    return JSON.parse(text);
  } catch {
    return null; // half an answer
  }
}

// fetch doesn't say how far it is.
function post(url, body, report, isWanted) {
  return new Promise(done => {
    const request = new XMLHttpRequest();
    let sent = 0;
    const isLate = setTimeout(() => {
      done({ status: 408, text: tooSlow(sent) });
      request.abort();
    }, MAX_SECONDS * 1000);
    request.upload.onprogress = ({ loaded, total }) => {
      sent = loaded / total;
      if (isWanted()) report(sent);
      else request.abort();
    };
    request.upload.onload = () => {
      clearTimeout(isLate);
      report(1);
    };
    request.onloadend = () => {
      clearTimeout(isLate);
      done(request.status ? { status: request.status, text: request.responseText } : null);
    };
    request.open("POST", url);
    request.send(body);
  });
}

function tooSlow(sent) {
  return `A file has ${MAX_SECONDS} s to come; of this one ${Math.floor(100 * sent)} % came. Leave out what attention doesn’t need, or take a faster line.`;
}
