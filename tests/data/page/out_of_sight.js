(root, { texts, boxes, scrollers }) => {
  const SLACK = 4;  // px: accents and roots reach a little out of their line
  const isVisible = (each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = (selector) => [...root.querySelectorAll(selector)].filter(isVisible);
  const lettersOf = (each) => {
    const letters = document.createRange();
    letters.selectNodeContents(each);
    return letters.getBoundingClientRect();
  };
  const nameOf = ({ each }) => `${each.localName}.${each.className} “${each.textContent.slice(0, 40)}”`;
  const isOver = (box, edge) => box.left < edge.left - SLACK || box.right > edge.right + SLACK
    || box.top < edge.top - SLACK || box.bottom > edge.bottom + SLACK;
  const edges = new Map([[root, [{ left: 0, top: 0, right: innerWidth, bottom: innerHeight }]]]);
  const edgesOf = (each) => {
    if (!edges.has(each)) {
      const own = getComputedStyle(each).overflow === "visible" ? [] : [each.getBoundingClientRect()];
      edges.set(each, [...own, ...edgesOf(each.parentNode)]);
    }
    return edges.get(each);
  };
  const isCut = ({ each, box }) => edgesOf(each).some((edge) => isOver(box, edge));
  const seen = [
    ...texts.flatMap(all).map((each) => ({ each, box: lettersOf(each) })),
    ...boxes.flatMap(all).map((each) => ({ each, box: each.getBoundingClientRect() })),
  ].filter(({ box }) => box.width && box.height);
  const shared = (one, other) => Math.min(
    Math.min(one.right, other.right) - Math.max(one.left, other.left),
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top),
  );
  const areOver = (one, other) => shared(one.box, other.box) > SLACK
    && !one.each.contains(other.each) && !other.each.contains(one.each);
  const fromTop = seen.toSorted((one, other) => one.box.top - other.box.top), over = [];
  for (const [place, one] of fromTop.entries()) {
    for (let at = place + 1; at < fromTop.length && fromTop[at].box.top < one.box.bottom; at += 1) {
      if (areOver(one, fromTop[at])) over.push(`${nameOf(one)} and ${nameOf(fromTop[at])}`);
    }
  }
  const holdsMore = (each) =>
    each.scrollHeight > each.clientHeight + SLACK || each.scrollWidth > each.clientWidth + SLACK;
  const page = document.querySelector('[data-testid="stMain"]') ?? document.documentElement;
  return {
    cut: seen.filter(isCut).map(nameOf),
    over,
    scrolls: [
      ...all(scrollers).filter(holdsMore).map((each) => each.className),
      ...(page.scrollHeight > page.clientHeight || page.scrollWidth > page.clientWidth ? ["the page"] : []),
    ],
  };
}