// Standalone: the viewer in a file, or in a notebook's frame. It has no server, and nothing that the browser keeps but where
// one is, behind the # of its address. ../../shell.py has the page that this is the script of.
import { readPass } from "../model/pass.js";
import { readPlace } from "../model/address.js";
import { hashOf, makeRefusal } from "./serverless.js";
import { makeTemplates } from "../shell/templates.js";
import { mount } from "../views/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one pass, and computes no other.";
const SAID =
  "One pass, in one page. No link or QR code leads into it: send the page. Other words, and numbers set by hand, need attnviz itself.";

const shell = /** @type {Document} */ (document.cloneNode(true)); // before anything is drawn
const at = selector => document.querySelector(selector);

const host = {
  alone: ALONE,
  send: makeRefusal(at("#refused"), ALONE),
  type: () => {},
  address: hashOf(window),
  page: {
    bytes: shell.documentElement.outerHTML.length - at("#document").textContent.length,
    shell: () => shell.cloneNode(true),
  },
};

at("h1").textContent = document.title;
at("#alone").textContent = SAID;
const { pass } = makeTemplates().whole({ pass: JSON.parse(at("#document").textContent) }),
  place = host.address.read();
mount(at(".viewer"), host).show(place ? { ...pass, where: readPlace(readPass(pass), place) } : pass);
