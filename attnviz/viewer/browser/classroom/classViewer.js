// The viewer on a phone in a class: it follows the speaker until the user touches it.
import { h } from "../dom/element.js";
import { readPass } from "../model/pass.js";
import { readWhere } from "../model/address.js";
import { focusOf } from "../model/state.js";
import { mount } from "../views/viewer.js";

const ALONE = "Here the speaker chooses words and settings. To choose them yourself, open the walkthrough.";

// touched(cell) is called once the phone explores by itself. Returns {element, show(moment, now), cell(), end()}.
export function makeClassViewer({ touched }) {
  const box = h("div", { class: "viewer class-view" });
  let search = "",
    listener = () => {},
    isFollowing = false, // whether the next address written is the class's
    shown = null,
    mounted = /** @type {any} */ (null),
    pass = /** @type {Pass | null} */ (null);
  const cell = () => {
    if (!pass) return "";
    const { name, index } = focusOf(pass, readWhere(pass, search));
    return pass.address(name, index);
  };
  const address = {
    read: () => search,
    write(written) {
      search = written;
      if (!isFollowing) touched(cell());
      isFollowing = false;
    },
    onNavigate(act) {
      listener = act;
      return () => {};
    },
  };
  return {
    element: box,
    show(moment, { at }) {
      search = `?${at}`;
      if (moment.document === shown) return listener();
      shown = moment.document;
      pass = readPass(shown);
      isFollowing = true;
      mounted ??= mount(box, { alone: ALONE, send: () => false, type: () => {}, address });
      mounted.show({ ...shown, where: readWhere(pass, search) });
    },
    cell,
    end: () => mounted?.end(),
  };
}
