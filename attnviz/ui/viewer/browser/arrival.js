// Arrival: pages without a viewer keep its place in the address too; what was mended of it on arrival is mended there;
// and a tab that comes back to its server asks for a run.
import { mended } from "./address.js";
import { addressOf } from "./history.js";
import { onReconnect } from "./reconnect.js";

export default function ({ data, setTriggerValue }) {
  const address = addressOf(window);
  address.write(mended(address.read(), data), false);
  const app = document.querySelector('[data-testid="stApp"]');
  return onReconnect(app, () => setTriggerValue("reconnect", true), MutationObserver);
}
