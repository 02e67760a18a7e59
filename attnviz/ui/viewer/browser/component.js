// What Streamlit calls, on every run of the page, with an answer. The modules of this folder reach it as one text
// (../bundle.py).
import { addressOf } from "./history.js";
import { mountPage } from "./page.js";
import { postTo } from "./post.js";
import { makeRerun } from "./rerun.js";
import { makeServer } from "./server.js";

const pages = new WeakMap(); // root -> {page, data}: its page and what it was given last
const text = new TextDecoder();
// Pages come and go. What was done in one is told to the server all the same, and where one was in a viewer is kept.
let server = null, left = null;

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".attnviz"), address = addressOf(window);
  if (!server) {
    server = makeServer({ post: postTo(new URL("acts", site)), look: address.read });
    address.onArrival(server.forget);
  }
  const rerun = () => makeRerun(() => setTriggerValue("change", true));
  const page = pages.get(root)?.page ?? mountPage(root, { server, address, rerun: rerun() }, left);
  pages.set(root, { page, data });
  page.given(JSON.parse(text.decode(data)));
  return () => {
    if (pages.get(root)?.data !== data) return; // Streamlit ends a call that came late, too: the page has a newer one
    left = page.end();
    pages.delete(root);
  };
}
