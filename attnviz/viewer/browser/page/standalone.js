// Entry point of a file (or notebook cell) with one pass in the viewer. viewer/bundle.py has its HTML.
import { readPass } from "../model/pass.js";
import { readWhere } from "../model/address.js";
import { hashOf, makeRefusal } from "./serverless.js";
import { makeTemplates } from "../shell/templates.js";
import { mount } from "../views/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one pass, and computes no other.";
const ABOUT =
  "One pass, in one page. No link or QR code leads into it: send the page. Other words, and numbers set by hand, need attnviz itself.";

const shell = /** @type {Document} */ (document.cloneNode(true)); // before anything is drawn
const at = selector => /** @type {HTMLElement} */ (document.querySelector(selector));
const json = at("#document").textContent ?? "";

at("h1").textContent = document.title;
at("#alone").textContent = ABOUT;
const pass = makeTemplates().completeDocument(JSON.parse(json)),
  address = hashOf(window),
  search = address.read(),
  page = { bytes: shell.documentElement.outerHTML.length - json.length, shell: () => shell.cloneNode(true) },
  send = makeRefusal(at("#refused"), ALONE);
const viewer = mount(at(".viewer"), { alone: ALONE, send, type: () => {}, address, page });
viewer.show(search ? { ...pass, where: readWhere(readPass(pass), search) } : pass);
