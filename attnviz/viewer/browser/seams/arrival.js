// Arrival: pages without a viewer keep its place in the address too; the address becomes that of what is shown; and where
// a tab comes back to its server, the address is read there again. On a phone the menu is closed once it led to a page.
import { addressOf } from "./history.js";
import { closeMenuOnceUsed, onReconnect } from "./streamlit.js";

let known = null; // Streamlit calls again with the same, as with another theme: much may have been done since

export default function ({ data }) {
  if (data !== known) addressOf(window).show(data);
  known = data;
  const ends = [onReconnect(document, addressOf(window).readAgain, MutationObserver), closeMenuOnceUsed(document)];
  return () => {
    for (const end of ends) end();
  };
}
