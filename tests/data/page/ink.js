(root) => {
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
    if (!isThere || !isSeen || own.closest(".sr-only, option, .cells th")) continue;
    const scale = own.offsetHeight
      ? own.getBoundingClientRect().height / own.offsetHeight
      : (own.getScreenCTM?.().a ?? 1); // of a drawing
    found.push([100 * scale * inkOf(getComputedStyle(own)) / innerHeight, text.data.trim()]);
    const isOut = box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
    if (isOut) found.push([0, `${text.data.trim()} is out of sight`]);
  }
  return found.sort(([one], [other]) => one - other);
}