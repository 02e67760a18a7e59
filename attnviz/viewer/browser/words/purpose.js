// Purposes: what a layer is called, and what it is for, beside its arcs.
import { element, write } from "../elements/element.js";

export function makePurpose() {
  const line = element("p", "purpose"),
    called = element("strong"),
    is = element("span");
  line.append(called, " ", is);
  return {
    element: line,
    write({ name, purpose }) {
      write(called, name);
      write(is, purpose);
    },
  };
}
