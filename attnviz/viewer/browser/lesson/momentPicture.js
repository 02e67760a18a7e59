// The picture of a moment, by its kind: of its pass, of a mistake with the mask, or the sweep of d_k.
import { element } from "../elements/element.js";
import { makeMistakePicture } from "./mistakePicture.js";
import { makePassPicture } from "./passPicture.js";
import { makeSweepPicture } from "./sweepPicture.js";

/** @type {Map<string, typeof makePassPicture>} */
const KINDS = new Map([
  ["pass", makePassPicture],
  ["mistake", makeMistakePicture],
  ["sweep", makeSweepPicture],
]);

// One for a moment, as makePassPicture makes it.
export function pictureOf({ picture }, answer = _clicked => false) {
  return KINDS.get(kindOf({ picture }))(answer);
}

// One for a moment after the other; answer(clicked) is as makePassPicture has it. Returns {element, show(moment, isCovered,
// isPresented), clear(), selected(), point(link), open(link), leave()}.
export function makeMomentPicture(answer) {
  const box = element("div", "lesson-picture");
  let made = null,
    kind = "";
  // On a phone a tall picture scrolls by itself.
  const bring = row => {
    if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };
  return {
    element: box,
    show(moment, isCovered, isPresented) {
      if (kindOf(moment) !== kind) {
        made?.leave();
        made = pictureOf(moment, answer);
        kind = kindOf(moment);
      }
      if (made.element.parentNode !== box) box.replaceChildren(made.element);
      made.show(moment, isCovered, isPresented);
      bring(box.querySelector(".hand th.chosen"));
    },
    clear: () => box.replaceChildren(),
    selected: () => made?.selected?.() ?? null,
    point: link => made?.point(link),
    open: link => made?.open(link),
    leave: () => made?.leave(),
  };
}

function kindOf({ picture }) {
  return picture?.kind ?? "pass";
}
