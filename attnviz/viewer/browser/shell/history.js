// The browser's history: every action is a step of it, and only this module writes the address.
import { isSame, mended } from "../scene/address.js";
import { takeHistory } from "./streamlit.js";

const SAME_STEP_MS = 1000; // what changes the address so soon after a change is one step of the history with it
const RECONNECTED = "reconnected"; // by this a server that knows the tab tells it from Back, as ../../state/arrival.py has it
const MAX_BACK_MS = 3000; // that Back waits for the server to show where it led; then the address follows what is shown

// The one address of a page: it is that of what is shown. After Back what is shown has to follow it first.
export function addressOf(window) {
  const { history, location } = window;
  if (history.attnviz) return history.attnviz; // another bundle of ours is on the page
  let page = null,
    shown = {}; // the page that is shown, and its parameters
  let changed = -SAME_STEP_MS; // when the address last changed
  let awaited = null; // {search, timer} of where Back led, until it is shown
  const listeners = new Set();

  // An answer to something asked before Back would undo a Forward on its way.
  const taken = takeHistory(window, () => !awaited);
  const write = (search, isNewPlace) => {
    const url = `${location.pathname}${search}${location.hash}`;
    if (!isSame(search, location.search)) (isNewPlace ? taken.push : taken.replace)(url);
  };
  const follow = () => {
    window.clearTimeout(awaited?.timer);
    awaited = null;
    write(mended(location.search, shown), false);
  };
  // Each act on a page is a step of the history. It is written some time after it is shown; where Back has led
  // elsewhere meanwhile, that is shown, and nothing is left to write.
  const move = () => {
    const search = mended(location.search, shown),
      now = window.performance.now();
    if (awaited || isSame(search, location.search)) return;
    write(search, now - changed >= SAME_STEP_MS);
    changed = now;
  };
  taken.onBack(() => {
    changed = -SAME_STEP_MS;
    window.clearTimeout(awaited?.timer);
    awaited = { search: location.search, timer: window.setTimeout(follow, MAX_BACK_MS) };
    for (const listener of listeners) listener();
  });
  history.attnviz = {
    read: () => location.search,
    write,
    shows: parameters => {
      shown = parameters;
    },
    move,
    // Drops the text behind the #, which has been read.
    dropHash: () => taken.replace(`${location.pathname}${location.search}`),
    // The address becomes that of what is shown: {page, address, read}, where the server has read the address `read` last.
    show: now => {
      const isStep = !awaited && now.page === page; // another page's parameters are one step with its path
      page = now.page;
      shown = now.address;
      if (isStep) move();
      else if (!awaited || isSame(now.read, awaited.search)) follow();
    },
    // Streamlit tells a server the address that it has written last or that Back has led to, and much was done since. A
    // server that knows this tab knows more than the address, but for where Back has led meanwhile.
    readAgain: () => {
      const url = new URL(location.href);
      url.hash = "";
      if (!awaited) url.searchParams.set(RECONNECTED, "");
      taken.haveRead(url.href);
    },
    onArrival: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return history.attnviz;
}
