// Fixes Streamlit's links and Back on every page: the address follows what is shown and is read again after a reconnect, and a
// phone's menu closes.
import { addressOf } from "./history.js";
import { closeMenuOnceUsed, onReconnect } from "./streamlit.js";

let known = /** @type {any} */ (null); // Streamlit calls again with unchanged data (after a change of theme, say), which may be out of date by then

export default function (/** @type {{ data: any }} */ { data }) {
  if (data !== known) addressOf(window).show(data);
  known = data;
  const ends = [onReconnect(document, addressOf(window).readAgain, MutationObserver), closeMenuOnceUsed(document)];
  return () => {
    for (const end of ends) end();
  };
}
