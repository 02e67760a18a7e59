// The component that takes a file of one's own: Streamlit calls it on every run.
import { mountOwnNumbers } from "./ownNumbers.js";
import { onceGone } from "../seams/streamlit.js";

const parts = new WeakMap(); // root -> what takes a file

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".article");
  const part =
    parts.get(root) ?? mountOwnNumbers(root, new URL("arrays", site), door => setTriggerValue("opened", door));
  parts.set(root, part);
  part.given(data);
  return onceGone(root, () => {
    if (parts.delete(root)) part.end();
  });
}
