// Everything that depends on undocumented behaviour of Streamlit's page. An upgrade may break any of it.

const APP = '[data-testid="stApp"]',
  STATE = "data-test-connection-state";
const DIALOG = '[data-testid="stDialog"]';
const MENU_LINK = '[data-testid="stSidebarNavLink"]';
const ICON_FONT = "Material Symbols";
const CLOSES_MENU = '[data-testid="stSidebar"] button[aria-expanded="true"]';

// Replaces Streamlit's access to the history. Only a change of page gets through, and only while mayLeave() allows it. Streamlit would
// write path and parameters as separate steps, in either order, and empty parameters before both; Back would stop at each.
export function takeOverHistory(/** @type {any} */ window, /** @type {() => boolean} */ mayLeave) {
  const { history, location } = window;
  const push = history.pushState.bind(history),
    replace = history.replaceState.bind(history);
  history.pushState = (/** @type {any} */ state, /** @type {string} */ _, /** @type {string} */ url) => {
    const { pathname } = new URL(url ?? "", location.href);
    if (pathname !== location.pathname && mayLeave()) push(state, "", pathname + location.search);
  };
  history.replaceState = () => {};
  let isOurs = false; // whether the popstate event is ours
  return {
    push: (/** @type {string} */ url) => push(history.state, "", url),
    replace: (/** @type {string} */ url) => replace(history.state, "", url),
    onBack: (/** @type {() => void} */ listener) =>
      window.addEventListener("popstate", () => {
        if (!isOurs) listener();
      }),
    // Makes Streamlit read an address, which it does only on popstate, without moving. It ignores addresses with a hash.
    haveRead: (/** @type {string} */ url) => {
      const { href } = location;
      replace(history.state, "", url);
      isOurs = true;
      window.dispatchEvent(new window.PopStateEvent("popstate", { state: history.state }));
      isOurs = false;
      replace(history.state, "", href);
    },
  };
}

/** Whether the tab is connected to its server; null before Streamlit has drawn its page. @param {Document} document */
export function isConnected(document) {
  const state = document.querySelector(APP)?.getAttribute(STATE);
  return state ? state === "CONNECTED" : null;
}

/** Keeps Streamlit from fetching its icon font (375 kB) before all else, on every page: a page that draws such an icon fetches it then. Runs before
 * Streamlit's scripts. @param {{ fonts: any }} document */
export function deferIconFont({ fonts }) {
  const load = fonts.load.bind(fonts);
  fonts.load = (/** @type {string} */ font, /** @type {string[]} */ ...text) =>
    font.includes(ICON_FONT) ? Promise.resolve([]) : load(font, ...text);
}

// CSS that hides Streamlit's dialog within a selector. While the dialog is open nothing else can be clicked, so it has to be closed too.
export const hidesDialog = (/** @type {string} */ within) => `${within} ${DIALOG} { display: none; }`;

export function closeDialog(/** @type {Document} */ document) {
  /** @type {HTMLElement | null} */ (document.querySelector(`${DIALOG} button`))?.click();
}

/** Calls `act` on every reconnect; returns a function that stops it. Another server process may answer from now on, which doesn't know this tab.
 * Streamlit would rerun the page only at the user's next action, and lose that action. @param {Document} document @param {() => void} act
 * @param {typeof MutationObserver} Observer */
export function onReconnect(document, act, Observer) {
  const app = /** @type {Element} */ (document.querySelector(APP));
  let isConnected = app.getAttribute(STATE) === "CONNECTED";
  const observer = new Observer(() => {
    const was = isConnected;
    isConnected = app.getAttribute(STATE) === "CONNECTED";
    if (isConnected && !was) act();
  });
  observer.observe(app, { attributes: true, attributeFilter: [STATE] });
  return () => observer.disconnect();
}

/** Closes the sidebar after a page was picked; returns a function that stops it. On a phone it covers the page, and Streamlit leaves it open,
 * even for the next visit. @param {Document} document */
export function closeMenuOnceUsed(document) {
  const close = (/** @type {any} */ { target }) => {
    if (target.closest(MENU_LINK))
      setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(CLOSES_MENU))?.click());
  };
  document.addEventListener("click", close);
  return () => document.removeEventListener("click", close);
}

/** Cleanup for a component: calls act() only if `root` has left the page. Streamlit also cleans up before every rerun; unmounting then would
 * lose the focus and a Back under way. @param {Element} root @param {() => void} act */
export const cleanupIfGone = (root, act) => () => {
  if (!root.isConnected) act();
};
