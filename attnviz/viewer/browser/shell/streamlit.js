// Everything that depends on undocumented behaviour of Streamlit's page. An upgrade may break any of it.

const APP = '[data-testid="stApp"]',
  STATE = "data-test-connection-state";
const DIALOG = '[data-testid="stDialog"]';
const MENU_LINK = '[data-testid="stSidebarNavLink"]';
const CLOSES_MENU = '[data-testid="stSidebar"] button[aria-expanded="true"]';

// Takes the history from Streamlit. Of what it writes there only the path of another page is taken, and that only while
// mayLeave() says so. It writes the parameters of that page before or after its path, as luck will have it, and empty ones
// before both: each a step of the history, which Back would lead to.
export function takeHistory(window, mayLeave) {
  const { history, location } = window;
  const push = history.pushState.bind(history),
    replace = history.replaceState.bind(history);
  history.pushState = (state, _, url) => {
    const { pathname } = new URL(url ?? "", location.href);
    if (pathname !== location.pathname && mayLeave()) push(state, "", pathname + location.search);
  };
  history.replaceState = () => {};
  let isOurs = false; // whether what says that Back has led somewhere is ourselves
  return {
    push: url => push(history.state, "", url),
    replace: url => replace(history.state, "", url),
    onBack: listener =>
      window.addEventListener("popstate", () => {
        if (!isOurs) listener();
      }),
    // Has Streamlit read an address, as it does only where Back leads, and stays where it is; not if a place in the page is
    // part of that address.
    haveRead: url => {
      const { href } = location;
      replace(history.state, "", url);
      isOurs = true;
      window.dispatchEvent(new window.PopStateEvent("popstate", { state: history.state }));
      isOurs = false;
      replace(history.state, "", href);
    },
  };
}

// Whether the tab has its server; null before Streamlit's page is there.
export function isConnected(document) {
  const state = document.querySelector(APP)?.getAttribute(STATE);
  return state ? state === "CONNECTED" : null;
}

// Streamlit's dialog is hidden by this style within what a selector finds, and closed by this function: as long as it is open, nothing
// else on the page can be pressed.
export function hidesDialog(within) {
  return `${within} ${DIALOG} { display: none; }`;
}

export function closeDialog(document) {
  document.querySelector(`${DIALOG} button`)?.click();
}

// Calls `act` whenever the tab has its server back; returns the end of that. Another process may answer from now on, which
// has seen nothing of this tab yet. Streamlit runs the page there only when a person does something next, and loses that.
export function onReconnect(document, act, Observer) {
  const app = document.querySelector(APP);
  let isConnected = app.getAttribute(STATE) === "CONNECTED";
  const observer = new Observer(() => {
    const was = isConnected;
    isConnected = app.getAttribute(STATE) === "CONNECTED";
    if (isConnected && !was) act();
  });
  observer.observe(app, { attributes: true, attributeFilter: [STATE] });
  return () => observer.disconnect();
}

// Closes the menu once a page was picked in it; returns the end of that. On a phone it lies over the page, and Streamlit
// leaves it there, and opens it again on the next visit.
export function closeMenuOnceUsed(document) {
  const close = ({ target }) => {
    if (target.closest(MENU_LINK)) setTimeout(() => document.querySelector(CLOSES_MENU)?.click());
  };
  document.addEventListener("click", close);
  return () => document.removeEventListener("click", close);
}

// Ends a call of ours: act(), if `root` has gone. Streamlit ends each call that the next run overtakes, before it makes
// the next: what ended with it would be away meanwhile, and Back and the keyboard's focus with it.
export function onceGone(root, act) {
  return () => {
    if (!root.isConnected) act();
  };
}
