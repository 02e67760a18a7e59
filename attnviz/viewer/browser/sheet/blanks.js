// Blanks: cells of the sheet's table in which nothing stands.
import { element } from "../elements/element.js";

export function blanks(count) {
  return Array.from({ length: Math.max(count, 0) }, () => element("td", "blank"));
}
