// Arrival: pages without a viewer keep its place in the address too.
import { addressOf } from "./history.js";

export default function () {
  addressOf(window);
}
