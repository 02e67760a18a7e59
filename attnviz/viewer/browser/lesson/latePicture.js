// The box of a moment's picture, whose script may come after the moment.
import { h } from "../dom/element.js";

/** A picture as makeMomentPicture() makes it, which arrive() puts into its place; until then it shows nothing. answer(clicked) is as there.
 * @param {(clicked: any) => boolean} answer */
export function makeLatePicture(answer) {
  const waiting = h("div", { class: "lesson-picture" });
  let made = /** @type {any} */ (null);
  return {
    get element() {
      return made?.element ?? waiting;
    },
    arrive(makeMomentPicture) {
      made = makeMomentPicture(answer);
      waiting.replaceWith(made.element);
    },
    show: (...moment) => made?.show(...moment),
    clear: () => made?.clear(),
    selected: () => made?.selected() ?? null,
    address: moment => made?.address(moment) ?? moment.at,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}
