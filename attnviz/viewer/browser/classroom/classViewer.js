// The viewer as the class sees it: it follows the step, word, head and cell of the speaker, each screen in its own layout, until
// somebody touches it.
import { element } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { readPlace } from "../scene/address.js";
import { focusOf } from "../scene/state.js";
import { mount } from "../viewer/viewer.js";

const ALONE = "Here the speaker chooses words and settings. To choose them yourself, open the walkthrough.";

// touched(cell) tells that somebody looks around. Returns {element, show(moment, now), cell(), end()}.
export function makeClassViewer({ touched }) {
  const box = element("div", "viewer class-view");
  let search = "",
    listener = () => {},
    isGiven = false, // whether what is written next is where the class is
    shown = null,
    pass = null;
  const cellAt = () => {
    if (!pass) return "";
    const { name, index } = focusOf(pass, readPlace(pass, search));
    return pass.address(name, index);
  };
  const address = {
    read: () => search,
    write: written => {
      search = written;
      if (!isGiven) touched(cellAt());
      isGiven = false;
    },
    onArrival: act => {
      listener = act;
      return () => {};
    },
  };
  let mounted = null;
  return {
    element: box,
    show: (moment, { at }) => {
      search = `?${at}`;
      if (moment.document === shown) return listener();
      shown = moment.document;
      pass = readPass(shown);
      isGiven = true;
      mounted ??= mount(box, { alone: ALONE, send: () => false, type: () => {}, address });
      mounted.show({ ...shown, where: readPlace(pass, search) });
    },
    cell: cellAt,
    end: () => mounted?.end(),
  };
}
