// What Streamlit calls, on every run of the page, with an answer. The modules of this folder reach it as one text
// (../bundle.py).
import { addressOf } from "./history.js";
import { mountPage } from "./page.js";
import { postTo } from "./post.js";
import { makeRerun } from "./rerun.js";

const pages = new WeakMap(); // root -> its page
const text = new TextDecoder();
let left = null; // where one was when a viewer last ended: pages come and go

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".attnviz");
  if (!pages.has(root)) {
    const rerun = makeRerun(() => setTriggerValue("change", true));
    pages.set(root, mountPage(root, { post: postTo(new URL("acts", site)), address: addressOf(window), rerun }, left));
  }
  pages.get(root).given(JSON.parse(text.decode(data)));
  return () => {
    left = pages.get(root).end();
    pages.delete(root);
  };
}
