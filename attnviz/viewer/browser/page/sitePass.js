// A pass on a page of the site, in the viewer, which says what needs the app itself.
import { element } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { readPlace } from "../scene/address.js";
import { mount } from "../viewer/viewer.js";
import { makeRefusal } from "./refusal.js";

const ALONE = "That needs the app itself, as this page computes nothing: see “Your own sentence”.";

// Shows it where the address says, else where the document does. Returns {end()}.
export function showPass(main, document, address) {
  const root = element("div", "viewer"),
    place = address.read();
  const host = {
    alone: ALONE,
    send: makeRefusal(main.ownerDocument.querySelector("#refused"), ALONE),
    type: () => {},
    address,
  };
  main.replaceChildren(root);
  const shown = mount(root, host);
  shown.show(place ? { ...document, where: readPlace(readPass(document), place) } : document);
  return shown;
}
