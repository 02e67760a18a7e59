// History: the browser's. What is done here is a step of it, and its parameters are written here alone.
import { isSame, mended } from "../scene/address.js";

const SAME_STEP_MS = 1000; // what changes the address so soon after a change is one step of the history with it
const RECONNECTED = "reconnected"; // by this a server that knows the tab tells it from Back, as ../../state/arrival.py has it
const MAX_BACK_MS = 3000; // that Back waits for the server to show where it led; then the address follows what is shown

// The one address of a page. Of what Streamlit writes only the path of another page is taken from now on. It writes the
// parameters of that page before or after its path, as luck will have it, and empty ones before both: each a step of the
// history, which Back would lead to. Here they follow what is shown.
export function addressOf(window) {
  const { history, location } = window;
  if (history.attnviz) return history.attnviz;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let last = -SAME_STEP_MS, page = null, shown = {}; // when the address last changed; the page that is shown, and its parameters
  let awaited = null; // {search, timer} of where Back led, until it is shown
  history.pushState = (state, _, url) => {
    const { pathname } = new URL(url ?? "", location.href);
    if (awaited || pathname === location.pathname) return; // asked for before Back, it would undo a Forward on its way
    push(state, "", pathname + location.search);
  };
  history.replaceState = () => {};
  const write = (search, isNewPlace) => {
    const url = `${location.pathname}${search}${location.hash}`;
    if (search !== location.search) (isNewPlace ? push : replace)(history.state, "", url);
  };
  const follow = () => {
    window.clearTimeout(awaited?.timer);
    awaited = null;
    write(mended(location.search, shown), false);
  };
  // What is done on a page leads on: a step of the history.
  const move = (parameters) => {
    shown = parameters;
    const search = mended(location.search, parameters), now = window.performance.now();
    if (awaited || search === location.search) return;
    write(search, now - last >= SAME_STEP_MS);
    last = now;
  };
  const listeners = new Set();
  const arrive = () => {
    last = -SAME_STEP_MS;
    window.clearTimeout(awaited?.timer);
    awaited = { search: location.search, timer: window.setTimeout(follow, MAX_BACK_MS) };
    for (const listener of listeners) listener();
  };
  let isOurs = false; // whether what says that Back has led somewhere is ourselves
  window.addEventListener("popstate", () => { if (!isOurs) arrive(); });
  history.attnviz = {
    read: () => location.search,
    write,
    move,
    // The address becomes that of what is shown: {page, address, read}, where the server has read the address `read` last.
    show: (now) => {
      const isStep = !awaited && now.page === page; // another page's parameters are one step with its path
      page = now.page;
      if (isStep) return move(now.address);
      shown = now.address;
      if (!awaited || isSame(now.read, awaited.search)) follow();
    },
    // Streamlit tells a server the address that it has written last or that Back has led to, and much was done since. Only
    // where Back leads does it read the browser's; but not if a place in the page is part of that. A server that knows this
    // tab knows more than the address, but for where Back has led meanwhile.
    readAgain: () => {
      const { href } = location, url = new URL(href);
      url.hash = "";
      if (!awaited) url.searchParams.set(RECONNECTED, "");
      replace(history.state, "", url.href);
      isOurs = true;
      window.dispatchEvent(new window.PopStateEvent("popstate", { state: history.state }));
      isOurs = false;
      replace(history.state, "", href);
    },
    onArrival: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return history.attnviz;
}
