// Entry point that fixes Streamlit's navigation on every page: the address follows what is shown, is read again after a reconnect, and a
// phone's menu closes after a page was picked.
import { addressOf } from "./history.js";
import { closeMenuOnceUsed, onReconnect } from "./streamlit.js";

let lastData = /** @type {any} */ (null); // Streamlit calls again with unchanged data, after a change of theme for example, which may be outdated

export default function (/** @type {{ data: any }} */ { data }) {
  if (data !== lastData) addressOf(window).show(data);
  lastData = data;
  const ends = [onReconnect(document, addressOf(window).readAgain, MutationObserver), closeMenuOnceUsed(document)];
  return () => {
    for (const end of ends) end();
  };
}
