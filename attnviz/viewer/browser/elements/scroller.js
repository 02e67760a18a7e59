// Scroller: a box that may hold more than it shows is a stop of the keyboard while it does, so that keys can scroll it.

export function makeScroller(box) {
  const follow = () => {
    if (isScrolled(box)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const observer = new ResizeObserver(() => {
    follow();
    if (document.fonts.status === "loading") document.fonts.ready.then(follow); // its letters have other widths
  });
  observer.observe(box);
  return box;
}

function isScrolled(box) {
  const { overflowX, overflowY } = getComputedStyle(box);
  return (
    (overflowX === "auto" && box.scrollWidth > box.clientWidth) ||
    (overflowY === "auto" && box.scrollHeight > box.clientHeight)
  );
}
