// What Streamlit calls, by way of loader.js, on every run of the page, with an answer. The browser fetches it and all that
// it imports as one text (../script.py).
import { addressOf } from "../seams/history.js";
import { mountPage } from "./page.js";
import { makePlans } from "../talk/plans.js";
import { postTo } from "../talk/post.js";
import { makeServer } from "../talk/server.js";

const pages = new WeakMap(); // root -> its page
const text = new TextDecoder(), plans = makePlans();
// Pages come and go. What was done in one is told to the server all the same, and where one was in a viewer is kept.
const servers = new Map(); // name of a scene -> what tells the server of it
const apart = new Map(); // name of a scene -> {page, outlet}: the page whose view stands in another root, and that root
let left = null;

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".attnviz");
  if (root.classList.contains("outlet")) return join(data.name, { outlet: root });
  const address = addressOf(window), answer = plans.whole(JSON.parse(text.decode(data)));
  const host = () => ({ server: serverOf(answer.name, site, address), address, run: (what) => setTriggerValue("run", what) });
  const page = pages.get(root) ?? mountPage(root, host(), left);
  pages.set(root, page);
  if (answer.view === "pass") page.stand(root);
  else join(answer.name, { page });
  page.given(answer);
  return () => {
    // Streamlit ends each call that the next run overtakes, before it makes the next: a page that ended with it would be
    // away meanwhile, and Back and the keyboard's focus with it. One that has gone stands nowhere.
    if (root.isConnected || !pages.delete(root)) return;
    left = page.end();
  };
}

// A view stands in its outlet as soon as both are there.
function join(name, part) {
  const { page, outlet } = { ...apart.get(name), ...part };
  apart.set(name, { page, outlet });
  if (page && outlet) page.stand(outlet);
}

function serverOf(name, site, address) {
  if (!servers.has(name)) {
    const server = makeServer({ post: postTo(new URL("acts", site), plans), look: address.read });
    address.onArrival(server.forget);
    servers.set(name, server);
  }
  return servers.get(name);
}
