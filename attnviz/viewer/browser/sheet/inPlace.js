// In place: a number of the sheet is set where it stands, in a box that opens over it.
import { makeByHand } from "../elements/byhand.js";

// open(pass, cell, at) opens it over the element `at`, which has the keyboard again afterwards.
export function makeInPlace(set) {
  const { element: box, input, update } = makeByHand(set);
  box.classList.add("in-place");
  box.hidden = true;
  let over = null;
  const close = () => {
    box.hidden = true;
    over?.focus();
    over = null;
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" || (key === "Enter" && input.getAttribute("aria-invalid") !== "true")) close();
  });
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (!box.contains(relatedTarget) && input.getAttribute("aria-invalid") !== "true") box.hidden = true;
  });
  return {
    element: box,
    open(pass, cell, at) {
      over = at;
      update(pass, cell);
      box.hidden = false;
      Object.assign(box.style, { left: `${at.offsetLeft}px`, top: `${at.offsetTop + at.offsetHeight}px` });
      input.focus();
      input.select();
    },
    update: (pass, cell) => {
      if (!box.hidden) update(pass, cell);
    },
  };
}
