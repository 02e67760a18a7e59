// Arrival: pages without a viewer keep its place in the address too; the address becomes that of what is shown; and a
// tab that comes back to its server asks for a run.
import { addressOf } from "./history.js";
import { onReconnect } from "./reconnect.js";

export default function ({ data, setTriggerValue }) {
  const address = addressOf(window);
  address.show(data.address, data.read);
  const app = document.querySelector('[data-testid="stApp"]');
  return onReconnect(app, () => setTriggerValue("reconnect", true), MutationObserver);
}
