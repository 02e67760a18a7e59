// Room: how large the matrices of a picture may be together, and the font that they have there.
export const APART = 18; // pixels between the matrices and what is beside them
const NARROW = 820; // pixels, as in the styles: a page that is not wider grows downwards
const SMALL = 1200; // pixels: in one that is not wider, matrices may be scrolled
const SCROLLBAR = 16;

// Returns a function that gives the room on a step, and has it drawn where a size that it depends on becomes another. On a
// step seen before, with as many entries in the legend, it is what it was: asking costs a layout.
export function watchRoom(box, bars, legend, draw) {
  let known = {},
    last = "";
  const observer = new ResizeObserver(() => {
    if (box.hidden) return;
    const room = roomIn(box, bars, legend);
    if (JSON.stringify(room) === JSON.stringify(known[last])) return;
    known = { [last]: room };
    draw();
  });
  for (const each of [box, bars, legend]) observer.observe(each);
  return step => {
    last = JSON.stringify(step);
    known[last] ??= roomIn(box, bars, legend);
    return known[last];
  };
}

// The room that is left in a picture's box by its bars, which are beside the matrices, and its legend, which is below.
function roomIn(box, bars, legend) {
  const { fontFamily, fontSize } = getComputedStyle(box);
  const isPaper = Boolean(box.closest(".printed")),
    isNarrow = !isPaper && globalThis.innerWidth <= NARROW;
  const beside = isNarrow || bars.hidden ? 0 : bars.offsetWidth + APART;
  return {
    isPaper,
    isNarrow,
    isSmall: !isNarrow && globalThis.innerWidth <= SMALL,
    family: fontFamily,
    base: Number.parseFloat(fontSize),
    top: box.offsetTop,
    least: Number.parseFloat(getComputedStyle(document.documentElement).fontSize), // in a talk (scene/present.js)
    width: box.clientWidth - beside - 4,
    height: heightIn(box, legend, isNarrow),
  };
}

// A room that is so many times as high, of which a part is seen.
export function scrolled(room, times) {
  return { ...room, width: room.width - SCROLLBAR, height: times * room.height, isScrolled: true };
}

// Where the page is narrow it grows downwards, and only its width is given.
function heightIn(box, legend, isNarrow) {
  if (isNarrow) return 1.1 * box.clientWidth;
  return box.clientHeight - 8 - (legend.classList.contains("in-corner") ? 0 : legend.offsetHeight);
}
