// Entry point of a file (or notebook cell) with all heads of a recording, one layer of which opens in the viewer, number by number.
import { mountHeads } from "../heads/headGrid.js";
import { nameOf } from "../heads/headPatterns.js";
import { button, h } from "../dom/element.js";
import { find, makeRefusal, readFile } from "./serverless.js";
import { mount } from "../views/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one recording, and computes nothing.";

const { pass, page } = readFile(),
  data = JSON.parse(find("#heads").textContent ?? ""),
  send = makeRefusal(find("#refused"), ALONE),
  address = { read: () => "", write: () => {}, onNavigate: () => () => {} }; // a reload shows all heads again
const all = find(".all-layers"),
  layerBox = find(".exact-layer"),
  title = h("h2");
let viewer = /** @type {any} */ (null);

function open(head) {
  const root = h("div", { class: "viewer" });
  title.textContent = `${nameOf(head)}, counted from 0 (below, head ${head.head + 1})`;
  layerBox.replaceChildren(
    h("header", { class: "viewer leave" }, button("‹ All heads", leave, "", { title: "Esc" }), title),
    root,
  );
  all.hidden = true;
  layerBox.hidden = false;
  viewer = mount(root, { alone: ALONE, send, type: () => {}, address, page });
  viewer.show({ ...pass, where: { ...pass.where, cell: { ...pass.where.cell, head: head.head } } });
  /** @type {HTMLElement} */ (layerBox.querySelector("button")).focus();
}

async function leave() {
  viewer?.end();
  viewer = null;
  layerBox.hidden = true;
  layerBox.replaceChildren();
  all.hidden = false;
  (await heads).focus();
}

document.addEventListener("keydown", event => {
  const isTaken = event.defaultPrevented || document.querySelector("dialog[open], :popover-open, [data-presenting]");
  if (event.key === "Escape" && viewer && !isTaken) leave();
});

find("h1").textContent = document.title;
find("#alone").textContent = data.about;
const heads = mountHeads(all, data, { open });
