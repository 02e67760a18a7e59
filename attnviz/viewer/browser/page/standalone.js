// Entry point of a file (or notebook cell) with one pass in the viewer. viewer/bundle.py has its HTML.
import { readPass } from "../model/pass.js";
import { readWhere } from "../model/address.js";
import { find, hashOf, makeRefusal, readFile } from "./serverless.js";
import { mount } from "../views/viewer.js";

const ALONE = "That needs attnviz itself: this page holds one pass, and computes no other.";
const ABOUT =
  "One pass, in one page. No link or QR code leads into it: send the page. Other words, and numbers set by hand, need attnviz itself.";

const { pass, page } = readFile(),
  address = hashOf(window),
  search = address.read(),
  send = makeRefusal(find("#refused"), ALONE);
find("h1").textContent = document.title;
find("#alone").textContent = ABOUT;
const viewer = mount(find(".viewer"), { alone: ALONE, send, type: () => {}, address, page });
viewer.show(search ? { ...pass, where: readWhere(readPass(pass), search) } : pass);
