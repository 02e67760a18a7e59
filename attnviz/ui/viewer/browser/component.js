// What Streamlit calls, by way of loader.js, on every run of the page, with an answer. The browser fetches it and all that
// it imports as one text (../script.py).
import { addressOf } from "./history.js";
import { mountPage } from "./page.js";
import { makePlans } from "./plans.js";
import { postTo } from "./post.js";
import { makeRerun } from "./rerun.js";
import { makeServer } from "./server.js";

const pages = new WeakMap(); // root -> {page, data}: its page and what it was given last
const text = new TextDecoder(), plans = makePlans();
// Pages come and go. What was done in one is told to the server all the same, and where one was in a viewer is kept.
const servers = new Map(); // name of a scene -> what tells the server of it
let left = null;

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".attnviz"), address = addressOf(window), answer = plans.whole(JSON.parse(text.decode(data)));
  const host = () => ({ server: serverOf(answer.name, site, address), address, rerun: makeRerun(() => setTriggerValue("change", true)) });
  const page = pages.get(root)?.page ?? mountPage(root, host(), left);
  pages.set(root, { page, data });
  page.given(answer);
  return () => {
    if (pages.get(root)?.data !== data) return; // Streamlit ends a call that came late, too: the page has a newer one
    left = page.end();
    pages.delete(root);
  };
}

function serverOf(name, site, address) {
  if (!servers.has(name)) {
    const server = makeServer({ post: postTo(new URL("acts", site), plans), look: address.read });
    address.onArrival(server.forget);
    servers.set(name, server);
  }
  return servers.get(name);
}
