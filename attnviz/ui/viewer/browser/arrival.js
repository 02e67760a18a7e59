// Arrival: pages without a viewer keep its place in the address too; and a first visit gets the address of what it shows.
import { added } from "./address.js";
import { addressOf } from "./history.js";

export default function ({ data }) {
  const address = addressOf(window);
  address.write(added(address.read(), data), false);
}
