// What Streamlit calls, on every run of the page, with the document. The modules of this folder reach it as one text
// (../bundle.py).
import { addressOf } from "./history.js";
import { mount } from "./viewer.js";

const viewers = new WeakMap(); // root -> its viewer
const text = new TextDecoder();
let left = null; // where one was when a viewer last ended: pages come and go

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".viewer");
  if (!viewers.has(root)) {
    viewers.set(root, mount(root, {
      send: setTriggerValue,
      address: addressOf(window),
      colourOf: () => getComputedStyle(root).getPropertyValue("--st-background-color"),
    }, left));
  }
  const viewer = viewers.get(root);
  viewer.show(JSON.parse(text.decode(data)));
  return () => {
    left = viewer.end();
    viewers.delete(root);
  };
}
