"""What of the viewer is in sight, as measured in the page: what is cut off, what overlaps, what has to be scrolled."""

TEXTS = [
    *(".sheet .said > *", ".sheet td", ".sheet .names button", ".step-text p", ".matrix .symbol", ".labels span"),
    *(".legend .scale", ".panel h3", ".panel .said", ".readout h4"),
]
"""What counts as far as its letters reach."""
BOXES = [
    *(
        ".step-text h2",
        ".step-text header > math",
        ".matrix .cells",
        ".bands .band",
        ".setting",
        ".questions",
        ".terms .total",
    ),
    *(".way > button", ".way .end > *", ".toolbar > button", ".whole .stage-of"),
]
"""What counts as far as its box does."""
SCROLLERS = ".sheet, .picture, .board, .step-text, .main, .panel, .reply, .whole"
"""What may hold no more than it shows."""

_MEASURED = """(root, { texts, boxes, scrollers }) => {
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
}"""
_DIGITS = """(root) => [...root.querySelectorAll(".cells td:not(.hidden):not(.flag)")]
  .map((each) => (each.textContent ? parseFloat(getComputedStyle(each).fontSize) : 0))"""


def out_of_sight(page):
    """What is not seen whole, by what is wrong with it."""
    found = page.locator(".viewer").evaluate(_MEASURED, {"texts": TEXTS, "boxes": BOXES, "scrollers": SCROLLERS})
    return {wrong: those for wrong, those in found.items() if those}


def digits_sizes(page):
    """The font sizes of all numbers in tables; 0 where there are no digits."""
    return page.locator(".viewer").evaluate(_DIGITS)


INK = """(root) => {
  const canvas = document.createElement("canvas").getContext("2d"), known = new Map(), found = [];
  const letters = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const inkOf = ({ fontStyle, fontWeight, fontSize, fontFamily }) => {
    canvas.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    if (!known.has(canvas.font)) known.set(canvas.font, canvas.measureText("0").actualBoundingBoxAscent);
    return known.get(canvas.font);
  };
  for (let text = letters.nextNode(); text; text = letters.nextNode()) {
    const own = text.parentElement, range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect(), isThere = text.data.trim() && box.width && box.height;
    const isSeen = own.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!isThere || !isSeen || own.closest(".heard, option, .cells th")) continue;
    const scale = own.offsetHeight ? own.getBoundingClientRect().height / own.offsetHeight : 1;
    found.push([100 * scale * inkOf(getComputedStyle(own)) / innerHeight, text.data.trim()]);
    const isOut = box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
    if (isOut) found.push([0, `${text.data.trim()} is out of sight`]);
  }
  return found.sort(([one], [other]) => one - other);
}"""

"""Of what is written in the viewer, the least first: its zero in per cent of the window's height, and what it says.

What is out of sight is as small as nothing.
"""
