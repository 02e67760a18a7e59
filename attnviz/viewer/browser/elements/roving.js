// Roving: of elements in rows Tab leads to one, and arrow keys from it to the others.
import { neighbour } from "./grid.js";

// `rows()` are the elements as they are now; arrive(place) is called as a key leads to one of them, by its place in all.
export function rovingFocus(box, rows, arrive = _place => {}) {
  box.addEventListener("focusin", ({ target }) => {
    const all = rows().flat();
    if (all.includes(target)) setTabStop(all, target);
  });
  box.addEventListener("keydown", event => {
    const now = rows(),
      row = now.findIndex(each => each.includes(event.target));
    if (row < 0) return;
    const to = neighbour(
      event.key,
      event.ctrlKey,
      [row, now[row].indexOf(event.target)],
      [now.length, now[row].length],
    );
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const next = now[to[0]][to[1]] ?? now[to[0]].at(-1);
    next.focus();
    arrive(now.flat().indexOf(next));
  });
}

// The element that Tab leads to.
export function setTabStop(all, one) {
  for (const each of all) each.tabIndex = each === one ? 0 : -1;
}
