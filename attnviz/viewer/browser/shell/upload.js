// The user's file: kept in this page's memory only, and sent again when another server process lacks it.
import { isTemporary, pause } from "./request.js";

const UNKNOWN_TAB = 404,
  BUSY = 429;
const SILENT = "The server does not answer. The file will be sent again in a moment.",
  WAITING = "The server is busy with other files. Yours will be sent again in a moment.";
const MAX_SECONDS = 60; // for the upload

/** The user's file: {name, bytes, answers, tab, pieces} or null. `tab` is the tab that it was sent for, `pieces` the report; the bytes of an
 * example come from the server. It hangs on the window, as a page has several bundles. @param {any} window @returns {UserFile | null} */
export const currentFile = window => window.attnvizFile ?? null;

export function setCurrentFile(/** @type {any} */ window, /** @type {UserFile | null} */ file) {
  window.attnvizFile = file;
}

/** Sends a file for a tab, and retries until the server answers, the upload takes too long or `isWanted()` is false. report() gets the fraction
 * sent, or the reason for waiting; send(url, body, report, isWanted) resolves to {status, text}, or null without an answer. Resolves to the file
 * with its report, or null. @param {URL} url @param {string} tab @param {UserFile} file @param {() => boolean} isWanted
 * @returns {Promise<UserFile | null>} */
export async function sendFile(
  url,
  tab,
  file,
  isWanted,
  report = (/** @type {any} */ _progress) => {},
  { send = post, wait = pause } = {},
) {
  const line = JSON.stringify({ tab, filename: file.name, ...file.answers });
  while (isWanted()) {
    const response = await send(url, new Blob([line, "\n", file.bytes]), report, isWanted);
    const status = response?.status ?? 0,
      answer = isTemporary(status) || status === UNKNOWN_TAB ? null : answerIn(response);
    if (answer && isWanted()) {
      if (answer.file) file.bytes = Uint8Array.from(atob(answer.file), letter => letter.charCodeAt(0));
      return Object.assign(file, { tab, pieces: answer.pieces });
    }
    report(status === BUSY ? WAITING : SILENT);
    await wait();
  }
  return null;
}

function answerIn(/** @type {{ status: number, text: string }} */ { status, text }) {
  if (status !== 200) return { pieces: [{ kind: "text", runs: [["", text]] }] };
  try {
    return JSON.parse(text);
  } catch {
    return null; // a truncated answer
  }
}

// XMLHttpRequest, as fetch reports no progress.
/** @type {(url: URL, body: Blob, report: (progress: any) => void, isWanted: () => boolean) => Promise<any>} */
const post = (url, body, report, isWanted) =>
  new Promise(done => {
    const request = new XMLHttpRequest();
    let sent = 0;
    const timer = setTimeout(() => {
      done({ status: 408, text: tooSlow(sent) });
      request.abort();
    }, MAX_SECONDS * 1000);
    request.upload.onprogress = ({ loaded, total }) => {
      sent = loaded / total;
      if (isWanted()) report(sent);
      else request.abort();
    };
    request.upload.onload = () => {
      clearTimeout(timer);
      report(1);
    };
    request.onloadend = () => {
      clearTimeout(timer);
      done(request.status ? { status: request.status, text: request.responseText } : null);
    };
    request.open("POST", url);
    request.send(body);
  });

const tooSlow = (/** @type {number} */ sent) =>
  `A file has ${MAX_SECONDS} s to come; of this one ${Math.floor(100 * sent)} % came. Leave out what attention doesn’t need, or take a faster line.`;
