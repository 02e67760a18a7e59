// The edge: says for a while, where a remote leads no further, that this is the first or the last there is.
import { element } from "../elements/element.js";

const SAID = { on: "This is the last reveal. Home begins again, Esc leaves.", back: "This is the first reveal." };
const SHOWN_MS = 4000;

export function makeEdge() {
  const line = element("p", "edge");
  line.setAttribute("role", "status");
  let timer = null;
  return {
    element: line,
    say(command) {
      clearTimeout(timer);
      line.textContent = SAID[command];
      timer = setTimeout(() => {
        line.textContent = "";
      }, SHOWN_MS);
    },
  };
}
