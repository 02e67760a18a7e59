// The browser's history: every action is an entry, and only this module writes the address.
import { isSame, mended } from "../model/address.js";
import { MAX_BACK_MS } from "./request.js";
import { takeOverHistory } from "./streamlit.js";

const SAME_STEP_MS = 1000; // changes of the address closer together than this are one step of the history
const RECONNECTED = "reconnected"; // lets a server that knows the tab tell a reconnect from Back; see app/page_scene.py

/** The page's address, which follows what is shown. After Back the page follows the address first.
 * @param {any} window @returns {Address} */
export function addressOf(window) {
  const { history, location } = window;
  if (history.attnviz) return history.attnviz; // made by another of our bundles on this page
  let page = /** @type {string | null} */ (null),
    shown = /** @type {Record<string, string | null>} */ ({}); // the page that is shown, and its parameters
  let changed = -SAME_STEP_MS; // when the address last changed
  let awaited = /** @type {{ search: string, timer: number } | null} */ (null); // {search, timer} of where Back led, until it is shown
  const listeners = new Set();
  // While Back is under way, the answer to an earlier request must not push an entry: that would discard Forward.
  const takenHistory = takeOverHistory(window, () => !awaited);
  const write = (/** @type {string} */ search, /** @type {boolean} */ isNewPlace) => {
    const url = `${location.pathname}${search}${location.hash}`;
    if (!isSame(search, location.search)) (isNewPlace ? takenHistory.push : takenHistory.replace)(url);
  };
  const follow = () => {
    window.clearTimeout(awaited?.timer);
    awaited = null;
    write(mended(location.search, shown), false);
  };
  // Each action becomes a history entry, written shortly after it is shown, unless Back was pressed meanwhile.
  const move = () => {
    const search = mended(location.search, shown),
      now = window.performance.now();
    if (awaited || isSame(search, location.search)) return;
    write(search, now - changed >= SAME_STEP_MS);
    changed = now;
  };
  takenHistory.onBack(() => {
    changed = -SAME_STEP_MS;
    window.clearTimeout(awaited?.timer);
    awaited = { search: location.search, timer: window.setTimeout(follow, MAX_BACK_MS) };
    for (const listener of listeners) listener();
  });
  /** @type {Address} */
  const address = {
    read: () => location.search,
    write,
    setParameters: parameters => {
      shown = parameters;
    },
    move,
    dropHash: () => takenHistory.replace(`${location.pathname}${location.search}`),
    // Updates the address to what is shown: {page, address, read}; `read` is the address that the server read last.
    show: now => {
      const isStep = !awaited && now.page === page; // changing the page is one step, parameters included
      page = now.page;
      shown = now.address;
      if (isStep) move();
      else if (!awaited || isSame(now.read, awaited.search)) follow();
    },
    // After a reconnect Streamlit sends the server an outdated address. A server that knows this tab knows more than the
    // address, unless Back was pressed meanwhile.
    readAgain: () => {
      const url = new URL(location.href);
      url.hash = "";
      if (!awaited) url.searchParams.set(RECONNECTED, "");
      takenHistory.haveRead(url.href);
    },
    onNavigate: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  history.attnviz = address;
  return address;
}
