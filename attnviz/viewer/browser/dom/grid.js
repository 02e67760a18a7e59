// Keyboard access: arrow keys in a grid of cells or in rows of buttons with one tab stop, and boxes that keys scroll.

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

// `cells` is {element, size(), positionIn(event), focus(position)}; focus() returns whether a key may move there. `acts` are
// point(position or null), pick(position) and keyMoved(position); press(position, cell) and over(position, cell) while the pointer is
// pressed; toggle(position), which returns whether Space does something else there.
export function listen(cells, acts) {
  const { element: box } = cells;
  let pointed = "";
  const point = position => {
    if (String(position) === pointed) return;
    pointed = String(position);
    acts.point(position);
  };
  box.addEventListener("pointermove", event => {
    point(cells.positionIn(event));
    acts.over(cells.positionIn(event), event.target);
  });
  box.addEventListener("pointerdown", event => {
    // so that a finger can move on to other cells
    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
    if (event.button === 0) acts.press(cells.positionIn(event), event.target);
  });
  box.addEventListener("pointerleave", () => point(null));
  box.addEventListener("focusin", event => {
    if (event.target.matches(":focus-visible")) point(cells.positionIn(event));
  });
  box.addEventListener("focusout", () => point(null));
  box.addEventListener("click", event => {
    const position = cells.positionIn(event);
    if (position) acts.pick(position);
  });
  box.addEventListener("keydown", event => {
    const from = cells.positionIn(event);
    if (!from) return;
    const to = neighbour(event.key, event.ctrlKey, from, cells.size());
    const isPick = event.key === "Enter" || event.key === " ";
    if (!to && !isPick) return;
    event.preventDefault();
    event.stopPropagation(); // on the page, arrow keys lead to another step
    if (to) {
      if (String(to) !== String(from) && cells.focus(to)) acts.keyMoved(to);
    } else if (event.key === " " && acts.toggle(from)) return;
    else acts.pick(from);
  });
}

// rows() returns the current elements; keyMoved(nth) is called as a key moves to the nth of all.
export function rovingFocus(box, rows, keyMoved = _nth => {}) {
  box.addEventListener("focusin", ({ target }) => {
    const all = rows().flat();
    if (all.includes(target)) setTabStop(all, target);
  });
  box.addEventListener("keydown", event => {
    const now = rows(),
      row = now.findIndex(each => each.includes(event.target));
    if (row < 0) return;
    const column = now[row].indexOf(event.target),
      to = neighbour(event.key, event.ctrlKey, [row, column], [now.length, now[row].length]);
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const next = now[to[0]][to[1]] ?? now[to[0]].at(-1);
    next.focus();
    keyMoved(now.flat().indexOf(next));
  });
}

// Makes one element the only tab stop.
export function setTabStop(all, one) {
  for (const each of all) each.tabIndex = each === one ? 0 : -1;
}

// Makes a box a tab stop while it holds more than it shows, so that keys can scroll it.
export function makeScroller(box) {
  const follow = () => {
    const { overflowX, overflowY } = getComputedStyle(box),
      isWide = overflowX === "auto" && box.scrollWidth > box.clientWidth;
    if (isWide || (overflowY === "auto" && box.scrollHeight > box.clientHeight)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  new ResizeObserver(() => {
    follow();
    if (document.fonts.status === "loading") document.fonts.ready.then(follow); // its letters have other widths
  }).observe(box);
  return box;
}
