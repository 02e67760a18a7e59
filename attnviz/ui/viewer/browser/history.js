// History: the browser's, which the viewer and the server both write. Each keeps the other's parameters.
import { isSame, kept, mended } from "./address.js";

const SOON = 1000; // ms: what changes the address so soon after a change is one step of the history with it
const PATIENCE = 3000; // ms that Back waits for the server to show where it led; then the address follows what is shown

// The one address of a page. Streamlit's own writing passes through here from now on: it knows nothing of the viewer's
// parameters, makes a switch of pages two steps of the history, its path and then its parameters, and writes what was
// asked for before Back when Back has led elsewhere.
export function addressOf(window) {
  const { history, location } = window;
  if (history.attnviz) return history.attnviz;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let last = -SOON, shown = {};
  let isNewPage = false; // whose parameters are yet to be written
  let awaited = null; // {search, timer} of where Back led, until it is shown
  const withPlace = (url) => {
    const to = new URL(url ?? "", location.href);
    to.search = kept(to.search, location.search);
    return to;
  };
  const step = (state, to) => {
    if (awaited || to.href === location.href) return; // written as it was, it would undo a Forward that is on its way
    const isHere = to.pathname === location.pathname, now = window.performance.now();
    const isOne = isHere && (isNewPage || now - last < SOON);
    isNewPage = !isHere;
    last = now;
    (isOne ? replace : push)(state, "", to.href);
  };
  history.pushState = (state, _, url) => step(state, withPlace(url));
  history.replaceState = (state, _, url) => {
    if (!awaited) replace(state, "", withPlace(url).href);
  };
  const write = (search, isNewPlace) => {
    const url = `${location.pathname}${search}${location.hash}`;
    if (search !== location.search) (isNewPlace ? push : replace)(history.state, "", url);
  };
  const follow = () => {
    window.clearTimeout(awaited?.timer);
    awaited = null;
    write(mended(location.search, shown), false);
  };
  const listeners = new Set();
  const arrive = () => {
    last = -SOON;
    isNewPage = false;
    window.clearTimeout(awaited?.timer);
    awaited = { search: location.search, timer: window.setTimeout(follow, PATIENCE) };
    for (const listener of listeners) listener();
  };
  window.addEventListener("popstate", arrive);
  history.attnviz = {
    read: () => location.search,
    write,
    // The address becomes that of what is shown; the server has read the address `read` last.
    show: (parameters, read) => {
      shown = parameters;
      isNewPage = false;
      if (!awaited || isSame(read, awaited.search)) follow();
    },
    // What is done in the viewer leads on: a step of the history.
    move: (parameters) => {
      shown = parameters;
      const to = new URL(location.href);
      to.search = mended(location.search, parameters);
      step(history.state, to);
    },
    onArrival: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return history.attnviz;
}
