// Grids: what a pointer and the keyboard do in the cells of a matrix, however they are drawn.

// Where a key leads from a cell in a grid of that size, or null if it leads nowhere.
export function neighbour(key, ctrl, [row, column], [rows, columns]) {
  const to = new Map([
    ["ArrowUp", [row - 1, column]],
    ["ArrowDown", [row + 1, column]],
    ["ArrowLeft", [row, column - 1]],
    ["ArrowRight", [row, column + 1]],
    ["Home", ctrl ? [0, 0] : [row, 0]],
    ["End", ctrl ? [rows - 1, columns - 1] : [row, columns - 1]],
  ]).get(key);
  return to ? [Math.min(Math.max(to[0], 0), rows - 1), Math.min(Math.max(to[1], 0), columns - 1)] : null;
}

// `cells` is {element, size(), placeIn(event), focus(place)}, of which the last says whether a key may lead there; `acts` are
// point(place or null), pick(place) and arrive(place), to where a key has led; press(place, cell) and over(place, cell) where one
// presses, and comes to while one does; toggle(place) says whether Space does another thing there.
export function listen(cells, acts) {
  const { element: box } = cells;
  let pointed = "";
  const point = place => {
    if (String(place) === pointed) return;
    pointed = String(place);
    acts.point(place);
  };
  box.addEventListener("pointermove", event => {
    point(cells.placeIn(event));
    acts.over(cells.placeIn(event), event.target);
  });
  box.addEventListener("pointerdown", event => {
    // a finger goes on to other cells, too
    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
    if (event.button === 0) acts.press(cells.placeIn(event), event.target);
  });
  box.addEventListener("pointerleave", () => point(null));
  box.addEventListener("focusin", event => {
    if (event.target.matches(":focus-visible")) point(cells.placeIn(event));
  });
  box.addEventListener("focusout", () => point(null));
  box.addEventListener("click", event => on(cells.placeIn(event), acts.pick));
  box.addEventListener("keydown", event => {
    const from = cells.placeIn(event);
    if (!from) return;
    const to = neighbour(event.key, event.ctrlKey, from, cells.size());
    const isPick = event.key === "Enter" || event.key === " ";
    if (!to && !isPick) return;
    event.preventDefault();
    event.stopPropagation(); // on the page, arrow keys lead to another step
    if (to) {
      if (String(to) !== String(from) && cells.focus(to)) acts.arrive(to);
    } else if (event.key === " " && acts.toggle(from)) return;
    else acts.pick(from);
  });
}

function on(place, act) {
  if (place) act(place);
}
