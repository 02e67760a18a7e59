// What Streamlit calls, by way of loader.js, on every run of the page, with an answer. The browser fetches it and all that
// it imports as one text (../script.py).
import { addressOf } from "./history.js";
import { mountPage } from "./page.js";
import { postTo } from "./post.js";
import { makeServer } from "./server.js";

const pages = new WeakMap(); // root -> {page, data}: its page and what it was given last
const text = new TextDecoder();
// Pages come and go. What was done in one is told to the server all the same, and where one was in a viewer is kept.
const servers = new Map(); // name of a scene -> what tells the server of it
const apart = new Map(); // name of a scene -> {page, outlet}: the page whose view stands in another root, and that root
let left = null;

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".attnviz");
  if (root.classList.contains("outlet")) return join(data.name, { outlet: root });
  const answer = JSON.parse(text.decode(data)), address = addressOf(window);
  const host = () => ({ server: serverOf(answer.name, site, address), address, run: (what) => setTriggerValue("run", what) });
  const page = pages.get(root)?.page ?? mountPage(root, host(), left);
  pages.set(root, { page, data });
  if (answer.draws === "pass") page.stand(root);
  else join(answer.name, { page });
  page.given(answer);
  return () => {
    if (pages.get(root)?.data !== data) return; // Streamlit ends a call that came late, too: the page has a newer one
    left = page.end();
    pages.delete(root);
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
    const server = makeServer({ post: postTo(new URL("acts", site)), look: address.read });
    address.onArrival(server.forget);
    servers.set(name, server);
  }
  return servers.get(name);
}
