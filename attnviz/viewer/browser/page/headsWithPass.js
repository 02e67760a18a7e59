// Entry point of a file (or notebook cell) with all heads of a recording, one layer of which opens in the viewer, number by number.
import { mountHeads } from "../heads/headGrid.js";
import { nameOf } from "../heads/headPatterns.js";
import { button, h } from "../dom/element.js";
import { makeRefusal } from "./serverless.js";
import { makeTemplates } from "../shell/templates.js";
import { mount } from "../views/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one recording, and computes nothing.";

const shell = /** @type {Document} */ (document.cloneNode(true)); // before anything is drawn
const at = selector => /** @type {HTMLElement} */ (document.querySelector(selector));
const json = at("#document").textContent ?? "",
  data = JSON.parse(at("#heads").textContent ?? ""),
  pass = makeTemplates().completeDocument(JSON.parse(json)),
  page = { bytes: shell.documentElement.outerHTML.length - json.length, shell: () => shell.cloneNode(true) },
  send = makeRefusal(at("#refused"), ALONE),
  address = { read: () => "", write: () => {}, onNavigate: () => () => {} }; // a reload shows all heads again
const all = at(".all-layers"),
  place = at(".exact-layer"),
  title = h("h2");
let viewer = /** @type {any} */ (null);

function open(head) {
  const root = h("div", { class: "viewer" });
  title.textContent = `${nameOf(head)}, counted from 0 (below, head ${head.head + 1})`;
  place.replaceChildren(
    h("header", { class: "viewer leave" }, button("‹ All heads", leave, "", { title: "Esc" }), title),
    root,
  );
  all.hidden = true;
  place.hidden = false;
  viewer = mount(root, { alone: ALONE, send, type: () => {}, address, page });
  viewer.show({ ...pass, where: { ...pass.where, cell: { ...pass.where.cell, head: head.head } } });
  /** @type {HTMLElement} */ (place.querySelector("button")).focus();
}

async function leave() {
  viewer?.end();
  viewer = null;
  place.hidden = true;
  place.replaceChildren();
  all.hidden = false;
  (await heads).focus();
}

document.addEventListener("keydown", event => {
  const isTaken = event.defaultPrevented || document.querySelector("dialog[open], :popover-open, [data-presenting]");
  if (event.key === "Escape" && viewer && !isTaken) leave();
});

at("h1").textContent = document.title;
at("#alone").textContent = data.about;
const heads = mountHeads(all, data, { open });
