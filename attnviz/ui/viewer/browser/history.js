// History: the browser's, which the viewer and the server both write. Each keeps the other's parameters.
import { kept } from "./address.js";

const SOON = 1000; // ms: what changes the address so soon after a change is one step of the history with it

// The one address of a page. Streamlit's own writing passes through here from now on: it knows nothing of the viewer's
// parameters, and makes a switch of pages two steps of the history, its path and then its parameters.
export function addressOf(window) {
  const { history, location } = window;
  if (history.attnviz) return history.attnviz;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let last = -SOON;
  const withPlace = (url) => {
    const to = new URL(url ?? "", location.href);
    to.search = kept(to.search, location.search);
    return to;
  };
  history.pushState = (state, _, url) => {
    const to = withPlace(url), isHere = to.pathname === location.pathname, now = window.performance.now();
    const isSame = to.href === location.href || (isHere && now - last < SOON);
    last = now;
    (isSame ? replace : push)(state, "", to.href);
  };
  history.replaceState = (state, _, url) => replace(state, "", withPlace(url).href);
  const listeners = new Set();
  const arrive = () => {
    for (const listener of listeners) listener();
  };
  window.addEventListener("popstate", arrive);
  history.attnviz = {
    read: () => location.search,
    write: (search, isNewPlace) => {
      const url = `${location.pathname}${search}${location.hash}`;
      if (search !== location.search) (isNewPlace ? push : replace)(history.state, "", url);
    },
    onArrival: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return history.attnviz;
}
