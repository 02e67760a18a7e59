// The bar of a speaker with a class, whose script comes once there is a class.
import { h } from "../dom/element.js";
import { makeStandIn } from "../dom/standIn.js";
import { SPEAKER, readStored } from "../lesson/memory.js";

/** A class bar as makeClassBar() makes it, of what bring() resolves to; at once if this browser's tab has a class, else as one is opened.
 * @param {() => Promise<any>} bring @param {() => Storage} storeOf */
export function makeLateClassBar(bring, storeOf) {
  const wasSpeaker = readStored(storeOf, SPEAKER) !== null;
  let firstPlace = /** @type {any} */ (null);
  // The bar is told the first place, too: a page opened to follow another device has been led there, but not to where its user has gone since.
  async function bringBar() {
    const made = await bring();
    if (firstPlace) made.shows(firstPlace);
    return made;
  }
  const bar = makeStandIn(bringBar, { element: h("section", { hidden: true }), dialogs: h("div", { hidden: true }) });
  if (wasSpeaker) bar.bring();
  return {
    get element() {
      return bar.element("element");
    },
    get dialogs() {
      return bar.element("dialogs");
    },
    get isOpen() {
      return bar.part ? bar.part.isOpen : wasSpeaker;
    },
    standIn: body => bar.call("standIn", body),
    takeFocus: () => bar.part?.takeFocus(),
    async open() {
      await bar.bring();
      await bar.part?.open();
    },
    act: what => bar.part?.act(what),
    tell: () => bar.part?.tell(),
    shows(at) {
      firstPlace ??= at;
      bar.call("shows", at);
    },
    end: bar.end,
  };
}
