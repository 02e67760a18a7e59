// Arrival: pages without a viewer keep its place in the address too; and what was mended of it on arrival is mended there.
import { mended } from "./address.js";
import { addressOf } from "./history.js";

export default function ({ data }) {
  const address = addressOf(window);
  address.write(mended(address.read(), data), false);
}
