// The bar of a speaker with a class, whose script comes once there is a class.
import { h } from "../dom/element.js";
import { SPEAKER, readStored } from "../lesson/memory.js";

/** A class bar as makeClassBar() makes it, of what bring() resolves to; at once if this browser's tab has a class, else as one is opened.
 * @param {() => Promise<any>} bring @param {() => Storage} storeOf */
export function makeLateClassBar(bring, storeOf) {
  const wasSpeaker = readStored(storeOf, SPEAKER) !== null,
    waiting = h("section", { hidden: true }),
    noDialogs = h("div", { hidden: true });
  let bar = /** @type {any} */ (null),
    coming = /** @type {Promise<any> | null} */ (null),
    home = /** @type {any} */ (null),
    place = /** @type {any} */ (null),
    hasEnded = false;
  const come = () => {
    coming ??= bring().then(mount);
    return coming;
  };
  function mount(made) {
    if (hasEnded) return made.end();
    bar = made;
    waiting.replaceWith(bar.element);
    noDialogs.replaceWith(bar.dialogs);
    if (home) bar.standIn(home);
    if (place) bar.shows(place);
  }
  if (wasSpeaker) come();
  return {
    get element() {
      return bar?.element ?? waiting;
    },
    get dialogs() {
      return bar?.dialogs ?? noDialogs;
    },
    get isOpen() {
      return bar ? bar.isOpen : wasSpeaker;
    },
    standIn(body) {
      home = body;
      bar?.standIn(body);
    },
    takeFocus: () => bar?.takeFocus(),
    async open() {
      await come();
      await bar?.open();
    },
    act: what => bar?.act(what),
    tell: () => bar?.tell(),
    shows(at) {
      place = at;
      bar?.shows(at);
    },
    end() {
      hasEnded = true;
      bar?.end();
    },
  };
}
