// Standalone: the viewer in a file, or in a notebook's frame. It has no server, nothing that the browser keeps, and no
// address but one in memory. ../../shell.py has the page that this is the script of.
import { makePlans } from "../talk/plans.js";
import { mount } from "../viewer/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one pass, and computes no other.";
const SAID = "One pass, in one page. No link or QR code leads into it: send the page. Other words, and numbers set by hand, need attnviz itself.";
const SAID_MS = 6000;

const shell = document.cloneNode(true); // before anything is drawn
const at = (selector) => document.querySelector(selector);
let search = "", timer = null;

function refuse() {
  at("#refused").textContent = ALONE;
  clearTimeout(timer);
  timer = setTimeout(() => { at("#refused").textContent = ""; }, SAID_MS);
  return false;
}

const host = {
  alone: ALONE,
  send: refuse,
  type: () => {},
  address: { read: () => search, write: (written) => { search = written; }, onArrival: () => () => {} },
  page: { bytes: shell.documentElement.outerHTML.length - at("#document").textContent.length, shell: () => shell.cloneNode(true) },
};

at("h1").textContent = document.title;
at("#alone").textContent = SAID;
mount(at(".viewer"), host).show(makePlans().whole({ pass: JSON.parse(at("#document").textContent) }).pass);
