// The corner over the left matrix of a product, beside the one above: nothing stands there, so that the legend finds room in
// it, or the panel of a presenter, whose picture has the whole width.
import { APART } from "./room.js";

export function hasCorner([first]) {
  return first !== undefined && first.grid.length > 1 && first.grid[0][0] === null;
}

// Has the styles know how large it is. `height` is that of the left matrix, which stands at `place` (see fit.js).
export function giveCorner(around, top, { x, y, labels }, height) {
  const width = x - labels[0] - 4 * APART;
  const corner = { "--corner-top": top, "--corner-width": width, "--corner-height": y + height };
  for (const [name, size] of Object.entries(corner)) setOnce(around.style, name, `${size}px`);
}

// All that is inside is styled anew for a property that is set, be it to what it was.
function setOnce(style, name, value) {
  if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
}

// Leaves out of the terms of a talk, in the corner or beside it, the last that have no room, or while they come one by one
// the first: nobody scrolls. Where not even one has room, none is there.
export function foldTerms(around) {
  const terms = around.querySelector(".panel .terms");
  if (!terms) return;
  terms.hidden = false;
  const lines = [...terms.querySelectorAll("tbody > *")],
    isCut = () => terms.scrollHeight > terms.clientHeight + 1;
  if (!terms.querySelector(".latest")) lines.reverse();
  for (const line of lines) line.hidden = false;
  terms.classList.toggle("folded", isCut());
  for (const line of lines.slice(0, -1)) line.hidden = isCut();
  terms.hidden = isCut() || terms.scrollWidth > terms.clientWidth + 1;
}
